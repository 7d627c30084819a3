//! Make a task part of an epic.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent};
use crate::{EpicId, WorktreeName};

/// Makes a task that was just created part of an epic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddTaskToEpic {
    /// Which epic.
    pub epic_id: EpicId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: AddTaskToEpic) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    match &live.factory {
        Some(factory) if factory.epic_id == command.epic_id => Ok(vec![]),
        Some(factory) => Err(TaskError::InEpic(factory.epic_id)),
        // What somebody has, or what is over, was never a supervisor's to give.
        None if live.assigned_agent_id.is_some() || live.status.is_over() => Err(TaskError::AlreadyExists),
        None => Ok(vec![TaskEvent::TaskAddedToEpic {
            epic_id: command.epic_id,
            worktree_name: WorktreeName::of_task(live.task_id, &live.title),
            added_at: command.now,
        }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{added, assigned, completed, created};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};
    use crate::{Demand, Entity};

    fn add(epic: u128) -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::AddToEpic(AddTaskToEpic { epic_id: id(epic), now: at(0) }))
    }

    #[test]
    fn a_new_task_becomes_part_of_an_epic_and_gets_a_worktree_of_its_own() {
        given::<Task>([created()]).when(add(70)).then_expect_events(vec![added()]);
        let name = WorktreeName::of_task(id(60), "Add a basket");
        let take = Demand::Take { claim: name.claim(), or: TaskError::WorktreeTaken(name) };
        assert_eq!(after::<Task>([created()]).demands(&added()), [take]);
    }

    #[test]
    fn a_task_is_part_of_one_epic_for_ever() {
        given::<Task>([created(), added()]).when(add(70)).then_expect_events(vec![]);
        given::<Task>([created(), added()]).when(add(71)).then_expect_error(TaskError::InEpic(id(70)));
    }

    #[test]
    fn what_somebody_has_or_what_is_over_is_not_taken_into_an_epic() {
        for history in [vec![created(), assigned()], vec![created(), completed()]] {
            given::<Task>(history).when(add(70)).then_expect_error(TaskError::AlreadyExists);
        }
    }
}
