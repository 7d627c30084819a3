//! Repositories.

use domain::github::Login;
use domain::repository::{DeploymentState, RepositoryEvent};
use domain::task::GithubIssue;

use super::{id, noon, text};

pub(crate) fn events() -> Vec<RepositoryEvent> {
    let (workspace_id, project_id) = (id(2), id(3));
    let (agent_id, issue) = (Some(id(4)), GithubIssue { id: 9001, number: 12 });
    vec![
        RepositoryEvent::CommitsPushed {
            workspace_id,
            project_id,
            git_ref: text("refs/heads/main"),
            head_sha: text("b2"),
            commits: vec![text("a1"), text("b2")],
            pusher: Login::new("Dev-1"),
            agent_id,
            pushed_at: noon(),
        },
        RepositoryEvent::DeploymentStatusReported {
            workspace_id,
            project_id,
            deployment_id: 5,
            status_id: 6,
            state: DeploymentState::InProgress,
            sha: text("b2"),
            environment: text("production"),
            reported_at: noon(),
        },
        RepositoryEvent::IssueCommented {
            workspace_id,
            project_id,
            comment_id: 6,
            issue_number: 12,
            url: text("https://github.com/acme/shop/issues/12#issuecomment-6"),
            author: Login::new("ada"),
            body: text("How far is it?"),
            task_id: Some(id(11)),
            agent_id,
            commented_at: noon(),
        },
        RepositoryEvent::IssueAssigned {
            workspace_id,
            project_id,
            issue,
            url: text("https://github.com/acme/shop/issues/12"),
            title: text("Add a basket"),
            assignee: Login::new("Dev-1"),
            agent_id,
            repository: text("acme/shop"),
            assigned_at: noon(),
        },
        RepositoryEvent::IssueLabelled {
            workspace_id,
            project_id,
            issue,
            labels: vec![text("bug")],
            labelled_at: noon(),
        },
    ]
}
