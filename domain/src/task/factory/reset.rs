//! Let a task begin anew after its supervisor died.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};

/// Puts a task back to the beginning, with the deaths of its workers forgotten and its worktree kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetTask {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// The table: what is being done begins anew, what waits for review or is over stays.
pub(super) fn decide(task: &Task, command: ResetTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let from = live.in_epic()?.state;
    // One that waits keeps its state, but not its worker: that died with the supervisor.
    let is_reset = from.is_reset_with_supervisor() || (from == TaskState::Pending && live.assigned_agent_id.is_some());
    if !is_reset {
        return Ok(vec![]);
    }
    Ok(vec![TaskEvent::TaskReset { from, previous_agent_id: live.assigned_agent_id, reset_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{created, handed_over, history_in};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::task::{FactoryCommand, TaskCommand, TaskStatus};

    fn reset() -> TaskCommand {
        TaskCommand::Factory(FactoryCommand::Reset(ResetTask { now: at(8) }))
    }

    #[test]
    fn the_table_of_resets_row_by_row() {
        use TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};
        for (from, then) in [
            (Completed, Completed),
            (PendingReview, PendingReview),
            (InProgress, Pending),
            (NeedsRebase, Pending),
            (Approved, Pending),
            (Failed, Failed),
            (Pending, Pending),
        ] {
            let history = history_in(from);
            let events = decide(&after(history.clone()), ResetTask { now: at(8) }).expect("a reset");
            let task: Task = after([history, events].concat());
            assert_eq!(task.live().and_then(|it| it.in_epic()).map(|it| it.state), Ok(then), "{from}");
        }
    }

    #[test]
    fn a_reset_task_is_nobodys_and_no_death_counts() {
        let history = [history_in(TaskState::InProgress), vec![handed_over()]].concat();
        let events = decide(&after(history.clone()), ResetTask { now: at(8) }).expect("a reset");
        let task: Task = after([history, events].concat());
        let live = task.live().expect("a task");
        assert_eq!((live.status, live.assigned_agent_id, live.started_at), (TaskStatus::Backlog, None, None));
        assert_eq!(live.in_epic().map(|it| it.attempts), Ok(0));
    }

    #[test]
    fn what_is_in_no_epic_is_not_reset() {
        given::<Task>([created()]).when(reset()).then_expect_error(TaskError::NotInEpic);
    }
}
