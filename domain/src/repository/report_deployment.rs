//! Report how a deployment stands.

use chrono::{DateTime, Utc};

use super::{DeploymentState, Repository, RepositoryEvent, RepositoryOf};

/// Takes note of a deployment's status. Told apart by the status's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDeployment {
    /// Where.
    pub of: RepositoryOf,
    /// GitHub's id of the deployment.
    pub deployment_id: i64,
    /// GitHub's id of this status of it.
    pub status_id: i64,
    /// How it stands.
    pub state: DeploymentState,
    /// The commit that is deployed.
    pub sha: String,
    /// Where to.
    pub environment: String,
    /// When it happened.
    pub reported_at: DateTime<Utc>,
}

pub(crate) fn decide(repository: &Repository, command: ReportDeployment) -> Option<RepositoryEvent> {
    let is_news = repository.deployment_statuses.is_news(&command.status_id);
    is_news.then_some(RepositoryEvent::DeploymentStatusReported {
        workspace_id: command.of.workspace_id,
        project_id: command.of.project_id,
        deployment_id: command.deployment_id,
        status_id: command.status_id,
        state: command.state,
        sha: command.sha,
        environment: command.environment,
        reported_at: command.reported_at,
    })
}
