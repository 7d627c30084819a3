//! A merge that a crash cut short is finished by the next call, whatever was half done.

use std::path::Path;

use workbench::git::{CommitId, How, MergeOutcome, SetAside};

use crate::fixture::{Bench, branch};

/// The branch has moved, as the driver moves it, and the files have not.
fn cut_after_the_branch_moved(bench: &Bench, epic: &Path, id: &str) -> CommitId {
    let ours = bench.at(epic, "HEAD");
    let task = format!("task/{id}/t");
    let tree = bench.git(epic, &["merge-tree", "--write-tree", "HEAD", &task]);
    let message = format!("m\n\nMuster-Task: {id}");
    let commit = bench.git(epic, &["commit-tree", &tree, "-p", "HEAD", "-p", &task, "-m", &message]);
    bench.git(epic, &["update-ref", "-m", "muster: merge", "refs/heads/epic/1/e", &commit, ours.as_str()]);
    CommitId::new(&commit).unwrap()
}

fn aside(outcome: MergeOutcome) -> (CommitId, How, Vec<SetAside>) {
    match outcome {
        MergeOutcome::Merged { commit, how, set_aside } => (commit, how, set_aside),
        MergeOutcome::Conflict { files } => panic!("a conflict in {files:?}"),
    }
}

pub(crate) async fn epic_with_task(bench: &Bench) -> std::path::PathBuf {
    let epic = bench.epic().await;
    bench.write(&epic, "gone.txt", "to be deleted");
    bench.commit(&epic, "something to delete");
    let task = bench.worktree("task/1/t", "task-1", "epic/1/e").await;
    bench.git(&task, &["rm", "--quiet", "gone.txt"]);
    bench.write(&task, "new/ü.txt", "new");
    bench.write(&task, "shared.txt", "changed\n");
    bench.commit(&task, "work");
    epic
}

pub(crate) fn is_merged(bench: &Bench, epic: &Path) {
    assert!(bench.is_clean(epic), "{}", bench.git(epic, &["status", "--porcelain"]));
    assert_eq!(bench.read(epic, "new/ü.txt"), "new");
    assert_eq!(bench.read(epic, "shared.txt"), "changed\n");
    assert!(!epic.join("gone.txt").exists());
}

#[tokio::test]
async fn before_any_file_was_written() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    let commit = cut_after_the_branch_moved(&bench, &epic, "1");
    assert_eq!(aside(bench.merge("1").await), (commit, How::FoundByTrailer, vec![]));
    is_merged(&bench, &epic);
}

#[tokio::test]
async fn with_some_files_written_and_one_by_half() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    let commit = cut_after_the_branch_moved(&bench, &epic, "1");
    bench.write(&epic, "new/ü.txt", "new");
    bench.write(&epic, "shared.txt", "chan");
    std::fs::remove_file(epic.join("gone.txt")).unwrap();
    let (found, how, aside) = aside(bench.merge("1").await);
    assert_eq!((found, how), (commit, How::FoundByTrailer));
    is_merged(&bench, &epic);
    assert_eq!(aside.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["shared.txt"]);
    assert_eq!(bench.git(&epic, &["cat-file", "blob", &aside[0].blob]), "chan", "and nothing was lost");
}

#[tokio::test]
async fn the_next_merge_finishes_it_too() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    bench.task("2", "b.txt", "b").await;
    cut_after_the_branch_moved(&bench, &epic, "1");
    assert_eq!(aside(bench.merge("2").await).1, How::Made);
    is_merged(&bench, &epic);
    assert_eq!(bench.read(&epic, "b.txt"), "b");
}

#[tokio::test]
async fn an_undo_is_finished_as_well() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    let (commit, ..) = aside(bench.merge("1").await);
    bench.git(&epic, &["update-ref", "-m", "muster: undo a merge", "refs/heads/epic/1/e", &format!("{commit}^1")]);
    assert!(bench.repository.undo_merge(&branch("epic/1/e"), &commit).await.unwrap().already);
    assert!(bench.is_clean(&epic));
    assert_eq!(bench.read(&epic, "gone.txt"), "to be deleted");
}

#[tokio::test]
async fn a_merge_that_git_was_making_is_aborted_and_done_again() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    bench.git(&epic, &["merge", "--quiet", "--no-ff", "--no-commit", "task/1/t"]);
    bench.write(&epic, "shared.txt", "typed into the merge\n");
    let (commit, how, aside) = aside(bench.merge("1").await);
    assert_eq!((commit, how), (bench.at(&epic, "HEAD"), How::Made));
    is_merged(&bench, &epic);
    let typed = aside.iter().find(|it| it.path == "shared.txt").unwrap();
    assert_eq!(bench.git(&epic, &["cat-file", "blob", &typed.blob]), "typed into the merge");
}

#[tokio::test]
async fn what_an_agent_staged_is_not_taken_for_a_crash() {
    let bench = Bench::new();
    let epic = epic_with_task(&bench).await;
    aside(bench.merge("1").await);
    bench.write(&epic, "own.txt", "own");
    bench.commit(&epic, "own work");
    bench.git(&epic, &["reset", "--quiet", "--soft", "HEAD~1"]);
    assert_eq!(aside(bench.merge("1").await).1, How::FoundByTrailer);
    assert_eq!(bench.git(&epic, &["status", "--porcelain"]), "A  own.txt");
}
