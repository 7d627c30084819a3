//! A rebase puts a branch on top of another, or leaves everything as it was.

use std::fs;
use std::time::Duration;

use workbench::git::{Found, GitError, Limits, RebaseOutcome};

use crate::fixture::{Bench, branch, folder};

async fn rebase(bench: &Bench, id: &str) -> Result<RebaseOutcome, GitError> {
    bench.repository.rebase(&folder(&format!("task-{id}")), &branch("epic/1/e")).await
}

/// Two tasks; the first is merged, the second has yet to follow.
async fn one_behind(first: (&str, &str), second: (&str, &str)) -> (Bench, std::path::PathBuf) {
    let bench = Bench::new();
    bench.epic().await;
    bench.task("1", first.0, first.1).await;
    let place = bench.task("2", second.0, second.1).await;
    bench.merge("1").await;
    (bench, place)
}

#[tokio::test]
async fn a_branch_is_put_on_top_and_keeps_its_author() {
    let (bench, place) = one_behind(("a.txt", "a"), ("b.txt", "b")).await;
    let RebaseOutcome::Done { head } = rebase(&bench, "2").await.unwrap() else { panic!("a conflict") };
    assert_eq!(bench.at(&place, "task/2/t"), head);
    assert_eq!(bench.at(&place, "HEAD~1"), bench.at(&place, "epic/1/e"));
    assert_eq!(bench.git(&place, &["log", "-1", "--format=%an/%cn"]), "Agent/Muster \"the\" Bench");
    assert_eq!((bench.read(&place, "a.txt"), bench.read(&place, "b.txt")), ("a".to_owned(), "b".to_owned()));
    assert_eq!(rebase(&bench, "2").await.unwrap(), RebaseOutcome::Done { head }, "a second time does nothing");
}

#[tokio::test]
async fn a_conflict_leaves_the_branch_exactly_as_it_was() {
    let (bench, place) = one_behind(("shared.txt", "1\n"), ("shared.txt", "2\n")).await;
    let before = bench.at(&place, "HEAD");
    bench.write(&place, "untracked.txt", "mine");
    let conflict = RebaseOutcome::Conflict { files: vec!["shared.txt".to_owned()] };
    for _ in 0..2 {
        assert_eq!(rebase(&bench, "2").await.unwrap(), conflict);
        assert_eq!(bench.at(&place, "task/2/t"), before);
        assert_eq!(bench.git(&place, &["branch", "--show-current"]), "task/2/t");
        assert_eq!(bench.git(&place, &["status", "--porcelain"]), "?? untracked.txt");
        assert_eq!(bench.read(&place, "shared.txt"), "2\n");
    }
}

#[tokio::test]
async fn a_rebase_that_was_cut_short_is_aborted_first() {
    let (bench, place) = one_behind(("shared.txt", "1\n"), ("shared.txt", "2\n")).await;
    let before = bench.at(&place, "HEAD");
    assert!(!bench.try_git(&place, &["rebase", "epic/1/e"]).status.success());
    assert_eq!(bench.git(&place, &["branch", "--show-current"]), "", "in the middle of it");
    let ensured = bench.repository.ensure_worktree(&branch("task/2/t"), &folder("task-2"), &branch("main")).await;
    assert_eq!(ensured.unwrap().head, before, "a rebase under way is not another branch");
    assert!(matches!(rebase(&bench, "2").await.unwrap(), RebaseOutcome::Conflict { .. }));
    assert_eq!(bench.at(&place, "task/2/t"), before);
    assert!(bench.is_clean(&place));
}

#[tokio::test]
async fn a_rebase_that_was_killed_between_a_file_and_the_index_is_aborted_too() {
    let (bench, place) = one_behind(("shared.txt", "1\n"), ("shared.txt", "2\n")).await;
    bench.write(&place, "other.txt", "of the task");
    let before = bench.commit(&place, "more");
    assert!(!bench.try_git(&place, &["rebase", "epic/1/e"]).status.success());
    // The next commit's file lies there, and the index knows nothing of it.
    bench.write(&place, "other.txt", "of the t");
    assert!(!bench.try_git(&place, &["rebase", "--abort"]).status.success(), "git itself gives up");
    assert!(matches!(rebase(&bench, "2").await.unwrap(), RebaseOutcome::Conflict { .. }));
    assert_eq!((bench.at(&place, "task/2/t"), bench.read(&place, "other.txt")), (before, "of the task".to_owned()));
    assert!(bench.is_clean(&place));
}

