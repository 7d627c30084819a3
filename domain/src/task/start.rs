//! Start a task, or take it up again.

use chrono::{DateTime, Utc};

use super::{LiveTask, Task, TaskError, TaskEvent, TaskStatus};
use crate::{AgentId, SessionId};

/// Lets the agent that has a task work on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartTask {
    /// Who asks.
    pub by: AgentId,
    /// Under which session.
    pub session_id: Option<SessionId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: StartTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.of(command.by)?;
    live.outside_epics()?;
    if live.status == TaskStatus::InProgress {
        return Ok(vec![]);
    }
    live.may_become(TaskStatus::InProgress)?;
    Ok(vec![started(live, command.session_id, command.now)])
}

pub(super) fn started(task: &LiveTask, session_id: Option<SessionId>, now: DateTime<Utc>) -> TaskEvent {
    TaskEvent::TaskStarted { agent_id: task.assigned_agent_id, session_id, title: task.title.clone(), started_at: now }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, blocked, cancelled, completed, created, started};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, at, given, id};
    use crate::session::lease;
    use crate::task::TaskCommand;

    fn start(by: u128) -> TaskCommand {
        TaskCommand::Start(StartTask { by: id(by), session_id: Some(id(50)), now: at(2) })
    }

    #[test]
    fn an_agent_starts_its_task() {
        given::<Task>([created(), assigned()]).when(start(30)).then_expect_events(vec![started()]);
    }

    #[test]
    fn starting_a_task_twice_changes_nothing() {
        given::<Task>([created(), assigned(), started()]).when(start(30)).then_expect_events(vec![]);
    }

    #[test]
    fn a_blocked_task_is_taken_up_again_and_its_first_start_counts() {
        let history = [created(), assigned(), started(), blocked()];
        let again = StartTask { by: id(30), session_id: None, now: at(9) };
        let events = decide(&after(history.clone()), again).expect("a start");
        let task: Task = after([&history[..], &events].concat());
        assert_eq!(task.live().map(|live| (live.status, live.started_at)), Ok((TaskStatus::InProgress, Some(at(2)))));
    }

    #[test]
    fn an_agent_moves_only_tasks_that_it_has() {
        given::<Task>([created(), assigned()]).when(start(31)).then_expect_error(TaskError::AccessDenied);
        given::<Task>([created()]).when(start(30)).then_expect_error(TaskError::AccessDenied);
        given::<Task>([]).when(start(30)).then_expect_error(TaskError::NotFound);
    }

    #[test]
    fn a_task_that_is_over_does_not_start() {
        for (end, from) in [(completed(), TaskStatus::Completed), (cancelled(), TaskStatus::Cancelled)] {
            let refusal = TaskError::InvalidTransition { from, to: TaskStatus::InProgress };
            given::<Task>([created(), assigned(), end]).when(start(30)).then_expect_error(refusal);
        }
    }

    #[test]
    fn a_task_started_under_a_session_needs_that_session() {
        let demands = after::<Task>([created(), assigned()]).demands(&started());
        assert_eq!(demands, [lease(id(30), id(50), TaskError::SessionOver(id(50)))]);
    }
}
