//! Say that a task is blocked.

use chrono::{DateTime, Utc};

use super::{LiveTask, Task, TaskError, TaskEvent, TaskStatus};
use crate::{AgentId, SessionId, Severity};

/// Lets the agent that has a task say what is in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTask {
    /// Who asks.
    pub by: AgentId,
    /// Under which session.
    pub session_id: Option<SessionId>,
    /// What is in the way.
    pub blocker: String,
    /// How bad that is.
    pub severity: Severity,
    /// Whether a person must look at it.
    pub requires_attention: bool,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// A blocked task is not blocked anew, though another blocker is named: it must go on first.
pub(crate) fn decide(task: &Task, command: BlockTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.of(command.by)?;
    live.outside_epics()?;
    if live.status == TaskStatus::Blocked {
        return Ok(vec![]);
    }
    live.may_become(TaskStatus::Blocked)?;
    Ok(vec![blocked(live, command)])
}

pub(super) fn blocked(task: &LiveTask, command: BlockTask) -> TaskEvent {
    TaskEvent::TaskBlocked {
        agent_id: task.assigned_agent_id,
        session_id: command.session_id,
        assigned_by: task.assigned_by.clone(),
        title: task.title.clone(),
        blocker: command.blocker,
        severity: command.severity,
        requires_attention: command.requires_attention,
        blocked_at: command.now,
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, blocked, completed, created, started};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, at, given, id};
    use crate::session::lease;
    use crate::task::TaskCommand;

    fn block(by: u128) -> TaskCommand {
        TaskCommand::Block(BlockTask {
            by: id(by),
            session_id: Some(id(50)),
            blocker: "No access".to_owned(),
            severity: Severity::High,
            requires_attention: true,
            now: at(3),
        })
    }

    #[test]
    fn an_agent_says_what_blocks_its_task() {
        for history in [vec![created(), assigned()], vec![created(), assigned(), started()]] {
            given::<Task>(history).when(block(30)).then_expect_events(vec![blocked()]);
        }
    }

    #[test]
    fn a_blocked_task_is_blocked() {
        given::<Task>([created(), assigned(), blocked()]).when(block(30)).then_expect_events(vec![]);
    }

    #[test]
    fn another_agent_blocks_nothing() {
        given::<Task>([created(), assigned()]).when(block(31)).then_expect_error(TaskError::AccessDenied);
    }

    #[test]
    fn a_completed_task_is_not_blocked() {
        let refusal = TaskError::InvalidTransition { from: TaskStatus::Completed, to: TaskStatus::Blocked };
        given::<Task>([created(), assigned(), completed()]).when(block(30)).then_expect_error(refusal);
    }

    #[test]
    fn a_task_blocked_under_a_session_needs_that_session() {
        let demands = after::<Task>([created(), assigned()]).demands(&blocked());
        assert_eq!(demands, [lease(id(30), id(50), TaskError::SessionOver(id(50)))]);
    }
}
