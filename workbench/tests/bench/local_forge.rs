//! Pull requests without a forge: addresses of ours, merges that are real.

use workbench::forge::{Forge, ForgeError, Local, Pull, PullState};
use workbench::git::{Branch, How, Merge, MergeOutcome};

use crate::fixture::{Bench, branch, trailer};

fn pull<'a>(id: &'a str, from: &'a Branch, into: &'a Branch) -> Pull<'a> {
    Pull { id, from, into, title: "Title", description: "Words" }
}

#[tokio::test]
async fn a_local_pull_request_is_opened_merged_and_found_merged() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    let (forge, from, into, trailer) = (Forge::Local(Local), branch("task/1/t"), branch("epic/1/e"), trailer("1"));
    let opened = forge.open(&bench.repository, &pull("1", &from, &into)).await.unwrap();
    assert_eq!(opened.url, "muster://pull/1");
    assert_eq!(forge.open(&bench.repository, &pull("1", &from, &into)).await.unwrap(), opened);
    forge.update(&opened.url, "Other", "words").await.unwrap();
    let status = async || forge.status(&bench.repository, &opened.url, &into, &trailer).await.unwrap();
    assert_eq!(status().await.state, PullState::Open);
    let merge = Merge { from: &from, at: None, into: &into, message: "m", trailer: &trailer, onto: None };
    let first = forge.merge(&bench.repository, &opened.url, &merge).await.unwrap();
    let MergeOutcome::Merged { commit, how: How::Made, .. } = first else { panic!("{first:?}") };
    let again = forge.merge(&bench.repository, &opened.url, &merge).await.unwrap();
    assert!(matches!(again, MergeOutcome::Merged { how: How::FoundByTrailer, .. }));
    let now = status().await;
    assert_eq!((now.state, now.merge_commit), (PullState::Merged, Some(commit)));
    assert_eq!(bench.read(&epic, "a.txt"), "a");
}

#[tokio::test]
async fn addresses_and_ids_of_others_are_refused() {
    let bench = Bench::new();
    let (forge, main) = (Forge::Local(Local), branch("main"));
    for id in ["", "a/b", "a b", "../1", "ä"] {
        let opened = forge.open(&bench.repository, &pull(id, &main, &main)).await;
        assert!(matches!(opened, Err(ForgeError::BadId(_))), "{opened:?}");
    }
    let gone = branch("gone");
    assert!(matches!(forge.open(&bench.repository, &pull("1", &gone, &main)).await, Err(ForgeError::Git(_))));
    let other = forge.update("https://github.com/a/b/pull/1", "t", "d").await;
    assert!(matches!(other, Err(ForgeError::NotOurs(_))), "{other:?}");
}
