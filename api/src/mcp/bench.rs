//! The bench as tools look at it: diffs, files and pull requests of the worktrees on this node. Nothing is changed
//! here; what changes something is an errand.

use std::pin::Pin;

use domain::{EpicId, ProjectId, TaskId};

/// Where a task's work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workplace {
    /// The bench that has it.
    pub bench: String,
    /// The project whose repository it is.
    pub project_id: ProjectId,
    /// The epic.
    pub epic_id: EpicId,
    /// Its branch.
    pub epic_branch: String,
    /// The task.
    pub task_id: TaskId,
    /// Its branch.
    pub task_branch: String,
    /// The commit that is reviewed, while one is.
    pub reviewed: Option<String>,
}

/// What a task's branch changes of its epic's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The text, from its beginning.
    pub text: String,
    /// Whether there is more.
    pub is_cut: bool,
    /// Files that differ.
    pub files_changed: u64,
    /// Lines added.
    pub insertions: u64,
    /// Lines taken away.
    pub deletions: u64,
}

/// How a pull request stands where it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestState {
    /// It waits.
    Open,
    /// It went in.
    Merged,
    /// It was closed without.
    Closed,
}

/// Why there is nothing to see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// It is not there, or may not be looked at; the text is for the agent.
    #[error("{0}")]
    Refused(String),
    /// Something holds it for the moment; the text is for the agent.
    #[error("{0}")]
    Busy(String),
    /// The bench is broken; the text is for our log alone.
    #[error("{0}")]
    Broken(String),
}

/// An answer of the bench, to wait for.
pub type Looking<'a, T> = Pin<Box<dyn Future<Output = Result<T, BenchError>> + Send + 'a>>;

/// The worktrees on this node, to be read.
pub trait Bench: Send + Sync {
    /// Whether the bench of this name is on this node.
    fn has(&self, bench: &str) -> bool;
    /// What a task changes, as it was submitted while it is reviewed.
    fn diff<'a>(&'a self, of: &'a Workplace) -> Looking<'a, Diff>;
    /// The text of a file in a task's worktree, or as it was submitted while it is reviewed.
    fn read_file<'a>(&'a self, of: &'a Workplace, path: &'a str) -> Looking<'a, String>;
    /// How a task's pull request stands.
    fn pull_request<'a>(&'a self, of: &'a Workplace, url: &'a str) -> Looking<'a, PullRequestState>;
}
