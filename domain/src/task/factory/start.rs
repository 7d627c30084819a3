//! Start a task of an epic.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;
use crate::task;

/// Lets the worker of a task work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartFactoryTask {
    /// Who asks.
    pub by: AgentId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: StartFactoryTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let factory = live.of_worker(command.by)?;
    match factory.state {
        TaskState::InProgress => Ok(vec![]),
        TaskState::Pending => Ok(vec![task::start::started(live, None, command.now)]),
        // From review only the supervisor sends it back.
        from @ (TaskState::PendingReview
        | TaskState::NeedsRebase
        | TaskState::Approved
        | TaskState::Completed
        | TaskState::Failed) => Err(TaskError::InvalidFactoryTransition { from, to: TaskState::InProgress }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{added, assigned_by_supervisor, created, history_in};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand, TaskStatus};

    fn start(by: u128) -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::Start(StartFactoryTask { by: id(by), now: at(2) }))
    }

    #[test]
    fn its_worker_starts_a_task() {
        let task: Task = after(history_in(TaskState::InProgress));
        let live = task.live().expect("a task");
        assert_eq!((live.status, live.started_at), (TaskStatus::InProgress, Some(at(2))));
        given::<Task>(history_in(TaskState::InProgress)).when(start(30)).then_expect_events(vec![]);
    }

    #[test]
    fn nobody_else_does() {
        let waiting = [created(), added(), assigned_by_supervisor()];
        given::<Task>(waiting).when(start(31)).then_expect_error(TaskError::AccessDenied);
    }

    #[test]
    fn a_worker_does_not_take_its_task_back_from_review() {
        for from in [TaskState::PendingReview, TaskState::NeedsRebase, TaskState::Approved, TaskState::Completed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::InProgress };
            given::<Task>(history_in(from)).when(start(30)).then_expect_error(refusal);
        }
    }
}
