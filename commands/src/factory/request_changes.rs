//! Lets a supervisor send the first pull request of its queue back.

use domain::epic::{Epic, EpicCommand, LeaveReview, LeftBecause};
use domain::post::AgentKind;
use domain::task::{self, FactoryCommand, Task, TaskCommand};
use domain::{AgentId, TaskId};

use super::{acting, epic_at, letters};
use crate::{Decision, Desk, Stop};

/// What a supervisor wants before it merges.
#[derive(Debug, Clone)]
pub struct RequestChanges {
    /// Who asks: the epic is its post's.
    pub by: AgentId,
    /// Which task.
    pub task_id: TaskId,
    /// What is wanted.
    pub feedback: String,
}

impl Decision for RequestChanges {
    type Outcome = TaskId;

    fn name(&self) -> &'static str {
        "factory.requestChanges"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<TaskId, Stop> {
        let post = acting(desk, self.by, AgentKind::Supervisor).await?;
        let epic = epic_at(desk, &post).await?;
        epic.in_progress()?;
        let task = super::task(desk, self.task_id).await?;
        if task.in_epic()?.epic_id != epic.epic_id {
            return Err(task::TaskError::AccessDenied.into());
        }
        let now = desk.now();
        let request = task::RequestTaskChanges { by: self.by, feedback: self.feedback.clone(), now };
        desk.run::<Task>(self.task_id.0, TaskCommand::Factory(FactoryCommand::RequestChanges(request))).await?;
        epic.reviews(self.task_id)?;
        let leave = LeaveReview { task_id: self.task_id, because: LeftBecause::Changes, now };
        desk.run::<Epic>(epic.epic_id.0, EpicCommand::LeaveReview(leave)).await?;
        letters::changes_requested(desk, &epic, &task, &self.feedback).await?;
        Ok(self.task_id)
    }
}
