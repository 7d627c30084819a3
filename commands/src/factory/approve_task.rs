//! Lets a supervisor approve the first pull request of its queue.

use domain::errand::Work;
use domain::post::AgentKind;
use domain::task::{self, FactoryCommand, Task, TaskCommand};
use domain::{AgentId, ErrandId, TaskId};

use super::{acting, epic_at, errands};
use crate::{Decision, Desk, Stop};

/// The approval of a pull request, which is then merged.
#[derive(Debug, Clone)]
pub struct ApproveTask {
    /// Who asks: the epic is its post's.
    pub by: AgentId,
    /// Which task.
    pub task_id: TaskId,
    /// The pull request that was reviewed.
    pub pr_url: String,
}

impl Decision for ApproveTask {
    /// The errand that merges it.
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.approveTask"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let post = acting(desk, self.by, AgentKind::Supervisor).await?;
        // The queue is the epic's: whoever changes it meanwhile makes this be decided again.
        let epic = epic_at(desk, &post).await?;
        epic.in_progress()?;
        let task = super::task(desk, self.task_id).await?;
        let factory = task.in_epic()?;
        if factory.epic_id != epic.epic_id {
            return Err(task::TaskError::AccessDenied.into());
        }
        let approve = task::ApproveTask { by: self.by, pr_url: self.pr_url.clone(), now: desk.now() };
        desk.run::<Task>(self.task_id.0, TaskCommand::Factory(FactoryCommand::Approve(approve))).await?;
        epic.reviews(self.task_id)?;
        errands::order(desk, epic.workspace_id, &epic.bench, Work::Merge { task_id: self.task_id }).await
    }
}
