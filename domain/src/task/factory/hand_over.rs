//! Hand a task over to its worker's successor.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Gives a task to the worker that takes a dead one's seat.
///
/// What waits for others goes on waiting: only what was being worked on is worked on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOverTask {
    /// The successor.
    pub to: AgentId,
    /// Whether the worker before died, which counts.
    pub after_death: bool,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: HandOverTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let factory = live.in_epic()?;
    if live.assigned_agent_id == Some(command.to) {
        return Ok(vec![]);
    }
    if factory.state.is_over() {
        return Err(TaskError::InvalidFactoryTransition { from: factory.state, to: TaskState::InProgress });
    }
    Ok(vec![TaskEvent::TaskHandedOver {
        from_agent_id: live.assigned_agent_id,
        to_agent_id: command.to,
        attempts: factory.attempts + u32::from(command.after_death),
        handed_over_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{handed_over, history_in, place};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};
    use crate::{Demand, Entity};

    fn hand_over() -> TaskCommand {
        let command = HandOverTask { to: id(31), after_death: true, now: at(7) };
        TaskCommand::Factory(FactoryCommand::HandOver(command))
    }

    #[test]
    fn a_dead_workers_task_goes_on_with_its_successor_and_the_death_counts() {
        let history = history_in(TaskState::InProgress);
        given::<Task>(history.clone()).when(hand_over()).then_expect_events(vec![handed_over()]);
        let before: Task = after(history.clone());
        let places = before.demands(&handed_over());
        assert!(matches!(&places[..], [Demand::Release(of), Demand::Take { claim, .. }]
            if *of == place(id(30)) && *claim == place(id(31))));
        let task: Task = after([history, vec![handed_over()]].concat());
        let live = task.live().expect("a task");
        assert_eq!((live.assigned_agent_id, live.in_epic().map(|it| it.attempts)), (Some(id(31)), Ok(1)));
    }

    #[test]
    fn what_waits_for_others_goes_on_waiting() {
        use TaskState::{Approved, InProgress, NeedsRebase, Pending, PendingReview};
        for (from, then) in [
            (Pending, InProgress),
            (InProgress, InProgress),
            (PendingReview, PendingReview),
            (NeedsRebase, NeedsRebase),
            (Approved, Approved),
        ] {
            let task: Task = after([history_in(from), vec![handed_over()]].concat());
            assert_eq!(task.live().and_then(|it| it.in_epic()).map(|it| it.state), Ok(then), "{from}");
        }
    }

    #[test]
    fn what_is_over_is_not_handed_over() {
        for from in [TaskState::Completed, TaskState::Failed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::InProgress };
            given::<Task>(history_in(from)).when(hand_over()).then_expect_error(refusal);
        }
    }
}
