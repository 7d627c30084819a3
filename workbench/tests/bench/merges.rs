//! A merge is made once, with a commit of its own, and the files follow.

use workbench::git::{CommitId, GitError, How, Merge, MergeOutcome, Mergeability};

use crate::fixture::{Bench, branch, identity, trailer};

fn merged(outcome: MergeOutcome) -> (CommitId, How) {
    match outcome {
        MergeOutcome::Merged { commit, how, set_aside } => {
            assert_eq!(set_aside, vec![]);
            (commit, how)
        }
        MergeOutcome::Conflict { files } => panic!("a conflict in {files:?}"),
    }
}

#[tokio::test]
async fn a_repeated_merge_finds_the_first() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a \"file\".txt", "a").await;
    bench.task("2", "-b.txt", "b").await;
    let (first, how) = merged(bench.merge("1").await);
    assert_eq!(how, How::Made);
    let (second, _) = merged(bench.merge("2").await);
    assert_eq!(merged(bench.merge("1").await), (first.clone(), How::FoundByTrailer));
    assert_eq!(merged(bench.merge("2").await), (second.clone(), How::FoundByTrailer));
    assert_eq!(bench.at(&epic, "HEAD"), second);
    assert_eq!((bench.read(&epic, "a \"file\".txt"), bench.read(&epic, "-b.txt")), ("a".to_owned(), "b".to_owned()));
    assert!(bench.is_clean(&epic));
    let said = bench.git(&epic, &["show", "--no-patch", "--format=%an <%ae>%n%B", first.as_str()]);
    let who = identity();
    assert_eq!(
        said,
        format!("{} <{}>\n-Merge of 1\n\nMuster-Task: somebody-else\n\nMuster-Task: 1", who.name, who.email)
    );
    assert!(bench.repository.contains(&branch("epic/1/e"), &bench.at(&epic, "task/1/t")).await.unwrap());
    assert!(!bench.repository.contains(&branch("main"), &first).await.unwrap());
    let unknown = CommitId::new(&"0".repeat(40)).unwrap();
    assert!(!bench.repository.contains(&branch("main"), &unknown).await.unwrap());
}

#[tokio::test]
async fn a_branch_that_nobody_has_checked_out_is_merged_into_as_well() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.git(&epic, &["switch", "--quiet", "--detach"]);
    let (commit, _) = merged(bench.merge("1").await);
    assert_eq!(bench.repository.head(&branch("epic/1/e")).await.unwrap(), commit);
    assert!(!epic.join("a.txt").exists(), "whoever has a bare commit checked out keeps it");
}

#[tokio::test]
async fn the_base_itself_may_have_the_branch() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.write(&epic, "deep/er/e.txt", "e");
    let reviewed = bench.commit(&epic, "epic work");
    bench.write(&epic, "late.txt", "not reviewed");
    bench.commit(&epic, "late");
    let (from, into, trailer) = (branch("epic/1/e"), branch("main"), trailer("e"));
    let merge = Merge { from: &from, at: Some(&reviewed), into: &into, message: "m", trailer: &trailer, onto: None };
    let (commit, _) = merged(bench.repository.merge(&merge).await.unwrap());
    assert_eq!(bench.read(&bench.base(), "deep/er/e.txt"), "e");
    assert!(!bench.base().join("late.txt").exists(), "only what was reviewed is merged");
    assert!(bench.is_clean(&bench.base()));
    assert_eq!(merged(bench.repository.merge(&merge).await.unwrap()), (commit.clone(), How::FoundByTrailer));
    assert_eq!(bench.repository.find_merge(&into, &trailer).await.unwrap(), Some(commit));
}

#[tokio::test]
async fn what_somebody_merged_by_hand_is_found() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.git(&epic, &["merge", "--quiet", "--no-ff", "-m", "by hand", "task/1/t"]);
    let by_hand = bench.at(&epic, "HEAD");
    bench.write(&epic, "after.txt", "x");
    bench.commit(&epic, "after");
    assert_eq!(merged(bench.merge("1").await), (by_hand, How::FoundByHistory));
}

#[tokio::test]
async fn a_branch_without_work_adds_nothing() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.worktree("task/1/t", "task-1", "epic/1/e").await;
    assert_eq!(merged(bench.merge("1").await), (bench.at(&epic, "HEAD"), How::NothingNew));
}

#[tokio::test]
async fn a_conflict_is_told_and_changes_nothing() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "shared.txt", "1\n").await;
    bench.task("2", "shared.txt", "2\n").await;
    merged(bench.merge("1").await);
    let before = bench.at(&epic, "HEAD");
    let files = vec!["shared.txt".to_owned()];
    let trial = bench.repository.can_merge(&branch("task/2/t"), &branch("epic/1/e")).await.unwrap();
    assert_eq!(trial, Mergeability::Conflict { files: files.clone() });
    assert_eq!(bench.merge("2").await, MergeOutcome::Conflict { files });
    assert_eq!(bench.at(&epic, "HEAD"), before);
    assert!(bench.is_clean(&epic));
    let trial = bench.repository.can_merge(&branch("main"), &branch("epic/1/e")).await.unwrap();
    assert_eq!(trial, Mergeability::Clean);
}

