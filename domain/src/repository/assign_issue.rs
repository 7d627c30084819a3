//! Assign an issue.

use chrono::{DateTime, Utc};

use super::{Repository, RepositoryEvent, RepositoryOf};
use crate::AgentId;
use crate::github::Login;
use crate::task::GithubIssue;

/// Takes note that an issue was assigned. Told apart by its time, the issue and the assignee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignIssue {
    /// Where.
    pub of: RepositoryOf,
    /// Which issue.
    pub issue: GithubIssue,
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub title: String,
    /// Who is to do it.
    pub assignee: Login,
    /// The agent who that is.
    pub agent_id: Option<AgentId>,
    /// The repository's name, with its owner's.
    pub repository: String,
    /// When it happened.
    pub assigned_at: DateTime<Utc>,
}

pub(crate) fn decide(repository: &Repository, command: AssignIssue) -> Option<RepositoryEvent> {
    let key = (command.assigned_at, command.issue.number, command.assignee.key());
    let is_news = repository.assignments.is_news(&key);
    is_news.then_some(RepositoryEvent::IssueAssigned {
        workspace_id: command.of.workspace_id,
        project_id: command.of.project_id,
        issue: command.issue,
        url: command.url,
        title: command.title,
        assignee: command.assignee,
        agent_id: command.agent_id,
        repository: command.repository,
        assigned_at: command.assigned_at,
    })
}
