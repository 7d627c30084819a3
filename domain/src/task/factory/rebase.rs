//! Record that a task was rebased.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Records that a task's branch follows the epic's again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebaseTask {
    /// Who rebased it.
    pub by: AgentId,
    /// The commit that it ends with now, where it is known.
    pub head: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: RebaseTask) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.of_worker(command.by)?;
    if factory.state != TaskState::NeedsRebase {
        return Err(TaskError::InvalidFactoryTransition { from: factory.state, to: TaskState::PendingReview });
    }
    Ok(vec![TaskEvent::TaskRebased { agent_id: command.by, head: command.head, rebased_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{history_in, rebased};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn rebase(by: u128) -> TaskCommand {
        let head = Some("def456".to_owned());
        TaskCommand::Factory(FactoryCommand::Rebase(RebaseTask { by: id(by), head, now: at(5) }))
    }

    #[test]
    fn a_rebased_task_waits_for_review_again() {
        let history = history_in(TaskState::NeedsRebase);
        given::<Task>(history.clone()).when(rebase(30)).then_expect_events(vec![rebased()]);
        given::<Task>(history.clone()).when(rebase(31)).then_expect_error(TaskError::AccessDenied);
        let task: Task = after([history, vec![rebased()]].concat());
        let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
        assert_eq!((factory.state, factory.submitted_at), (TaskState::PendingReview, Some(at(5))));
    }

    #[test]
    fn only_what_needs_a_rebase_gets_one() {
        for from in TaskState::ALL.into_iter().filter(|it| *it != TaskState::NeedsRebase) {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview };
            given::<Task>(history_in(from)).when(rebase(30)).then_expect_error(refusal);
        }
    }
}