#[tokio::test]
async fn uncommitted_work_stops_a_merge_only_where_it_is_in_the_way() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.write(&epic, "shared.txt", "half a thought");
    bench.write(&epic, "a.txt", "mine");
    let error = bench.try_merge("1").await.unwrap_err();
    assert!(matches!(&error, GitError::Uncommitted { files, .. } if files == &["a.txt"]), "{error}");
    assert_eq!(bench.at(&epic, "HEAD"), bench.at(&epic, "main"), "nothing was changed");
    assert_eq!(bench.read(&epic, "a.txt"), "mine");
    std::fs::remove_file(epic.join("a.txt")).unwrap();
    merged(bench.merge("1").await);
    assert_eq!(bench.read(&epic, "shared.txt"), "half a thought");
    assert_eq!(bench.git(&epic, &["status", "--porcelain"]), " M shared.txt");
}

#[tokio::test]
async fn a_merge_goes_upon_what_was_looked_at_and_upon_nothing_else() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.task("2", "b.txt", "b").await;
    let (from, into, trailer) = (branch("task/2/t"), branch("epic/1/e"), trailer("2"));
    let looked_at = bench.at(&epic, "HEAD");
    let (first, _) = merged(bench.merge("1").await);
    let merge = Merge { from: &from, at: None, into: &into, message: "m", trailer: &trailer, onto: None };
    let error = bench.repository.merge(&Merge { onto: Some(&looked_at), ..merge }).await.unwrap_err();
    assert!(matches!(error, GitError::Moved(_)) && error.is_transient(), "{error}");
    assert_eq!(bench.at(&epic, "HEAD"), first);
    let (second, how) = merged(bench.repository.merge(&Merge { onto: Some(&first), ..merge }).await.unwrap());
    assert_eq!((&bench.at(&epic, "HEAD^1"), how), (&first, How::Made));
    // Done again, it finds what it did.
    let again = bench.repository.merge(&Merge { onto: Some(&second), ..merge }).await.unwrap();
    assert_eq!(merged(again), (second, How::FoundByTrailer));
}

#[tokio::test]
async fn a_merge_says_what_it_was_for() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    let (merge, _) = merged(bench.merge("1").await);
    let repository = &bench.repository;
    assert_eq!(repository.merged_for(&merge, "Muster-Task").await.unwrap().as_deref(), Some("1"));
    assert_eq!(repository.merged_for(&merge, "Muster-Epic").await.unwrap(), None);
    let forged = bench.git(&epic, &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "No merge\n\nMuster-Task: 1"]);
    let forged = CommitId::new(&forged).unwrap();
    assert_eq!(repository.merged_for(&forged, "Muster-Task").await.unwrap(), None);
}

#[tokio::test]
async fn a_merge_is_undone_only_while_it_is_the_tip() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.task("2", "b.txt", "b").await;
    let into = branch("epic/1/e");
    let (first, _) = merged(bench.merge("1").await);
    let (second, _) = merged(bench.merge("2").await);
    let error = bench.repository.undo_merge(&into, &first).await.unwrap_err();
    assert!(matches!(&error, GitError::NotTheTip { tip, .. } if *tip == second), "{error}");
    let undone = bench.repository.undo_merge(&into, &second).await.unwrap();
    assert_eq!((undone.head, undone.already), (first.clone(), false));
    assert!(!epic.join("b.txt").exists());
    assert!(bench.is_clean(&epic));
    assert!(bench.repository.undo_merge(&into, &second).await.unwrap().already);
    let plain = bench.at(&epic, "main");
    assert!(matches!(bench.repository.undo_merge(&into, &plain).await, Err(GitError::NotAMerge(_))));
    assert_eq!(merged(bench.merge("2").await).1, How::Made, "what was undone can be merged again");
}

#[tokio::test]
async fn merges_at_once_all_land() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    for id in 0..8 {
        bench.task(&id.to_string(), &format!("{id}.txt"), "x").await;
    }
    let all = (0..16).map(async |turn| merged(bench.merge(&(turn % 8).to_string()).await).1);
    let mut made = 0;
    for outcome in join_all(all).await {
        made += usize::from(outcome == How::Made);
    }
    assert_eq!(made, 8);
    assert_eq!(bench.git(&epic, &["rev-list", "--count", "--merges", "HEAD"]), "8");
    assert!((0..8).all(|id| epic.join(format!("{id}.txt")).exists()));
    assert!(bench.is_clean(&epic));
}

/// Polls them all together.
async fn join_all<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = all.map(|it| (Box::pin(it), None)).collect();
    std::future::poll_fn(|context| {
        let mut done = true;
        for (future, output) in &mut waiting {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(it) => *output = Some(it),
                    std::task::Poll::Pending => done = false,
                }
            }
        }
        if done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, output)| output).collect()
}