#[tokio::test]
async fn a_rebase_of_ours_that_was_cut_short_leaves_no_trace_in_a_worktree_that_is_seen_to() {
    let (bench, place) = one_behind(("a.txt", "a"), ("b.txt", "b")).await;
    let before = bench.at(&place, "HEAD");
    bench.write(&place, "untracked.txt", "mine");
    // As ours, and killed when its commit is where it belongs.
    let cut = ["rebase", "--quiet", "--exec", "kill -KILL $PPID", "epic/1/e"];
    let ours = bench.git_command(&place, &cut).env("GIT_REFLOG_ACTION", "muster rebase").output().unwrap();
    assert!(!ours.status.success());
    assert_eq!(bench.git(&place, &["branch", "--show-current"]), "", "in the middle of it");
    let ensure = async || {
        let (task, place, epic) = (branch("task/2/t"), folder("task-2"), branch("epic/1/e"));
        bench.repository.ensure_worktree(&task, &place, &epic).await.unwrap()
    };
    let ensured = ensure().await;
    assert_eq!((ensured.worktree, ensured.head), (Found::Half, before));
    assert_eq!(bench.git(&place, &["status", "--porcelain", "--branch"]), "## task/2/t\n?? untracked.txt");
    assert_eq!(ensure().await.worktree, Found::Whole);
    // An agent's own is its own affair.
    assert!(!bench.try_git(&place, &cut).status.success());
    assert_eq!(ensure().await.worktree, Found::Whole);
    assert_eq!(bench.git(&place, &["branch", "--show-current"]), "", "still in the middle of it");
}

#[tokio::test]
async fn the_notes_of_a_rebase_that_never_began_are_no_obstacle() {
    let (bench, place) = one_behind(("a.txt", "a"), ("b.txt", "b")).await;
    fs::create_dir(bench.base().join(".git/worktrees/task-2/rebase-merge")).unwrap();
    assert!(matches!(rebase(&bench, "2").await.unwrap(), RebaseOutcome::Done { .. }));
    assert!(bench.is_clean(&place));
}

#[tokio::test]
async fn after_a_rebase_that_was_cut_short_is_aborted_work_is_committed_again() {
    let (bench, place) = one_behind(("a.txt", "a"), ("b.txt", "b")).await;
    let before = bench.at(&place, "HEAD");
    assert!(!bench.try_git(&place, &["rebase", "--exec", "false", "epic/1/e"]).status.success());
    let refused = bench.repository.commit_all(&folder("task-2"), "more").await;
    assert!(matches!(refused, Err(GitError::Unfinished { what: "rebase", .. })), "{refused:?}");
    assert!(bench.repository.abort_cut_short_rebase(&folder("task-2")).await.unwrap());
    assert!(!bench.repository.abort_cut_short_rebase(&folder("task-2")).await.unwrap(), "there is none any more");
    assert_eq!((bench.at(&place, "task/2/t"), bench.is_clean(&place)), (before, true));
    bench.write(&place, "c.txt", "c");
    assert!(bench.repository.commit_all(&folder("task-2"), "more").await.unwrap().is_some());
}

#[tokio::test]
async fn a_rebase_that_takes_too_long_leaves_the_branch_exactly_as_it_was() {
    let (bench, place) = one_behind(("shared.txt", "1\n"), ("shared.txt", "2\n")).await;
    let before = bench.at(&place, "HEAD");
    // Joining the two takes a program of the repository's own, which never ends.
    bench.git(&bench.base(), &["config", "merge.slow.driver", "sleep 1000"]);
    fs::write(bench.base().join(".git/info/attributes"), "shared.txt merge=slow\n").unwrap();
    let limits = Limits { timeout: Duration::from_secs(3), ..Limits::default() };
    let hurried = bench.repository.clone().with_limits(limits);
    let error = hurried.rebase(&folder("task-2"), &branch("epic/1/e")).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert_eq!((bench.at(&place, "task/2/t"), bench.read(&place, "shared.txt")), (before, "2\n".to_owned()));
    // The program was killed over files of its own, which are not ours to remove.
    assert_eq!(bench.git(&place, &["status", "--porcelain", "--untracked-files=no"]), "");
    assert_eq!(bench.git(&place, &["branch", "--show-current"]), "task/2/t");
}

#[tokio::test]
async fn uncommitted_work_is_committed_first_or_the_rebase_is_refused() {
    let (bench, place) = one_behind(("a.txt", "a"), ("b.txt", "b")).await;
    bench.write(&place, "shared.txt", "draft");
    let error = rebase(&bench, "2").await.unwrap_err();
    assert!(matches!(&error, GitError::Uncommitted { files, .. } if files == &["shared.txt"]), "{error}");
    bench.repository.commit_all(&folder("task-2"), "draft").await.unwrap().unwrap();
    assert!(matches!(rebase(&bench, "2").await.unwrap(), RebaseOutcome::Done { .. }));
    assert_eq!(bench.read(&place, "shared.txt"), "draft");
}

#[tokio::test]
async fn a_new_file_in_the_way_is_kept() {
    let (bench, place) = one_behind(("a.txt", "theirs"), ("b.txt", "b")).await;
    let before = bench.at(&place, "HEAD");
    bench.write(&place, "a.txt", "mine");
    let error = rebase(&bench, "2").await.unwrap_err();
    assert!(matches!(&error, GitError::Uncommitted { files, .. } if files == &["a.txt"]), "{error}");
    assert_eq!((bench.read(&place, "a.txt"), bench.at(&place, "task/2/t")), ("mine".to_owned(), before));
}

#[tokio::test]
async fn there_must_be_a_worktree_and_a_branch() {
    let bench = Bench::new();
    bench.epic().await;
    assert!(matches!(rebase(&bench, "9").await, Err(GitError::NoSuchWorktree(_))));
    let error = bench.repository.rebase(&folder("epic-1"), &branch("nowhere")).await;
    assert!(matches!(error, Err(GitError::NoSuchBranch(_))), "{error:?}");
}
