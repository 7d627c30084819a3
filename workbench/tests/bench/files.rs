//! What is read from worktrees, and what is committed in them.

use std::fs;
use std::os::unix::fs::symlink;

use workbench::git::{CommitId, GitError, Limits, Repository};

use crate::fixture::{Bench, branch, folder, identity};

fn limited(bench: &Bench, diff_bytes: usize, file_bytes: usize) -> Repository {
    let trees = bench.folder.path().join("work trees");
    let limits = Limits { diff_bytes, file_bytes, ..Limits::default() };
    Repository::new(bench.base(), trees, identity()).with_limits(limits)
}

#[tokio::test]
async fn a_diff_is_of_what_the_branch_added_since_it_left() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    let task = bench.task("1", "-new é\".txt", "a\nb\n").await;
    bench.write(&task, "shared.txt", "one\n2\nthree\n");
    fs::write(task.join("binary"), [0_u8, 1, 2]).unwrap();
    bench.commit(&task, "more");
    bench.write(&epic, "elsewhere.txt", "not of the task");
    bench.commit(&epic, "epic goes on");
    let diff = bench.repository.diff(&branch("epic/1/e"), &branch("task/1/t")).await.unwrap();
    assert_eq!((diff.files_changed, diff.insertions, diff.deletions, diff.truncated), (3, 3, 1, false));
    assert!(diff.diff.contains("-new é") && diff.diff.contains("+2\n") && !diff.diff.contains("elsewhere"));
    let none = bench.repository.diff(&branch("task/1/t"), &branch("task/1/t")).await.unwrap();
    assert_eq!((none.diff.as_str(), none.files_changed), ("", 0));
}

#[tokio::test]
async fn a_commit_is_looked_at_as_it_was_wherever_its_branch_goes() {
    let bench = Bench::new();
    bench.epic().await;
    let task = bench.task("1", "a.txt", "submitted\n").await;
    symlink("a.txt", task.join("link.txt")).unwrap();
    symlink("/etc/passwd", task.join("out.txt")).unwrap();
    symlink("circle.txt", task.join("circle.txt")).unwrap();
    fs::write(task.join("binary"), [0_u8, 1, 2]).unwrap();
    let commit = bench.commit(&task, "more");
    bench.write(&task, "a.txt", "later\n");
    bench.write(&task, "b.txt", "later\n");
    bench.commit(&task, "later");
    let diff = bench.repository.diff_of_commit(&branch("epic/1/e"), &commit).await.unwrap();
    assert!(diff.diff.contains("+submitted") && !diff.diff.contains("later"), "{}", diff.diff);
    let read = async |path: &str| bench.repository.read_file_at(&commit, path).await;
    for path in ["a.txt", "link.txt"] {
        let file = read(path).await.unwrap();
        assert_eq!((file.content.as_str(), file.truncated, file.size), ("submitted\n", false, 10), "{path}");
    }
    for path in ["b.txt", "a.txt/b", "nowhere\nblob 3"] {
        assert!(matches!(read(path).await, Err(GitError::NoSuchFile(_))), "{path:?}");
    }
    for path in ["out.txt", "circle.txt", "../a.txt", "/a.txt", ".git/config", ""] {
        assert!(matches!(read(path).await, Err(GitError::PathRefused(_))), "{path:?}");
    }
    assert!(matches!(read("binary").await, Err(GitError::Binary(_))));
    let cut = limited(&bench, 10, 4).read_file_at(&commit, "a.txt").await.unwrap();
    assert_eq!((cut.content.as_str(), cut.truncated, cut.size), ("subm", true, 10));
    let unknown = CommitId::new(&"0".repeat(40)).unwrap();
    assert!(matches!(bench.repository.read_file_at(&unknown, "a.txt").await, Err(GitError::NoSuchCommit(_))));
    let none = bench.repository.diff_of_commit(&branch("epic/1/e"), &unknown).await;
    assert!(matches!(none, Err(GitError::NoSuchCommit(_))), "{none:?}");
}

