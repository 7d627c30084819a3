//! Why something did not work on a repository, and whether it is worth another try.

use std::io;
use std::path::PathBuf;

use super::names::CommitId;
use crate::ChildError;

/// What went wrong, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// A name that git, or a file system, would misread.
    #[error("{name:?} is no {what}")]
    BadName {
        /// What it was meant to be.
        what: &'static str,
        /// As it was given.
        name: String,
    },
    /// There is no such branch here.
    #[error("there is no branch {0}")]
    NoSuchBranch(String),
    /// There is no such commit here.
    #[error("there is no commit {0}")]
    NoSuchCommit(String),
    /// There is no such worktree.
    #[error("there is no worktree at {0}")]
    NoSuchWorktree(PathBuf),
    /// A worktree has another branch than the one it should have.
    #[error("{folder} is on {}, not on {expected}", .found.as_deref().unwrap_or("no branch"))]
    OtherBranch {
        /// The worktree.
        folder: PathBuf,
        /// The branch it should have.
        expected: String,
        /// The one it has; nothing for a bare commit.
        found: Option<String>,
    },
    /// A branch can be checked out only once.
    #[error("{branch} is checked out in {folder}")]
    CheckedOutElsewhere {
        /// The branch.
        branch: String,
        /// Where it is.
        folder: PathBuf,
    },
    /// Somebody's uncommitted work is in the way. Nothing was changed.
    #[error("uncommitted work in {folder} is in the way: {}", .files.join(", "))]
    Uncommitted {
        /// The worktree.
        folder: PathBuf,
        /// Files that are not as they were committed.
        files: Vec<String>,
    },
    /// Somebody else is in the middle of something there. Nothing was changed.
    #[error("a {what} is under way in {folder}")]
    Unfinished {
        /// The worktree.
        folder: PathBuf,
        /// What was begun.
        what: &'static str,
    },
    /// What should be undone is no merge.
    #[error("{0} is no merge commit")]
    NotAMerge(CommitId),
    /// What should be undone has been built upon.
    #[error("{branch} is at {tip} and not at the merge that should be undone")]
    NotTheTip {
        /// The branch.
        branch: String,
        /// Where it is.
        tip: CommitId,
    },
    /// Two branches without a common ancestor.
    #[error("{0} and {1} have no common history")]
    Unrelated(String, String),
    /// A path that leads out of the worktree or into git's own files.
    #[error("{0:?} may not be read")]
    PathRefused(String),
    /// There is no such file.
    #[error("there is no file {0:?}")]
    NoSuchFile(String),
    /// Not text.
    #[error("{0:?} is no text")]
    Binary(String),
    /// Somebody moved the branch again and again while we worked.
    #[error("{0} moved while it was being changed")]
    Moved(String),
    /// Somebody holds a lock file.
    #[error("{0} is held by another process")]
    Locked(PathBuf),
    /// The remote has work on this branch that did not come from here.
    #[error("the remote's {branch} is at {remote}, which did not come from here")]
    RemoteMoved {
        /// The branch.
        branch: String,
        /// Where the remote has it.
        remote: CommitId,
    },
    /// The remote could not be reached.
    #[error("the remote could not be reached: {0}")]
    Unreachable(String),
    /// Git said no.
    #[error("git {command} failed ({}): {stderr}", .code.map_or_else(|| "killed".to_owned(), |it| it.to_string()))]
    Failed {
        /// The subcommand.
        command: String,
        /// How it ended; nothing if by a signal.
        code: Option<i32>,
        /// What it said, without credentials.
        stderr: String,
    },
    /// Git could not be run to its end.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl GitError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Moved(_) | Self::Locked(_) | Self::Unreachable(_) => true,
            Self::Child(it) => it.is_transient(),
            // A signal came from outside: out of memory, a shutdown.
            Self::Failed { code, .. } => code.is_none(),
            Self::BadName { .. }
            | Self::NoSuchBranch(_)
            | Self::NoSuchCommit(_)
            | Self::NoSuchWorktree(_)
            | Self::OtherBranch { .. }
            | Self::CheckedOutElsewhere { .. }
            | Self::Uncommitted { .. }
            | Self::Unfinished { .. }
            | Self::NotAMerge(_)
            | Self::NotTheTip { .. }
            | Self::Unrelated(..)
            | Self::PathRefused(_)
            | Self::NoSuchFile(_)
            | Self::Binary(_)
            | Self::RemoteMoved { .. }
            | Self::Io { .. } => false,
        }
    }
}
