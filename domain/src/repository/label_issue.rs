//! Label an issue.

use chrono::{DateTime, Utc};

use super::{Repository, RepositoryEvent, RepositoryOf};
use crate::task::GithubIssue;

/// Takes note of an issue's labels. Told apart by their time and the issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelIssue {
    /// Where.
    pub of: RepositoryOf,
    /// Which issue.
    pub issue: GithubIssue,
    /// All its labels.
    pub labels: Vec<String>,
    /// When it happened.
    pub labelled_at: DateTime<Utc>,
}

pub(crate) fn decide(repository: &Repository, command: LabelIssue) -> Option<RepositoryEvent> {
    let is_news = repository.labellings.is_news(&(command.labelled_at, command.issue.number));
    is_news.then_some(RepositoryEvent::IssueLabelled {
        workspace_id: command.of.workspace_id,
        project_id: command.of.project_id,
        issue: command.issue,
        labels: command.labels,
        labelled_at: command.labelled_at,
    })
}