#[tokio::test]
async fn a_huge_diff_is_cut_and_still_counted() {
    let bench = Bench::new();
    bench.epic().await;
    bench.task("1", "huge.txt", &"a line of text that is added\n".repeat(300_000)).await;
    let diff = limited(&bench, 10_000, 10).diff(&branch("epic/1/e"), &branch("task/1/t")).await.unwrap();
    assert!(diff.truncated && diff.diff.len() <= 10_000 && diff.diff.ends_with('\n'));
    assert_eq!((diff.files_changed, diff.insertions), (1, 300_000));
}

#[tokio::test]
async fn branches_without_a_common_past_have_no_diff_and_no_merge() {
    let bench = Bench::new();
    let tree = bench.git(&bench.base(), &["write-tree"]);
    let alone = bench.git(&bench.base(), &["commit-tree", &tree, "-m", "alone"]);
    bench.git(&bench.base(), &["branch", "alone", &alone]);
    let diff = bench.repository.diff(&branch("main"), &branch("alone")).await;
    assert!(matches!(diff, Err(GitError::Unrelated(..))), "{diff:?}");
    let trial = bench.repository.can_merge(&branch("alone"), &branch("main")).await;
    assert!(matches!(trial, Err(GitError::Unrelated(..))), "{trial:?}");
}

#[tokio::test]
async fn what_an_agent_left_is_committed_once() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    let commit = |message: &'static str| async { bench.repository.commit_all(folder_1(), message).await };
    assert_eq!(commit("nothing").await.unwrap(), None);
    bench.write(&epic, "-f o\"o.txt", "x");
    fs::remove_file(epic.join("shared.txt")).unwrap();
    // As a crash between staging and committing leaves it.
    bench.git(&epic, &["add", "--all"]);
    let made = commit("--amend \"quoted\" $(x)\n\n# not a comment").await.unwrap();
    assert_eq!(made, Some(bench.at(&epic, "HEAD")));
    assert_eq!(
        bench.git(&epic, &["log", "-1", "--format=%an: %B"]).lines().next().unwrap(),
        "Muster \"the\" Bench: --amend \"quoted\" $(x)"
    );
    assert!(bench.is_clean(&epic));
    assert_eq!(commit("again").await.unwrap(), None);
    bench.write(&epic, "empty message.txt", "x");
    assert!(commit("").await.unwrap().is_some());
}

#[tokio::test]
async fn nothing_is_committed_in_the_middle_of_something_or_beside_a_branch() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.task("1", "shared.txt", "1").await;
    bench.write(&epic, "shared.txt", "e");
    bench.commit(&epic, "epic");
    assert!(!bench.try_git(&epic, &["merge", "task/1/t"]).status.success());
    let error = bench.repository.commit_all(folder_1(), "m").await.unwrap_err();
    assert!(matches!(error, GitError::Unfinished { what: "merge", .. }), "{error}");
    bench.git(&epic, &["merge", "--abort"]);
    bench.git(&epic, &["switch", "--quiet", "--detach"]);
    bench.write(&epic, "lost.txt", "x");
    assert!(matches!(bench.repository.commit_all(folder_1(), "m").await, Err(GitError::OtherBranch { .. })));
}

