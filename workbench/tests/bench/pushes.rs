//! A push brings what came from here, and never takes away what did not.

use std::path::PathBuf;

use workbench::git::{GitError, RemoteAccess};

use crate::fixture::{Bench, branch, folder};

/// A bare repository that is the bench's `origin`.
fn with_origin(bench: &Bench) -> PathBuf {
    let origin = bench.folder.path().join("origin.git");
    bench.git(bench.folder.path(), &["init", "--quiet", "--bare", "--initial-branch=main", "origin.git"]);
    bench.git(&bench.base(), &["remote", "add", "origin", origin.to_str().unwrap()]);
    bench.git(&bench.base(), &["push", "--quiet", "origin", "main"]);
    origin
}

#[tokio::test]
async fn a_branch_is_pushed_once_and_again_after_a_rebase() {
    let bench = Bench::new();
    let (origin, access) = (with_origin(&bench), RemoteAccess::default());
    bench.epic().await;
    let task = bench.task("2", "b.txt", "b").await;
    let name = branch("task/2/t");
    let pushed = bench.repository.push(&name, &access).await.unwrap();
    assert_eq!((pushed.already, bench.at(&origin, "task/2/t")), (false, pushed.head));
    assert!(bench.repository.push(&name, &access).await.unwrap().already);
    // The record of what the remote has is lost with a crash; the reflog still knows.
    bench.git(&task, &["update-ref", "-d", "refs/remotes/origin/task/2/t"]);
    bench.task("1", "a.txt", "a").await;
    bench.merge("1").await;
    bench.repository.rebase(&folder("task-2"), &branch("epic/1/e")).await.unwrap();
    let again = bench.repository.push(&name, &access).await.unwrap();
    assert_eq!(bench.at(&origin, "task/2/t"), again.head);
}

#[tokio::test]
async fn work_that_did_not_come_from_here_is_not_overwritten() {
    let bench = Bench::new();
    let origin = with_origin(&bench);
    bench.epic().await;
    bench.task("1", "a.txt", "a").await;
    let name = branch("task/1/t");
    bench.repository.push(&name, &RemoteAccess::default()).await.unwrap();
    let other = bench.folder.path().join("other");
    bench.git(bench.folder.path(), &["clone", "--quiet", "-b", "task/1/t", origin.to_str().unwrap(), "other"]);
    bench.write(&other, "theirs.txt", "x");
    let theirs = bench.commit(&other, "theirs");
    bench.git(&other, &["push", "--quiet"]);
    bench.write(&bench.tree("task-1"), "mine.txt", "x");
    bench.commit(&bench.tree("task-1"), "mine");
    let error = bench.repository.push(&name, &RemoteAccess::default()).await.unwrap_err();
    assert!(matches!(&error, GitError::RemoteMoved { remote, .. } if *remote == theirs), "{error}");
    assert_eq!(bench.at(&origin, "task/1/t"), theirs);
}

#[tokio::test]
async fn a_branch_follows_what_was_merged_over_there() {
    let bench = Bench::new();
    with_origin(&bench);
    let epic = bench.epic().await;
    let access = RemoteAccess::default();
    let name = branch("epic/1/e");
    bench.repository.push(&name, &access).await.unwrap();
    bench.git(bench.folder.path(), &["clone", "--quiet", "-b", "epic/1/e", "origin.git", "other"]);
    let other = bench.folder.path().join("other");
    bench.write(&other, "theirs.txt", "x");
    let theirs = bench.commit(&other, "theirs");
    bench.git(&other, &["push", "--quiet"]);
    for _ in 0..2 {
        assert_eq!(bench.repository.follow(&name, &access).await.unwrap(), theirs);
        assert_eq!(bench.read(&epic, "theirs.txt"), "x");
        assert!(bench.is_clean(&epic));
    }
    // As a crash leaves it: the branch has moved and the files have not.
    bench.git(&epic, &["reset", "--quiet", "--hard", "HEAD~1"]);
    bench.git(&epic, &["update-ref", "-m", "muster: follow the remote", "refs/heads/epic/1/e", theirs.as_str()]);
    bench.repository.follow(&name, &access).await.unwrap();
    assert!(bench.is_clean(&epic) && epic.join("theirs.txt").exists());
}

#[tokio::test]
async fn a_remote_that_does_not_answer_may_answer_later() {
    let bench = Bench::new();
    // A port that was free a moment ago and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://me:secret@127.0.0.1:{port}/a.git");
    bench.git(&bench.base(), &["remote", "add", "origin", &address]);
    let error = bench.repository.push(&branch("main"), &RemoteAccess::default()).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("secret"));
    bench.git(&bench.base(), &["remote", "set-url", "origin", "/no/such/place.git"]);
    let error = bench.repository.push(&branch("main"), &RemoteAccess::default()).await.unwrap_err();
    assert!(!error.is_transient(), "{error:?}");
}
