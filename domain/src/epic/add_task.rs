//! Add a task to an epic.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent};
use crate::{AgentId, TaskId};

/// Lets the supervisor add a task to its epic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddEpicTask {
    /// Who asks.
    pub by: AgentId,
    /// The task.
    pub task_id: TaskId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: AddEpicTask) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    live.supervised_by(command.by)?;
    live.in_progress()?;
    if live.open_tasks.contains(&command.task_id) {
        return Ok(vec![]);
    }
    Ok(vec![EpicEvent::EpicTaskAdded { task_id: command.task_id, added_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{added, appointed, created, submitted};
    use super::*;
    use crate::epic::{EpicCommand, EpicState};
    use crate::examples::{at, given, id};

    fn add(by: u128) -> EpicCommand {
        EpicCommand::AddTask(AddEpicTask { by: id(by), task_id: id(60), now: at(2) })
    }

    #[test]
    fn its_supervisor_adds_tasks_to_an_epic() {
        given::<Epic>([created(), appointed()]).when(add(32)).then_expect_events(vec![added(60)]);
        given::<Epic>([created(), appointed(), added(60)]).when(add(32)).then_expect_events(vec![]);
        given::<Epic>([created(), appointed()]).when(add(30)).then_expect_error(EpicError::NotSupervisor);
    }

    #[test]
    fn nothing_is_added_while_a_human_reviews() {
        given::<Epic>([created(), appointed(), submitted()])
            .when(add(32))
            .then_expect_error(EpicError::NotInProgress(EpicState::AwaitingHumanReview));
    }
}