#[tokio::test]
async fn hooks_and_programs_of_the_repository_do_not_run() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    let (proof, hooks) = (bench.folder.path().join("ran"), bench.base().join(".git/hooks"));
    let script = format!("#!/bin/sh\ntouch '{}'\n", proof.display());
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "pre-rebase",
        "post-merge",
        "reference-transaction",
    ] {
        fs::write(hooks.join(name), &script).unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(hooks.join(name), all).unwrap();
    }
    let program = hooks.join("pre-commit");
    for key in ["core.fsmonitor", "diff.external", "core.editor", "core.pager"] {
        bench.git(&bench.base(), &["-c", "core.hooksPath=/dev/null", "config", key, program.to_str().unwrap()]);
    }
    bench.write(&epic, "x.txt", "x");
    bench.repository.commit_all(folder_1(), "m").await.unwrap();
    bench.repository.ensure_worktree(&branch("task/1/t"), &folder("task-1"), &branch("main")).await.unwrap();
    bench.write(&bench.tree("task-1"), "y.txt", "y");
    bench.repository.commit_all(&folder("task-1"), "m").await.unwrap();
    bench.repository.rebase(&folder("task-1"), &branch("epic/1/e")).await.unwrap();
    bench.repository.diff(&branch("main"), &branch("epic/1/e")).await.unwrap();
    bench.merge("1").await;
    assert!(!proof.exists());
}

#[tokio::test]
async fn a_file_is_read_up_to_a_limit() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    bench.write(&epic, "deep/- \"ä\".txt", "text, not committed");
    bench.write(&epic, "long.txt", &"ää".repeat(100));
    symlink("deep/- \"ä\".txt", epic.join("inside")).unwrap();
    let read = bench.repository.read_file(folder_1(), "deep/- \"ä\".txt").await.unwrap();
    assert_eq!((read.content.as_str(), read.truncated, read.size), ("text, not committed", false, 19));
    let linked = bench.repository.read_file(folder_1(), "inside").await.unwrap();
    assert_eq!(linked.content, "text, not committed");
    let cut = limited(&bench, 10, 5).read_file(folder_1(), "long.txt").await.unwrap();
    assert_eq!((cut.content.as_str(), cut.truncated, cut.size), ("ää", true, 400), "not through a letter");
}

#[tokio::test]
async fn nothing_outside_the_worktree_is_read() {
    let bench = Bench::new();
    let epic = bench.epic().await;
    let secret = bench.folder.path().join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, epic.join("link")).unwrap();
    symlink("../../secret.txt", epic.join("relative")).unwrap();
    symlink(bench.folder.path(), epic.join("out")).unwrap();
    symlink(".git", epic.join("to-git")).unwrap();
    symlink("circle", epic.join("circle")).unwrap();
    let refused = [
        secret.to_str().unwrap(),
        "../../secret.txt",
        "deep/../../../secret.txt",
        "link",
        "relative",
        "out/secret.txt",
        ".git",
        ".GIT/config",
        "to-git",
        "circle",
        "",
        "/",
        ".",
        "a\0b",
        "./shared.txt/..",
    ];
    for path in refused {
        let answer = bench.repository.read_file(folder_1(), path).await;
        assert!(matches!(answer, Err(GitError::PathRefused(_))), "{path:?}: {answer:?}");
    }
    for path in ["missing.txt", "shared.txt/below"] {
        assert!(matches!(bench.repository.read_file(folder_1(), path).await, Err(GitError::NoSuchFile(_))), "{path}");
    }
    fs::create_dir(epic.join("folder")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(epic.join("pipe")).status().unwrap().success());
    for path in ["folder", "pipe"] {
        assert!(matches!(bench.repository.read_file(folder_1(), path).await, Err(GitError::NoSuchFile(_))), "{path}");
    }
    fs::write(epic.join("zero"), [b'a', 0]).unwrap();
    fs::write(epic.join("latin"), [b'a', 0xe4, b'b']).unwrap();
    for path in ["zero", "latin"] {
        assert!(matches!(bench.repository.read_file(folder_1(), path).await, Err(GitError::Binary(_))), "{path}");
    }
    assert!(matches!(bench.repository.read_file(&folder("none"), "x").await, Err(GitError::NoSuchWorktree(_))));
}

fn folder_1() -> &'static workbench::git::Folder {
    static FOLDER: std::sync::LazyLock<workbench::git::Folder> = std::sync::LazyLock::new(|| folder("epic-1"));
    &FOLDER
}
