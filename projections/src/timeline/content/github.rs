//! What happens on GitHub.

use domain::TaskId;
use domain::pull_request::PullRequestEvent;
use domain::repository::RepositoryEvent;
use serde_json::{Value, json};

use super::{Said, with_optional};
use crate::timeline::subjects::{Subject, holder_of};
use crate::{FoldError, Rows};

pub(super) fn of_pull_request(
    event: &PullRequestEvent,
    subject: &Subject,
    rows: &mut Rows,
) -> Result<Option<Said>, FoldError> {
    let (at, content, task) = match event {
        PullRequestEvent::PullRequestOpened {
            number,
            url,
            title,
            author,
            linked_task_id,
            repository,
            opened_at,
            ..
        } => {
            let who = json!({ "author": author, "openedAt": opened_at });
            (*opened_at, pull_request((*number, url, title, repository), who, *linked_task_id), *linked_task_id)
        }
        PullRequestEvent::PullRequestMerged {
            number,
            url,
            repository,
            title,
            merged_by,
            linked_task_id,
            merged_at,
            ..
        } => {
            let who = json!({ "mergedBy": merged_by, "mergedAt": merged_at });
            (*merged_at, pull_request((*number, url, title, repository), who, *linked_task_id), *linked_task_id)
        }
        PullRequestEvent::PullRequestClosed {
            number,
            url,
            repository,
            title,
            closed_by,
            linked_task_id,
            closed_at,
            ..
        } => {
            let who = json!({ "closedBy": closed_by, "closedAt": closed_at });
            (*closed_at, pull_request((*number, url, title, repository), who, *linked_task_id), *linked_task_id)
        }
        PullRequestEvent::PullRequestDetailsChanged { .. }
        | PullRequestEvent::PullRequestReviewed { .. }
        | PullRequestEvent::PullRequestLintFailed { .. }
        | PullRequestEvent::PullRequestLintPassed { .. }
        | PullRequestEvent::PullRequestReopened { .. } => return Ok(None),
    };
    let holder = match task {
        Some(task) => holder_of(task, rows)?,
        None => None,
    };
    Ok(Some(Said { task, ..Said::new(at, content).to(holder).about(subject.agent_id) }))
}

/// What all entries of a pull request have in common, and who did what when.
fn pull_request(
    (number, url, title, repository): (i64, &String, &String, &String),
    who: Value,
    task: Option<TaskId>,
) -> Value {
    let content = json!({
        "githubPullRequestNumber": number,
        "githubPullRequestUrl": url,
        "title": title,
        "repository": repository,
    });
    with_optional(super::joined(content, who), [("linkedTaskId", json!(task))])
}

pub(super) fn in_repository(event: &RepositoryEvent) -> Option<Said> {
    match event {
        RepositoryEvent::IssueCommented {
            workspace_id: _,
            project_id,
            comment_id,
            issue_number,
            url,
            author,
            body,
            task_id,
            agent_id,
            commented_at,
        } => {
            let content = json!({
                "githubCommentId": comment_id,
                "githubIssueNumber": issue_number,
                "githubCommentUrl": url,
                "author": author,
                "body": body,
                "commentedAt": commented_at,
            });
            let content = with_optional(content, [("linkedTaskId", json!(task_id))]);
            let said = Said::new(*commented_at, content).to(*agent_id).about(*agent_id);
            Some(Said { project: Some(*project_id), task: *task_id, ..said })
        }
        RepositoryEvent::IssueAssigned {
            workspace_id: _,
            project_id,
            issue,
            url,
            title,
            assignee,
            agent_id,
            repository,
            assigned_at,
        } => {
            let content = json!({
                "githubIssueNumber": issue.number,
                "githubIssueUrl": url,
                "title": title,
                "assignedTo": assignee,
                "assignedAt": assigned_at,
                "repository": repository,
            });
            Some(Said { project: Some(*project_id), ..Said::new(*assigned_at, content).about(*agent_id) })
        }
        RepositoryEvent::CommitsPushed { .. }
        | RepositoryEvent::DeploymentStatusReported { .. }
        | RepositoryEvent::IssueLabelled { .. } => None,
    }
}
