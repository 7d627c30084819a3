//! Worktrees are made once, and made whole again from every half.

use std::fs;

use workbench::git::{Found, GitError};

use crate::fixture::{Bench, branch, folder};

async fn ensure(bench: &Bench) -> Result<workbench::git::EnsuredWorktree, GitError> {
    bench.repository.ensure_worktree(&branch("task/7/ä-\"b\""), &folder("task-7"), &branch("main")).await
}

#[tokio::test]
async fn a_worktree_is_made_once() {
    let bench = Bench::new();
    let first = ensure(&bench).await.unwrap();
    assert_eq!((first.branch, first.worktree), (Found::Nothing, Found::Nothing));
    assert_eq!(bench.git(&first.path, &["branch", "--show-current"]), "task/7/ä-\"b\"");
    assert_eq!(first.head, bench.at(&bench.base(), "main"));
    bench.write(&first.path, "draft.txt", "uncommitted");
    let second = ensure(&bench).await.unwrap();
    assert_eq!((second.branch, second.worktree, second.set_aside), (Found::Whole, Found::Whole, None));
    assert_eq!(bench.read(&first.path, "draft.txt"), "uncommitted");
}

#[tokio::test]
async fn a_branch_that_was_made_before_the_crash_is_kept() {
    let bench = Bench::new();
    bench.git(&bench.base(), &["branch", "task/7/ä-\"b\""]);
    let ensured = ensure(&bench).await.unwrap();
    assert_eq!((ensured.branch, ensured.worktree), (Found::Whole, Found::Nothing));
}

#[tokio::test]
async fn a_registration_without_a_folder_is_repaired() {
    let bench = Bench::new();
    let made = ensure(&bench).await.unwrap();
    bench.write(&made.path, "kept.txt", "committed");
    let head = bench.commit(&made.path, "work");
    fs::remove_dir_all(&made.path).unwrap();
    let again = ensure(&bench).await.unwrap();
    assert_eq!((again.worktree, &again.head), (Found::Half, &head));
    assert_eq!(bench.read(&made.path, "kept.txt"), "committed");
    assert!(bench.is_clean(&made.path));
}

#[tokio::test]
async fn a_folder_without_a_registration_is_moved_away_whole() {
    let bench = Bench::new();
    let place = bench.tree("task-7");
    bench.write(&place, "precious.txt", "not in git");
    let made = ensure(&bench).await.unwrap();
    let aside = made.set_aside.unwrap();
    assert_eq!(bench.read(&aside, "precious.txt"), "not in git");
    assert_eq!(bench.read(&place, "shared.txt"), "one\ntwo\nthree\n");
    assert_eq!(ensure(&bench).await.unwrap().worktree, Found::Whole);
}

#[tokio::test]
async fn an_empty_folder_is_simply_used() {
    let bench = Bench::new();
    fs::create_dir_all(bench.tree("task-7")).unwrap();
    assert_eq!(ensure(&bench).await.unwrap().set_aside, None);
}

#[tokio::test]
async fn a_broken_link_is_mended_and_uncommitted_work_stays() {
    let bench = Bench::new();
    let made = ensure(&bench).await.unwrap();
    bench.write(&made.path, "draft.txt", "uncommitted");
    for broken in [None, Some("gitdir: /no/such/place\n")] {
        fs::remove_file(made.path.join(".git")).unwrap();
        if let Some(link) = broken {
            fs::write(made.path.join(".git"), link).unwrap();
        }
        assert_eq!(ensure(&bench).await.unwrap().worktree, Found::Half);
        assert_eq!(bench.git(&made.path, &["status", "--porcelain"]), "?? draft.txt");
    }
}

#[tokio::test]
async fn nothing_is_done_in_a_folder_whose_link_is_broken() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    fs::remove_file(epic.join(".git")).unwrap();
    let place = folder("epic-1");
    assert!(matches!(bench.repository.commit_all(&place, "m").await, Err(GitError::NoSuchWorktree(_))));
    assert!(matches!(bench.repository.rebase(&place, &branch("main")).await, Err(GitError::NoSuchWorktree(_))));
    assert!(matches!(bench.try_merge("1").await, Err(GitError::NoSuchWorktree(_))));
    bench.epic().await;
    bench.merge("1").await;
    assert_eq!(bench.read(&epic, "a.txt"), "a");
}

#[tokio::test]
async fn a_worktree_whose_making_was_cut_short_is_made_again() {
    let bench = Bench::new();
    let made = ensure(&bench).await.unwrap();
    let state = bench.base().join(".git/worktrees/task-7");
    for with_link in [true, false] {
        // As git leaves it when it is killed while it writes files.
        fs::write(state.join("locked"), "initializing").unwrap();
        fs::remove_file(state.join("index")).unwrap();
        fs::write(state.join("index.lock"), "").unwrap();
        fs::remove_file(made.path.join("shared.txt")).unwrap();
        if !with_link {
            fs::remove_file(made.path.join(".git")).unwrap();
        }
        assert_eq!(ensure(&bench).await.unwrap().worktree, Found::Half);
        assert!(bench.is_clean(&made.path));
        assert!(made.path.join("shared.txt").exists());
    }
}

#[tokio::test]
async fn a_worktree_on_another_branch_is_left_alone() {
    let bench = Bench::new();
    let made = ensure(&bench).await.unwrap();
    bench.git(&made.path, &["switch", "--quiet", "-c", "elsewhere"]);
    let error = ensure(&bench).await.unwrap_err();
    assert!(matches!(&error, GitError::OtherBranch { found: Some(it), .. } if it == "elsewhere"), "{error}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_branch_is_checked_out_only_once() {
    let bench = Bench::new();
    let error = bench.repository.ensure_worktree(&branch("main"), &folder("epic-1"), &branch("main")).await;
    assert!(matches!(error, Err(GitError::CheckedOutElsewhere { .. })), "{error:?}");
    let error = bench.repository.ensure_worktree(&branch("new"), &folder("epic-1"), &branch("nowhere")).await;
    assert!(matches!(error, Err(GitError::NoSuchBranch(_))), "{error:?}");
}

#[tokio::test]
async fn worktrees_of_a_bare_repository_are_made_as_well() {
    let bench = Bench::new();
    let bare = bench.folder.path().join("bare.git");
    bench.git(&bench.base(), &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let trees = bench.folder.path().join("trees");
    let repository = workbench::git::Repository::new(&bare, &trees, crate::fixture::identity());
    let made = repository.ensure_worktree(&branch("epic/1/e"), &folder("epic-1"), &branch("main")).await.unwrap();
    assert_eq!(bench.read(&made.path, "shared.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn the_same_worktree_asked_for_at_once_is_made_once() {
    let bench = Bench::new();
    let mut asked = tokio::task::JoinSet::new();
    for turn in 0..12 {
        // Half of them through a repository of their own, as two parts of a program would.
        let repository = match turn % 2 {
            0 => bench.repository.clone(),
            _ => workbench::git::Repository::new(
                bench.base(),
                bench.folder.path().join("work trees"),
                crate::fixture::identity(),
            ),
        };
        asked.spawn(async move {
            let place = folder(&format!("task-{}", turn % 3));
            repository.ensure_worktree(&branch(&format!("task/{}/t", turn % 3)), &place, &branch("main")).await
        });
    }
    let made: Vec<Found> = asked.join_all().await.into_iter().map(|it| it.unwrap().worktree).collect();
    assert_eq!(made.iter().filter(|it| **it == Found::Nothing).count(), 3);
    assert_eq!(made.iter().filter(|it| **it == Found::Whole).count(), 9);
}
