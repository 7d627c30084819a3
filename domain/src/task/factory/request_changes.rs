//! Send a task back to its worker after a review.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Lets the supervisor say what it wants before it merges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTaskChanges {
    /// Who reviewed it.
    pub by: AgentId,
    /// What is wanted.
    pub feedback: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: RequestTaskChanges) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.in_epic()?;
    if factory.state != TaskState::PendingReview {
        return Err(TaskError::InvalidFactoryTransition { from: factory.state, to: TaskState::InProgress });
    }
    let RequestTaskChanges { by, feedback, now } = command;
    Ok(vec![TaskEvent::TaskChangesRequested { by, feedback, requested_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{changes_requested, history_in};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn request() -> TaskCommand {
        let feedback = "More wheels".to_owned();
        TaskCommand::Factory(FactoryCommand::RequestChanges(RequestTaskChanges { by: id(32), feedback, now: at(4) }))
    }

    #[test]
    fn a_reviewed_task_goes_back_to_its_worker_and_keeps_its_pull_request() {
        let history = history_in(TaskState::PendingReview);
        given::<Task>(history.clone()).when(request()).then_expect_events(vec![changes_requested()]);
        let task: Task = after([history, vec![changes_requested()]].concat());
        let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
        assert_eq!((factory.state, factory.submitted_at), (TaskState::InProgress, None));
        assert!(factory.pr_url.is_some());
    }

    #[test]
    fn only_what_waits_for_review_is_sent_back() {
        for from in TaskState::ALL.into_iter().filter(|it| *it != TaskState::PendingReview) {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::InProgress };
            given::<Task>(history_in(from)).when(request()).then_expect_error(refusal);
        }
    }
}
