//! What GitHub tells of the repository of project 20, to test with.

use super::{
    AssignIssue, CommentOnIssue, DeploymentState, LabelIssue, PushCommits, ReportDeployment, RepositoryCommand,
    RepositoryEvent, RepositoryOf,
};
use crate::examples::{at, id};
use crate::github::Login;
use crate::task::GithubIssue;

/// One report of every kind, and what it becomes.
pub(super) fn every_report() -> Vec<(RepositoryCommand, RepositoryEvent)> {
    let of = RepositoryOf { workspace_id: id(10), project_id: id(20) };
    let (workspace_id, project_id) = (of.workspace_id, of.project_id);
    let issue = GithubIssue { id: 9001, number: 12 };
    let (agent_id, task_id) = (Some(id(30)), Some(id(60)));
    let text = str::to_owned;
    vec![
        (
            RepositoryCommand::Push(PushCommits {
                of,
                git_ref: text("refs/heads/main"),
                head_sha: text("b2"),
                commits: vec![text("a1"), text("b2")],
                pusher: Login::new("dev-1"),
                agent_id,
                pushed_at: at(1),
            }),
            RepositoryEvent::CommitsPushed {
                workspace_id,
                project_id,
                git_ref: text("refs/heads/main"),
                head_sha: text("b2"),
                commits: vec![text("a1"), text("b2")],
                pusher: Login::new("dev-1"),
                agent_id,
                pushed_at: at(1),
            },
        ),
        (
            RepositoryCommand::ReportDeployment(ReportDeployment {
                of,
                deployment_id: 5,
                status_id: 6,
                state: DeploymentState::Failure,
                sha: text("b2"),
                environment: text("production"),
                reported_at: at(2),
            }),
            RepositoryEvent::DeploymentStatusReported {
                workspace_id,
                project_id,
                deployment_id: 5,
                status_id: 6,
                state: DeploymentState::Failure,
                sha: text("b2"),
                environment: text("production"),
                reported_at: at(2),
            },
        ),
        (
            RepositoryCommand::Comment(CommentOnIssue {
                of,
                comment_id: 6,
                issue_number: 12,
                url: text("https://github.com/acme/shop/issues/12#issuecomment-6"),
                author: Login::new("ada"),
                body: text("How far is it?"),
                task_id,
                agent_id,
                commented_at: at(3),
            }),
            RepositoryEvent::IssueCommented {
                workspace_id,
                project_id,
                comment_id: 6,
                issue_number: 12,
                url: text("https://github.com/acme/shop/issues/12#issuecomment-6"),
                author: Login::new("ada"),
                body: text("How far is it?"),
                task_id,
                agent_id,
                commented_at: at(3),
            },
        ),
        (
            RepositoryCommand::AssignIssue(AssignIssue {
                of,
                issue,
                url: text("https://github.com/acme/shop/issues/12"),
                title: text("Add a basket"),
                assignee: Login::new("dev-1"),
                agent_id,
                repository: text("acme/shop"),
                assigned_at: at(4),
            }),
            RepositoryEvent::IssueAssigned {
                workspace_id,
                project_id,
                issue,
                url: text("https://github.com/acme/shop/issues/12"),
                title: text("Add a basket"),
                assignee: Login::new("dev-1"),
                agent_id,
                repository: text("acme/shop"),
                assigned_at: at(4),
            },
        ),
        (
            RepositoryCommand::LabelIssue(LabelIssue { of, issue, labels: vec![text("bug")], labelled_at: at(4) }),
            RepositoryEvent::IssueLabelled {
                workspace_id,
                project_id,
                issue,
                labels: vec![text("bug")],
                labelled_at: at(4),
            },
        ),
    ]
}
