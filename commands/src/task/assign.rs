//! Gives a task of the caller's to an agent of the caller's.

use domain::task::{self, Task, TaskCommand};
use domain::{AgentId, TaskId, UserId};

use super::{Given, admit_owner, rely_on_agent};
use crate::{Decision, Desk, Stop};

/// Another agent for a task.
#[derive(Debug, Clone, Copy)]
pub struct AssignTask {
    /// Who asks.
    pub by: UserId,
    /// Which task.
    pub task_id: TaskId,
    /// Who gets it.
    pub agent_id: AgentId,
}

impl Decision for AssignTask {
    type Outcome = Given;

    fn name(&self) -> &'static str {
        "task.assign"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Given, Stop> {
        admit_owner(desk, self.by, self.task_id).await?;
        let agent = rely_on_agent(desk, self.by, self.agent_id).await?;
        let given = Given::to(self.task_id, Some(&agent));
        let assign = task::AssignTask { by: self.by, agent, now: desk.now() };
        desk.run::<Task>(self.task_id.0, TaskCommand::Assign(assign)).await?;
        Ok(given)
    }
}
