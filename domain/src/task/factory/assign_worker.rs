//! Give a task of an epic to its worker.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;
use crate::agent::LiveAgent;
use crate::task::{Assigner, assign};

/// Gives a task that waits to the worker that was made for it.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignWorker {
    /// The supervisor in whose name.
    pub by: AgentId,
    /// The worker.
    pub agent: LiveAgent,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: AssignWorker) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let factory = live.in_epic()?;
    match live.assigned_agent_id {
        Some(agent) if agent == command.agent.agent_id => return Ok(vec![]),
        Some(agent) => return Err(TaskError::HasWorker(agent)),
        None => {}
    }
    if factory.state != TaskState::Pending {
        return Err(TaskError::InvalidFactoryTransition { from: factory.state, to: TaskState::InProgress });
    }
    let event = assign::assigned(live, &command.agent, Assigner::Agent(command.by), command.now)?;
    Ok(event.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{added, assigned_by_supervisor, created, dev, dev_two, failed};
    use super::*;
    use crate::examples::{at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn assign(agent: LiveAgent) -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::AssignWorker(Box::new(AssignWorker { by: id(32), agent, now: at(1) })))
    }

    #[test]
    fn a_task_that_waits_gets_one_worker() {
        given::<Task>([created(), added()]).when(assign(dev())).then_expect_events(vec![assigned_by_supervisor()]);
        let had = [created(), added(), assigned_by_supervisor()];
        given::<Task>(had.clone()).when(assign(dev())).then_expect_events(vec![]);
        given::<Task>(had).when(assign(dev_two())).then_expect_error(TaskError::HasWorker(id(30)));
    }

    #[test]
    fn a_task_that_is_over_or_in_no_epic_gets_no_worker() {
        let refusal = TaskError::InvalidFactoryTransition { from: TaskState::Failed, to: TaskState::InProgress };
        given::<Task>([created(), added(), failed()]).when(assign(dev())).then_expect_error(refusal);
        given::<Task>([created()]).when(assign(dev())).then_expect_error(TaskError::NotInEpic);
    }
}
