//! Complete a task.

use chrono::{DateTime, Utc};

use super::{CompletionCause, LiveTask, Task, TaskError, TaskEvent, TaskStatus};
use crate::minutes::minutes_between;
use crate::{AgentId, SessionId};

/// Lets the agent that has a task say that it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteTask {
    /// Who asks.
    pub by: AgentId,
    /// Under which session.
    pub session_id: Option<SessionId>,
    /// Which of its success criteria are met.
    pub success_criteria_met: Vec<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: CompleteTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.of(command.by)?;
    live.outside_epics()?;
    if live.status == TaskStatus::Completed {
        return Ok(vec![]);
    }
    live.may_become(TaskStatus::Completed)?;
    let CompleteTask { by: _, session_id, success_criteria_met, now } = command;
    let event = completed(live, CompletionCause::Agent, session_id, success_criteria_met, now);
    Ok(vec![event])
}

pub(super) fn completed(
    task: &LiveTask,
    cause: CompletionCause,
    session_id: Option<SessionId>,
    success_criteria_met: Vec<String>,
    now: DateTime<Utc>,
) -> TaskEvent {
    TaskEvent::TaskCompleted {
        agent_id: task.assigned_agent_id,
        session_id,
        assigned_by: task.assigned_by.clone(),
        title: task.title.clone(),
        cause,
        success_criteria_met,
        duration_minutes: task.started_at.map_or(0, |started| minutes_between(started, now)),
        completed_at: now,
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, cancelled, completed, created, place, started};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::session::lease;
    use crate::task::TaskCommand;
    use crate::{Demand, Entity, Scope};

    fn complete() -> CompleteTask {
        let success_criteria_met = vec!["It works".to_owned()];
        CompleteTask { by: id(30), session_id: Some(id(50)), success_criteria_met, now: at(62) }
    }

    #[test]
    fn an_agent_completes_its_task_and_the_minutes_since_the_start_count() {
        given::<Task>([created(), assigned(), started()])
            .when(TaskCommand::Complete(complete()))
            .then_expect_events(vec![completed()]);
    }

    #[test]
    fn a_task_that_was_never_started_took_no_time() {
        let events = decide(&after([created(), assigned()]), complete()).expect("a completion");
        assert!(matches!(events[..], [TaskEvent::TaskCompleted { duration_minutes: 0, .. }]));
    }

    #[test]
    fn a_task_is_completed_once() {
        given::<Task>([created(), assigned(), started(), completed()])
            .when(TaskCommand::Complete(complete()))
            .then_expect_events(vec![]);
    }

    #[test]
    fn a_cancelled_task_is_not_completed() {
        let refusal = TaskError::InvalidTransition { from: TaskStatus::Cancelled, to: TaskStatus::Completed };
        given::<Task>([created(), assigned(), cancelled()])
            .when(TaskCommand::Complete(complete()))
            .then_expect_error(refusal);
    }

    #[test]
    fn another_agent_completes_nothing() {
        given::<Task>([created(), assigned()])
            .when(TaskCommand::Complete(CompleteTask { by: id(31), ..complete() }))
            .then_expect_error(TaskError::AccessDenied);
    }

    #[test]
    fn a_completed_task_needs_its_session_and_leaves_project_and_agent() {
        let demands = after::<Task>([created(), assigned(), started()]).demands(&completed());
        assert_eq!(
            demands,
            [
                lease(id(30), id(50), TaskError::SessionOver(id(50))),
                Demand::Release(Scope::project_tasks(id(20)).claim("00000000-0000-0000-0000-00000000003c")),
                Demand::Release(place(id(30))),
            ]
        );
    }
}
