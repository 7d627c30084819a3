//! Changes a task of the caller's: its details, who has it, and how far it has come.

use domain::task::{self, Task, TaskCommand};
use domain::{AgentId, TaskId};

use super::{Given, admit_owner, rely_on_agent};
use crate::{Decision, Desk, Stop};

/// New details, another agent or another status for a task.
#[derive(Debug, Clone)]
pub struct ChangeTask {
    /// Which task.
    pub task_id: TaskId,
    /// The agent that is to have it.
    pub agent_id: Option<AgentId>,
    /// What else is asked, and by whom; its agent is looked up here.
    pub change: task::ChangeTask,
}

impl Decision for ChangeTask {
    type Outcome = Given;

    fn name(&self) -> &'static str {
        "task.update"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Given, Stop> {
        admit_owner(desk, self.change.by, self.task_id).await?;
        let agent = match self.agent_id {
            Some(agent_id) => Some(rely_on_agent(desk, self.change.by, agent_id).await?),
            None => None,
        };
        let given = Given::to(self.task_id, agent.as_ref());
        let change = task::ChangeTask { agent, ..self.change.clone() };
        desk.run::<Task>(self.task_id.0, TaskCommand::Change(Box::new(change))).await?;
        Ok(given)
    }
}
