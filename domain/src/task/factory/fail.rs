//! Give a task of an epic up.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};

/// Says that a task needs a human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailTask {
    /// Why.
    pub reason: String,
    /// The files that a rebase could not join, if that is why.
    pub conflict_files: Vec<String>,
    /// Whether its worker died, which counts.
    pub after_death: bool,
    /// Whether its epic is given up, and it with that.
    pub with_epic: bool,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: FailTask) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.in_epic()?;
    if factory.state == TaskState::Failed {
        return Ok(vec![]);
    }
    factory.may_become(TaskState::Failed)?;
    let FailTask { reason, conflict_files, after_death, with_epic, now } = command;
    let attempts = factory.attempts + u32::from(after_death);
    Ok(vec![TaskEvent::TaskFailed { reason, conflict_files, attempts, with_epic, failed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{failed, history_in};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::task::{FactoryCommand, TaskCommand, TaskStatus};

    fn fail() -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::Fail(FailTask {
            reason: "Its rebase conflicts".to_owned(),
            conflict_files: vec!["cart.rs".to_owned()],
            after_death: false,
            with_epic: false,
            now: at(9),
        }))
    }

    #[test]
    fn a_failed_task_is_blocked_and_holds_nothing() {
        for from in TaskState::ALL.into_iter().filter(|it| !it.is_over()) {
            given::<Task>(history_in(from)).when(fail()).then_expect_events(vec![failed()]);
            let task: Task = after([history_in(from), vec![failed()]].concat());
            let live = task.live().expect("a task");
            assert_eq!((live.status, live.places()), (TaskStatus::Blocked, vec![]));
        }
    }

    #[test]
    fn what_is_over_does_not_fail() {
        given::<Task>(history_in(TaskState::Failed)).when(fail()).then_expect_events(vec![]);
        let refusal = TaskError::InvalidFactoryTransition { from: TaskState::Completed, to: TaskState::Failed };
        given::<Task>(history_in(TaskState::Completed)).when(fail()).then_expect_error(refusal);
    }
}
