//! A repository in a folder of its own, and words to speak about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workbench::git::{Branch, CommitId, Folder, Identity, Merge, MergeOutcome, Repository, Trailer};

/// A base repository with one commit on `main`; its path has everything that a shell would trip over.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) repository: Repository,
}

pub(crate) fn identity() -> Identity {
    Identity { name: "Muster \"the\" Bench".to_owned(), email: "bench@muster.example".to_owned() }
}

pub(crate) fn branch(name: &str) -> Branch {
    Branch::new(name).unwrap()
}

pub(crate) fn folder(name: &str) -> Folder {
    Folder::new(name).unwrap()
}

pub(crate) fn trailer(id: &str) -> Trailer {
    Trailer::new("Muster-Task", id).unwrap()
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self::empty();
        bench.write(&bench.base(), "shared.txt", "one\ntwo\nthree\n");
        bench.commit(&bench.base(), "begin");
        bench
    }

    fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("bench").tempdir().unwrap();
        let base = folder.path().join("base it's \"ä\" $(x) ;");
        fs::create_dir(&base).unwrap();
        let repository = Repository::new(&base, folder.path().join("work trees"), identity());
        let bench = Self { folder, repository };
        bench.git(&base, &["init", "--quiet", "--initial-branch=main"]);
        bench
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.repository.base().to_path_buf()
    }

    pub(crate) fn tree(&self, name: &str) -> PathBuf {
        self.repository.path_of(&folder(name))
    }

    /// What an agent, or a person, does by hand.
    pub(crate) fn git_command(&self, place: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=Agent", "-c", "user.email=agent@muster.example", "-C"])
            .arg(place)
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_EDITOR", "true")
            .env("LC_ALL", "C");
        command
    }

    pub(crate) fn try_git(&self, place: &Path, args: &[&str]) -> Output {
        self.git_command(place, args).output().unwrap()
    }

    pub(crate) fn git(&self, place: &Path, args: &[&str]) -> String {
        let output = self.try_git(place, args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn write(&self, place: &Path, path: &str, content: &str) {
        let file = place.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn read(&self, place: &Path, path: &str) -> String {
        fs::read_to_string(place.join(path)).unwrap()
    }

    pub(crate) fn commit(&self, place: &Path, message: &str) -> CommitId {
        self.git(place, &["add", "--all"]);
        self.git(place, &["commit", "--quiet", "-m", message]);
        self.at(place, "HEAD")
    }

    pub(crate) fn at(&self, place: &Path, what: &str) -> CommitId {
        CommitId::new(&self.git(place, &["rev-parse", what])).unwrap()
    }

    /// Nothing uncommitted and nothing under way.
    pub(crate) fn is_clean(&self, place: &Path) -> bool {
        self.git(place, &["status", "--porcelain"]).is_empty()
    }

    /// The worktree of an epic, begun from `main`.
    pub(crate) async fn epic(&self) -> PathBuf {
        self.worktree("epic/1/e", "epic-1", "main").await
    }

    /// The worktree of a task, with one file committed in it.
    pub(crate) async fn task(&self, id: &str, path: &str, content: &str) -> PathBuf {
        let place = self.worktree(&format!("task/{id}/t"), &format!("task-{id}"), "epic/1/e").await;
        self.write(&place, path, content);
        self.commit(&place, &format!("work of {id}"));
        place
    }

    pub(crate) async fn worktree(&self, name: &str, place: &str, from: &str) -> PathBuf {
        let ensured = self.repository.ensure_worktree(&branch(name), &folder(place), &branch(from)).await.unwrap();
        ensured.path
    }

    /// Merges a task into the epic.
    pub(crate) async fn merge(&self, id: &str) -> MergeOutcome {
        self.try_merge(id).await.unwrap()
    }

    pub(crate) async fn try_merge(&self, id: &str) -> Result<MergeOutcome, workbench::git::GitError> {
        let (from, into) = (branch(&format!("task/{id}/t")), branch("epic/1/e"));
        let message = format!("-Merge of {id}\n\nMuster-Task: somebody-else");
        let trailer = trailer(id);
        let merge = Merge { from: &from, at: None, into: &into, message: &message, trailer: &trailer, onto: None };
        self.repository.merge(&merge).await
    }
}

/// Looks again until something is so.
pub(crate) async fn until<F: AsyncFnMut() -> bool>(what: &str, mut is_so: F) {
    let since = Instant::now();
    while !is_so().await {
        assert!(since.elapsed() < Duration::from_secs(20), "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
