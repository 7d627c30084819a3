//! Pull requests.

use domain::ReviewDecision;
use domain::github::Login;
use domain::pull_request::PullRequestEvent;

use super::{id, noon, text};

pub(crate) fn events() -> Vec<PullRequestEvent> {
    let (url, repository) = (text("https://github.com/acme/shop/pull/7"), text("acme/shop"));
    let (agent_id, linked_task_id, title) = (Some(id(4)), Some(id(11)), text("Add a basket (#12)"));
    vec![
        PullRequestEvent::PullRequestOpened {
            pull_request_id: id(12),
            workspace_id: id(2),
            project_id: id(3),
            number: 7,
            url: url.clone(),
            title: title.clone(),
            author: Login::new("Dev-1"),
            agent_id,
            linked_task_id,
            repository: repository.clone(),
            labels: vec![text("bug")],
            additions: 30,
            deletions: 4,
            changed_files: 2,
            opened_at: noon(),
            updated_at: noon(),
        },
        PullRequestEvent::PullRequestDetailsChanged {
            title: Some(text("Add a cart (#12)")),
            linked_task_id,
            labels: Some(vec![]),
            additions: Some(31),
            deletions: Some(5),
            changed_files: Some(3),
            updated_at: noon(),
        },
        PullRequestEvent::PullRequestReviewed {
            review_id: 800,
            reviewer: Login::new("ada"),
            reviewer_agent_id: Some(id(5)),
            decision: ReviewDecision::Approve,
            submitted_at: noon(),
        },
        PullRequestEvent::PullRequestLintFailed { check_id: 900, check_name: text("ESLint"), completed_at: noon() },
        PullRequestEvent::PullRequestLintPassed { check_id: 901, check_name: text("ESLint"), completed_at: noon() },
        PullRequestEvent::PullRequestClosed {
            number: 7,
            url: url.clone(),
            repository: repository.clone(),
            title: title.clone(),
            closed_by: Login::new("ada"),
            agent_id,
            linked_task_id,
            closed_at: noon(),
        },
        PullRequestEvent::PullRequestReopened { reopened_at: noon() },
        PullRequestEvent::PullRequestMerged {
            number: 7,
            url,
            repository,
            title,
            merged_by: Login::new("ada"),
            merge_commit_sha: Some(text("abc123")),
            agent_id,
            linked_task_id,
            merged_at: noon(),
        },
    ]
}
