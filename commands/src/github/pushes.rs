//! News of commits: who pushed them, and how their deployment went.

use domain::repository::{PushCommits, ReportDeployment, Repository, RepositoryCommand, RepositoryOf};

use super::{Deployment, Push, TakeDelivery};
use crate::{Desk, Stop};

impl TakeDelivery {
    pub(super) async fn take_push(&self, desk: &mut Desk<'_>, of: RepositoryOf, it: &Push) -> Result<(), Stop> {
        let push = PushCommits {
            of,
            git_ref: it.git_ref.clone(),
            head_sha: it.head_sha.clone(),
            commits: it.commits.clone(),
            pusher: it.pusher.clone(),
            agent_id: self.agent(desk, of, &it.pusher).await?.map(|agent| agent.agent_id),
            pushed_at: it.pushed_at,
        };
        desk.run::<Repository>(of.project_id.0, RepositoryCommand::Push(push)).await.map(drop)
    }
}

pub(super) async fn take_deployment(desk: &mut Desk<'_>, of: RepositoryOf, it: &Deployment) -> Result<(), Stop> {
    let report = ReportDeployment {
        of,
        deployment_id: it.deployment_id,
        status_id: it.status_id,
        state: it.state,
        sha: it.sha.clone(),
        environment: it.environment.clone(),
        reported_at: it.reported_at,
    };
    desk.run::<Repository>(of.project_id.0, RepositoryCommand::ReportDeployment(report)).await.map(drop)
}
