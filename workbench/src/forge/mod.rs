//! Where pull requests live: with the caller, or on GitHub.

mod error;
mod github;
mod local;

pub use error::ForgeError;
pub use github::{Github, GithubSettings};
pub use local::Local;

use crate::git::{Branch, CommitId, Merge, MergeOutcome, Repository, Trailer};

/// A place for pull requests.
#[derive(Debug, Clone)]
pub enum Forge {
    /// They are records of the caller; merges are real.
    Local(Local),
    /// They are GitHub's, and so are merges.
    Github(Github),
}

/// A pull request to be opened.
#[derive(Debug, Clone, Copy)]
pub struct Pull<'a> {
    /// Of the task or epic it is for.
    pub id: &'a str,
    /// The branch that is offered.
    pub from: &'a Branch,
    /// The branch that should get it.
    pub into: &'a Branch,
    /// One line.
    pub title: &'a str,
    /// Markdown.
    pub description: &'a str,
}

/// A pull request that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Its address from now on.
    pub url: String,
    /// Whether one for the same two branches was open already; then its words were replaced.
    /// A local one cannot know.
    pub existed: bool,
}

/// What has become of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullStatus {
    /// Where it is in its life.
    pub state: PullState,
    /// What reviewers say; nothing where only the caller knows.
    pub review: Option<Review>,
    /// The merge commit, if it was merged.
    pub merge_commit: Option<CommitId>,
}

/// Where a pull request is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullState {
    /// Waiting.
    Open,
    /// In.
    Merged,
    /// Given up.
    Closed,
}

/// What reviewers say, the last word of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    /// Nobody has decided.
    Pending,
    /// Somebody approves and nobody objects.
    Approved,
    /// Somebody objects.
    ChangesRequested,
}

impl Forge {
    /// Opens a pull request, or finds the open one for the same two branches and gives it these words.
    pub async fn open(&self, repository: &Repository, pull: &Pull<'_>) -> Result<Opened, ForgeError> {
        match self {
            Self::Local(it) => it.open(repository, pull).await,
            Self::Github(it) => it.open(repository, pull).await,
        }
    }

    /// Gives a pull request other words.
    pub async fn update(&self, url: &str, title: &str, description: &str) -> Result<(), ForgeError> {
        match self {
            Self::Local(it) => it.update(url),
            Self::Github(it) => it.update(url, title, description).await,
        }
    }

    /// Looks what has become of a pull request into a branch.
    pub async fn status(
        &self,
        repository: &Repository,
        url: &str,
        into: &Branch,
        trailer: &Trailer,
    ) -> Result<PullStatus, ForgeError> {
        match self {
            Self::Local(it) => it.status(repository, url, into, trailer).await,
            Self::Github(it) => it.status(url).await,
        }
    }

    /// Merges a pull request, once; afterwards the branch here holds it too.
    pub async fn merge(
        &self,
        repository: &Repository,
        url: &str,
        merge: &Merge<'_>,
    ) -> Result<MergeOutcome, ForgeError> {
        match self {
            Self::Local(it) => it.merge(repository, url, merge).await,
            Self::Github(it) => it.merge(repository, url, merge).await,
        }
    }
}
