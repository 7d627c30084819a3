//! One base repository and the worktrees beside it; one file per verb.
//!
//! The git command line does the work (2.38 or newer). What a repository's own data could make it run is switched
//! off in `command.rs`; who waits for whom is in `lock.rs`.

mod branches;
mod can_merge;
mod command;
mod commit_all;
mod diff;
mod ensure_worktree;
mod error;
mod follow;
mod lock;
mod merge;
mod names;
mod push;
mod read_file;
mod rebase;
mod undo_merge;
mod working_tree;
mod worktrees;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use can_merge::Mergeability;
pub use diff::Diff;
pub use ensure_worktree::{EnsuredWorktree, Found};
pub use error::GitError;
pub use merge::{How, Merge, MergeOutcome};
pub use names::{Branch, CommitId, Folder, Trailer};
pub use push::{Pushed, RemoteAccess};
pub use read_file::WorktreeFile;
pub use rebase::RebaseOutcome;
pub use undo_merge::Undone;
pub use working_tree::SetAside;

/// A base repository, bare or not, and the folder that holds its worktrees.
#[derive(Debug, Clone)]
pub struct Repository {
    base: PathBuf,
    worktrees: PathBuf,
    identity: Identity,
    limits: Limits,
    turns: Arc<tokio::sync::Mutex<()>>,
}

/// Who is named as author and committer of what the bench commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// How much is read and how long is waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a diff's text.
    pub diff_bytes: usize,
    /// Bytes of a file.
    pub file_bytes: usize,
    /// For one git command on this machine.
    pub timeout: Duration,
    /// For one that talks to a remote.
    pub remote_timeout: Duration,
    /// For a lock file that somebody holds.
    pub lock_patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            diff_bytes: 256 << 10,
            file_bytes: 256 << 10,
            timeout: Duration::from_secs(60),
            remote_timeout: Duration::from_secs(120),
            lock_patience: Duration::from_secs(10),
        }
    }
}

impl Repository {
    /// Names a repository; looks at nothing yet.
    pub fn new(base: impl AsRef<Path>, worktrees: impl AsRef<Path>, identity: Identity) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let base = absolute(base.as_ref());
        let turns = lock::turns_of(&base);
        Self { base, worktrees: absolute(worktrees.as_ref()), identity, limits: Limits::default(), turns }
    }

    /// The same with other limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The base repository.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Where a worktree is, or would be.
    pub fn path_of(&self, folder: &Folder) -> PathBuf {
        self.worktrees.join(folder.as_str())
    }

    /// Waits until nobody else in this process changes the repository.
    async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turns.lock().await
    }
}
