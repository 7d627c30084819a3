//! Push commits.

use chrono::{DateTime, Utc};

use super::{Repository, RepositoryEvent, RepositoryOf};
use crate::AgentId;
use crate::github::Login;

/// Takes note of a push. Told apart by its time and the commit that is then the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushCommits {
    /// Where.
    pub of: RepositoryOf,
    /// Where the commits went, like `refs/heads/main`.
    pub git_ref: String,
    /// The commit that is now the last there.
    pub head_sha: String,
    /// The commits.
    pub commits: Vec<String>,
    /// Who pushed them.
    pub pusher: Login,
    /// The agent who that is.
    pub agent_id: Option<AgentId>,
    /// When it happened.
    pub pushed_at: DateTime<Utc>,
}

pub(crate) fn decide(repository: &Repository, command: PushCommits) -> Option<RepositoryEvent> {
    let is_news = repository.pushes.is_news(&(command.pushed_at, command.head_sha.clone()));
    is_news.then_some(RepositoryEvent::CommitsPushed {
        workspace_id: command.of.workspace_id,
        project_id: command.of.project_id,
        git_ref: command.git_ref,
        head_sha: command.head_sha,
        commits: command.commits,
        pusher: command.pusher,
        agent_id: command.agent_id,
        pushed_at: command.pushed_at,
    })
}
