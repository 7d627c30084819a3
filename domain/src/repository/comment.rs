//! Comment on an issue.

use chrono::{DateTime, Utc};

use super::{Repository, RepositoryEvent, RepositoryOf};
use crate::github::Login;
use crate::{AgentId, TaskId};

/// Takes note of a comment. Told apart by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentOnIssue {
    /// Where.
    pub of: RepositoryOf,
    /// GitHub's id of the comment.
    pub comment_id: i64,
    /// What was commented on.
    pub issue_number: i64,
    /// Where the comment is.
    pub url: String,
    /// Who wrote it.
    pub author: Login,
    /// What it says.
    pub body: String,
    /// The task that is this issue.
    pub task_id: Option<TaskId>,
    /// The agent that has the task.
    pub agent_id: Option<AgentId>,
    /// When it happened.
    pub commented_at: DateTime<Utc>,
}

pub(crate) fn decide(repository: &Repository, command: CommentOnIssue) -> Option<RepositoryEvent> {
    let is_news = repository.comments.is_news(&command.comment_id);
    is_news.then_some(RepositoryEvent::IssueCommented {
        workspace_id: command.of.workspace_id,
        project_id: command.of.project_id,
        comment_id: command.comment_id,
        issue_number: command.issue_number,
        url: command.url,
        author: command.author,
        body: command.body,
        task_id: command.task_id,
        agent_id: command.agent_id,
        commented_at: command.commented_at,
    })
}
