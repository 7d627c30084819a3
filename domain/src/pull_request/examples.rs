//! Pull requests to test with: number 7 of project 20, by agent 30, for task 60.

use super::{ClosePullRequest, GithubPullRequest, MergePullRequest, PullRequestEvent, ReviewPullRequest};
use crate::ReviewDecision;
use crate::examples::{at, id};
use crate::github::Login;

pub(super) fn github() -> GithubPullRequest {
    GithubPullRequest {
        workspace_id: id(10),
        project_id: id(20),
        number: 7,
        url: "https://github.com/acme/shop/pull/7".to_owned(),
        title: "Add a basket (#12)".to_owned(),
        author: Login::new("dev-1"),
        agent_id: Some(id(30)),
        linked_task_id: Some(id(60)),
        repository: "acme/shop".to_owned(),
        labels: vec![],
        additions: 30,
        deletions: 4,
        changed_files: 2,
        opened_at: at(0),
        updated_at: at(0),
    }
}

pub(super) fn opened() -> PullRequestEvent {
    let it = github();
    PullRequestEvent::PullRequestOpened {
        pull_request_id: it.id(),
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        number: it.number,
        url: it.url,
        title: it.title,
        author: it.author,
        agent_id: it.agent_id,
        linked_task_id: it.linked_task_id,
        repository: it.repository,
        labels: it.labels,
        additions: it.additions,
        deletions: it.deletions,
        changed_files: it.changed_files,
        opened_at: it.opened_at,
        updated_at: it.updated_at,
    }
}

pub(super) fn labelled() -> PullRequestEvent {
    PullRequestEvent::PullRequestDetailsChanged {
        title: None,
        linked_task_id: None,
        labels: Some(vec!["bug".to_owned()]),
        additions: None,
        deletions: None,
        changed_files: None,
        updated_at: at(1),
    }
}

pub(super) fn review() -> ReviewPullRequest {
    ReviewPullRequest {
        review_id: 800,
        reviewer: Login::new("ada"),
        reviewer_agent_id: None,
        decision: ReviewDecision::Approve,
        submitted_at: at(2),
    }
}

pub(super) fn reviewed() -> PullRequestEvent {
    let ReviewPullRequest { review_id, reviewer, reviewer_agent_id, decision, submitted_at } = review();
    PullRequestEvent::PullRequestReviewed { review_id, reviewer, reviewer_agent_id, decision, submitted_at }
}

pub(super) fn lint_failed() -> PullRequestEvent {
    PullRequestEvent::PullRequestLintFailed { check_id: 900, check_name: "ESLint".to_owned(), completed_at: at(2) }
}

pub(super) fn lint_passed() -> PullRequestEvent {
    PullRequestEvent::PullRequestLintPassed { check_id: 900, check_name: "ESLint".to_owned(), completed_at: at(2) }
}

pub(super) fn close() -> ClosePullRequest {
    ClosePullRequest { now_is: github(), closed_by: Login::new("ada"), closed_at: at(3) }
}

pub(super) fn closed_at(minute: i64) -> PullRequestEvent {
    PullRequestEvent::PullRequestClosed {
        number: 7,
        url: github().url,
        repository: github().repository,
        title: github().title,
        closed_by: Login::new("ada"),
        agent_id: Some(id(30)),
        linked_task_id: Some(id(60)),
        closed_at: at(minute),
    }
}

pub(super) fn closed() -> PullRequestEvent {
    closed_at(3)
}

pub(super) fn reopened() -> PullRequestEvent {
    PullRequestEvent::PullRequestReopened { reopened_at: at(4) }
}

pub(super) fn merge() -> MergePullRequest {
    MergePullRequest {
        now_is: github(),
        merged_by: Login::new("ada"),
        merge_commit_sha: Some("abc123".to_owned()),
        merged_at: at(6),
    }
}

pub(super) fn merged() -> PullRequestEvent {
    PullRequestEvent::PullRequestMerged {
        number: 7,
        url: github().url,
        repository: github().repository,
        title: github().title,
        merged_by: Login::new("ada"),
        merge_commit_sha: Some("abc123".to_owned()),
        agent_id: Some(id(30)),
        linked_task_id: Some(id(60)),
        merged_at: at(6),
    }
}
