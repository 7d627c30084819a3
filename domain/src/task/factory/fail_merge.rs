//! Send a task whose merge failed back to its supervisor.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};

/// Records that an approved task could not be merged, though nothing in it conflicts: it waits for review again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailTaskMerge {
    /// What went wrong.
    pub error: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: FailTaskMerge) -> Result<Vec<TaskEvent>, TaskError> {
    let from = task.live()?.in_epic()?.state;
    if from != TaskState::Approved {
        return Err(TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview });
    }
    let FailTaskMerge { error, now } = command;
    Ok(vec![TaskEvent::TaskMergeFailed { error, failed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{history_in, merge_failed};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::task::{FactoryCommand, TaskCommand};

    fn fail_merge() -> TaskCommand {
        let error = "The forge refuses".to_owned();
        TaskCommand::Factory(FactoryCommand::FailMerge(FailTaskMerge { error, now: at(7) }))
    }

    #[test]
    fn an_approved_task_whose_merge_failed_waits_for_review_as_long_as_before() {
        let history = history_in(TaskState::Approved);
        given::<Task>(history.clone()).when(fail_merge()).then_expect_events(vec![merge_failed()]);
        let task: Task = after([history, vec![merge_failed()]].concat());
        let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
        assert_eq!((factory.state, factory.submitted_at), (TaskState::PendingReview, Some(at(3))));
        assert!(factory.head.is_some(), "the same commit is reviewed");
    }

    #[test]
    fn nothing_else_was_being_merged() {
        for from in TaskState::ALL.into_iter().filter(|it| *it != TaskState::Approved) {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview };
            given::<Task>(history_in(from)).when(fail_merge()).then_expect_error(refusal);
        }
    }
}
