//! Ask for a rebase.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::TaskId;

/// Takes a task out of review until it follows the epic's branch again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTaskRebase {
    /// The task whose merge moved the branch, if one did.
    pub merged_task_id: Option<TaskId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: RequestTaskRebase) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.in_epic()?;
    if factory.state == TaskState::NeedsRebase {
        return Ok(vec![]);
    }
    factory.may_become(TaskState::NeedsRebase)?;
    let RequestTaskRebase { merged_task_id, now } = command;
    Ok(vec![TaskEvent::TaskRebaseRequested { merged_task_id, requested_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{history_in, rebase_requested};
    use super::*;
    use crate::examples::{at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn request() -> TaskCommand {
        let request = RequestTaskRebase { merged_task_id: Some(id(61)), now: at(4) };
        TaskCommand::Factory(FactoryCommand::RequestRebase(request))
    }

    #[test]
    fn what_waits_for_review_or_could_not_be_merged_is_rebased_first() {
        for from in [TaskState::PendingReview, TaskState::Approved] {
            given::<Task>(history_in(from)).when(request()).then_expect_events(vec![rebase_requested()]);
        }
        given::<Task>(history_in(TaskState::NeedsRebase)).when(request()).then_expect_events(vec![]);
    }

    #[test]
    fn nothing_else_is() {
        for from in [TaskState::Pending, TaskState::InProgress, TaskState::Completed, TaskState::Failed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::NeedsRebase };
            given::<Task>(history_in(from)).when(request()).then_expect_error(refusal);
        }
    }
}
