//! Submit a task's pull request for review.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Records that a worker's pull request is there and waits for review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitTask {
    /// Who submits it.
    pub by: AgentId,
    /// Where the pull request is.
    pub pr_url: String,
    /// What it is called.
    pub pr_title: String,
    /// What it does.
    pub pr_description: String,
    /// The commit that is submitted, where it is known.
    pub head: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: SubmitTask) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.of_worker(command.by)?;
    match factory.state {
        TaskState::PendingReview if factory.pr_url.as_ref() == Some(&command.pr_url) => Ok(vec![]),
        TaskState::InProgress => Ok(vec![TaskEvent::TaskSubmitted {
            agent_id: command.by,
            pr_url: command.pr_url,
            pr_title: command.pr_title,
            pr_description: command.pr_description,
            head: command.head,
            submitted_at: command.now,
        }]),
        from @ (TaskState::Pending
        | TaskState::PendingReview
        | TaskState::NeedsRebase
        | TaskState::Approved
        | TaskState::Completed
        | TaskState::Failed) => Err(TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{PR_URL, history_in, submitted};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn submit() -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::Submit(SubmitTask {
            by: id(30),
            pr_url: PR_URL.to_owned(),
            pr_title: "A basket".to_owned(),
            pr_description: "With wheels".to_owned(),
            head: Some("abc123".to_owned()),
            now: at(3),
        }))
    }

    #[test]
    fn a_task_in_progress_is_submitted_once() {
        given::<Task>(history_in(TaskState::InProgress)).when(submit()).then_expect_events(vec![submitted()]);
        given::<Task>(history_in(TaskState::PendingReview)).when(submit()).then_expect_events(vec![]);
        let task: Task = after(history_in(TaskState::PendingReview));
        let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
        assert_eq!((factory.pr_url.as_deref(), factory.submitted_at), (Some(PR_URL), Some(at(3))));
    }

    #[test]
    fn from_anywhere_else_it_is_not() {
        use TaskState::{Approved, Completed, Failed, NeedsRebase, Pending, PendingReview};
        for from in [Pending, NeedsRebase, Approved, Completed, Failed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: PendingReview };
            given::<Task>(history_in(from)).when(submit()).then_expect_error(refusal);
        }
    }
}
