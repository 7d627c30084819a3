//! Lock files of others are waited for, and those that nobody holds are removed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use workbench::git::{GitError, Limits, Merge, RebaseOutcome, Repository};

use crate::fixture::{Bench, branch, folder, identity};

fn patient(bench: &Bench, patience: Duration) -> Repository {
    let limits = Limits { lock_patience: patience, ..Limits::default() };
    Repository::new(bench.base(), bench.folder.path().join("work trees"), identity()).with_limits(limits)
}

fn grow_old(file: &std::path::Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}

#[tokio::test]
async fn a_lock_that_is_let_go_is_waited_for() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.write(&epic, "x.txt", "x");
    let lock = bench.base().join(".git/worktrees/epic-1/index.lock");
    fs::write(&lock, "").unwrap();
    let repository = patient(&bench, Duration::from_secs(20));
    let committing = tokio::spawn(async move { repository.commit_all(&folder("epic-1"), "m").await });
    // It has met the lock once a git of ours has come and gone; which one does not matter.
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!committing.is_finished());
    fs::remove_file(&lock).unwrap();
    assert!(committing.await.unwrap().unwrap().is_some());
}

#[tokio::test]
async fn a_lock_that_is_not_let_go_is_told_and_may_be_tried_again() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.write(&epic, "x.txt", "x");
    let lock = bench.base().join(".git/worktrees/epic-1/index.lock");
    fs::write(&lock, "").unwrap();
    let since = Instant::now();
    let error = patient(&bench, Duration::from_millis(200)).commit_all(&folder("epic-1"), "m").await.unwrap_err();
    assert!(matches!(&error, GitError::Locked(file) if file.ends_with("index.lock")), "{error}");
    assert!(error.is_transient() && since.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn locks_that_nobody_holds_any_more_are_removed() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    bench.write(&epic, "x.txt", "x");
    let state = bench.base().join(".git");
    for lock in ["worktrees/epic-1/index.lock", "refs/heads/epic/1/e.lock", "worktrees/epic-1/HEAD.lock"] {
        let lock = state.join(lock);
        fs::write(&lock, "").unwrap();
        grow_old(&lock);
    }
    bench.repository.commit_all(&folder("epic-1"), "m").await.unwrap().unwrap();
    let lock = state.join("refs/heads/epic/1/e.lock");
    fs::write(&lock, "").unwrap();
    grow_old(&lock);
    bench.merge("1").await;
    assert!(!lock.exists() && bench.is_clean(&epic));
}

/// A task that has to follow another, with a lock in the way of its rebase: the bench, its worktree and the lock.
async fn behind_a_lock() -> (Bench, PathBuf, PathBuf) {
    let bench = Bench::new();
    bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    let place = bench.task("2", "b.txt", "b").await;
    bench.merge("1").await;
    // Git meets this one in the middle of a rebase.
    let lock = bench.base().join(".git/worktrees/task-2/AUTO_MERGE.lock");
    fs::write(&lock, "").unwrap();
    (bench, place, lock)
}

fn is_rebased(bench: &Bench, place: &Path, outcome: RebaseOutcome) {
    assert_eq!(outcome, RebaseOutcome::Done { head: bench.at(place, "task/2/t") });
    assert_eq!(bench.at(place, "HEAD~1"), bench.at(place, "epic/1/e"));
    assert_eq!((bench.read(place, "a.txt"), bench.read(place, "b.txt")), ("a".to_owned(), "b".to_owned()));
    assert!(bench.is_clean(place));
}

#[tokio::test]
async fn a_rebase_that_meets_a_lock_that_nobody_holds_removes_it_and_begins_anew() {
    let (bench, place, lock) = behind_a_lock().await;
    grow_old(&lock);
    let outcome = bench.repository.rebase(&folder("task-2"), &branch("epic/1/e")).await.unwrap();
    assert!(!lock.exists());
    is_rebased(&bench, &place, outcome);
}

#[tokio::test]
async fn a_rebase_that_meets_a_lock_waits_for_it_and_begins_anew() {
    let (bench, place, lock) = behind_a_lock().await;
    let repository = patient(&bench, Duration::from_secs(20));
    let rebasing = tokio::spawn(async move { repository.rebase(&folder("task-2"), &branch("epic/1/e")).await });
    // Git notes the commit that it could not put there.
    let stopped_at = lock.with_file_name("REBASE_HEAD");
    crate::fixture::until("it has met the lock", async || stopped_at.exists()).await;
    fs::remove_file(&lock).unwrap();
    is_rebased(&bench, &place, rebasing.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_rebase_whose_lock_is_not_let_go_leaves_the_branch_exactly_as_it_was() {
    let (bench, place, lock) = behind_a_lock().await;
    let before = bench.at(&place, "HEAD");
    let repository = patient(&bench, Duration::from_millis(200));
    let error = repository.rebase(&folder("task-2"), &branch("epic/1/e")).await.unwrap_err();
    assert!(matches!(&error, GitError::Locked(file) if file.ends_with("AUTO_MERGE.lock")), "{error}");
    assert!(error.is_transient() && lock.exists());
    assert_eq!((bench.at(&place, "task/2/t"), bench.is_clean(&place)), (before, true));
    assert_eq!(bench.git(&place, &["branch", "--show-current"]), "task/2/t");
}

#[tokio::test]
async fn an_old_lock_is_left_alone_while_a_git_works_there() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.write(&epic, "x.txt", "x");
    let lock = bench.base().join(".git/worktrees/epic-1/index.lock");
    fs::write(&lock, "").unwrap();
    grow_old(&lock);
    // Waits for its input for as long as we like.
    let mut working = tokio::process::Command::new("git")
        .arg("-C")
        .arg(&epic)
        .args(["cat-file", "--batch"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let process = format!("/proc/{}", working.id().unwrap());
    let real = epic.canonicalize().unwrap();
    let at_work = async || fs::read_link(format!("{process}/cwd")).is_ok_and(|it| it == real);
    crate::fixture::until("git has gone to its folder", at_work).await;
    let repository = patient(&bench, Duration::from_millis(200));
    let error = repository.commit_all(&folder("epic-1"), "m").await;
    assert!(matches!(error, Err(GitError::Locked(_))), "{error:?}");
    drop(working.stdin.take());
    working.wait().await.unwrap();
    assert!(repository.commit_all(&folder("epic-1"), "m").await.unwrap().is_some());
}

#[tokio::test]
async fn everything_at_once_gets_done() {
    let bench = Bench::new();
    bench.epic().await;
    let mut work = tokio::task::JoinSet::new();
    for id in 0..6 {
        let repository = bench.repository.clone();
        work.spawn(async move {
            let (name, place) = (branch(&format!("task/{id}/t")), folder(&format!("task-{id}")));
            let made = repository.ensure_worktree(&name, &place, &branch("epic/1/e")).await?;
            fs::write(made.path.join(format!("{id}.txt")), "x").unwrap();
            repository.commit_all(&place, "work").await?;
            let trailer = crate::fixture::trailer(&id.to_string());
            let into = branch("epic/1/e");
            let merge = Merge { from: &name, at: None, into: &into, message: "m", trailer: &trailer, onto: None };
            repository.merge(&merge).await?;
            repository.rebase(&place, &into).await
        });
    }
    for done in work.join_all().await {
        assert!(matches!(done.unwrap(), RebaseOutcome::Done { .. }));
    }
    assert!((0..6).all(|id| bench.tree("epic-1").join(format!("{id}.txt")).exists()));
}

/// A process with a mark that nobody waits for: whoever started it is dead.
fn orphan(worktrees: &std::path::Path) -> u32 {
    let script = "sleep 1000 > /dev/null 2>&1 & echo $!";
    let said = std::process::Command::new("sh").args(["-c", script]).env("MUSTER_WORKTREES", worktrees).output();
    String::from_utf8(said.unwrap().stdout).unwrap().trim().parse().unwrap()
}

fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

#[tokio::test]
async fn what_an_earlier_process_of_ours_left_running_is_ended_and_nobody_elses() {
    let bench = Bench::new();
    let (ours, others) = (bench.folder.path().join("work trees"), bench.folder.path().join("others"));
    let (left, theirs) = (orphan(&ours), orphan(&others));
    bench.repository.end_left_behind().await.unwrap();
    assert!(!is_alive(left) && is_alive(theirs));
    bench.repository.end_left_behind().await.unwrap();
    Repository::new(bench.base(), others, identity()).end_left_behind().await.unwrap();
    assert!(!is_alive(theirs));
}

#[tokio::test]
async fn what_this_process_has_in_hand_goes_on() {
    let bench = Bench::new();
    let mut git = tokio::process::Command::new("git");
    git.arg("-C").arg(bench.base()).args(["cat-file", "--batch"]);
    git.env("MUSTER_WORKTREES", bench.folder.path().join("work trees"));
    git.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).kill_on_drop(true);
    let mut ours = git.spawn().unwrap();
    bench.repository.end_left_behind().await.unwrap();
    assert!(ours.try_wait().unwrap().is_none());
}
