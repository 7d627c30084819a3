//! Change a task as its owner.

use chrono::{DateTime, Utc};

use super::{
    Assigner, BlockTask, CompletionCause, LiveTask, Priority, Task, TaskError, TaskEvent, TaskStatus, assign, block,
    complete, start,
};
use crate::agent::LiveAgent;
use crate::difference::differing;
use crate::{Settings, Severity, UserId};

/// Gives a task new details, another agent or another status; what is not given stays.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeTask {
    /// Who asks.
    pub by: UserId,
    /// The title wanted.
    pub title: Option<String>,
    /// The description wanted.
    pub description: Option<String>,
    /// The priority wanted.
    pub priority: Option<Priority>,
    /// The deadline wanted.
    pub deadline: Option<DateTime<Utc>>,
    /// The success criteria wanted, all of them.
    pub success_criteria: Option<Vec<String>>,
    /// The metadata wanted, all of it.
    pub metadata: Option<Settings>,
    /// The agent that is to have it.
    pub agent: Option<LiveAgent>,
    /// The status wanted, once the agent has it.
    pub status: Option<TaskStatus>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: ChangeTask) -> Result<Vec<TaskEvent>, TaskError> {
    let mut live = task.live()?.clone();
    let mut events = vec![];
    let ChangeTask { by, agent, status, now, .. } = command.clone();
    if let Some(event) = new_details(&live, command) {
        live.apply(event.clone());
        events.push(event);
    }
    if agent.is_some() || differing(status, &live.status).is_some() {
        live.outside_epics()?;
    }
    if let Some(agent) = agent {
        if status == Some(TaskStatus::Backlog) {
            // Nobody has a task of the backlog.
            return Err(TaskError::InvalidTransition { from: TaskStatus::Assigned, to: TaskStatus::Backlog });
        }
        if let Some(event) = assign::assigned(&live, &agent, Assigner::User(by), now)? {
            live.apply(event.clone());
            events.push(event);
        }
    }
    if let Some(to) = differing(status, &live.status) {
        live.may_become(to)?;
        events.push(moved(&live, to, now)?);
    }
    Ok(events)
}

fn new_details(live: &LiveTask, command: ChangeTask) -> Option<TaskEvent> {
    let title = differing(command.title, &live.title);
    let description = differing(command.description, &live.description);
    let priority = differing(command.priority, &live.priority);
    let deadline = differing(command.deadline, &live.deadline);
    let success_criteria = differing(command.success_criteria, &live.success_criteria);
    let metadata = differing(command.metadata, &live.metadata);
    let changed = title.is_some()
        || description.is_some()
        || priority.is_some()
        || deadline.is_some()
        || success_criteria.is_some()
        || metadata.is_some();
    changed.then_some(TaskEvent::TaskDetailsChanged {
        title,
        description,
        priority,
        deadline,
        success_criteria,
        metadata,
        changed_at: command.now,
    })
}

fn moved(live: &LiveTask, to: TaskStatus, now: DateTime<Utc>) -> Result<TaskEvent, TaskError> {
    let (agent_id, title) = (live.assigned_agent_id, live.title.clone());
    Ok(match to {
        TaskStatus::Backlog => TaskEvent::TaskReturned { previous_agent_id: agent_id, title, returned_at: now },
        TaskStatus::Assigned if agent_id.is_none() => {
            return Err(TaskError::InvalidTransition { from: live.status, to });
        }
        TaskStatus::Assigned => TaskEvent::TaskPaused { agent_id, title, paused_at: now },
        TaskStatus::InProgress => start::started(live, None, now),
        TaskStatus::Blocked => block::blocked(live, blocked_by_owner(live, now)?),
        TaskStatus::Completed => complete::completed(live, CompletionCause::Owner, None, vec![], now),
        TaskStatus::Cancelled => TaskEvent::TaskCancelled { agent_id, title, cancelled_at: now },
    })
}

/// The owner gives no reason, and needs to be told of none.
fn blocked_by_owner(live: &LiveTask, now: DateTime<Utc>) -> Result<BlockTask, TaskError> {
    Ok(BlockTask {
        by: live.assigned_agent_id.ok_or(TaskError::AccessDenied)?,
        session_id: None,
        blocker: "Blocked by the owner".to_owned(),
        severity: Severity::Medium,
        requires_attention: false,
        now,
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{
        assigned, blocked, cancelled, change, completed, created, dev, dev_two, place, started,
    };
    use super::TaskStatus::{Assigned, Backlog, Blocked, Cancelled, Completed, InProgress};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::TaskCommand;
    use crate::{Demand, Entity};

    fn history(status: TaskStatus) -> Vec<TaskEvent> {
        match status {
            Backlog => vec![created()],
            Assigned => vec![created(), assigned()],
            InProgress => vec![created(), assigned(), started()],
            Blocked => vec![created(), assigned(), started(), blocked()],
            Completed => vec![created(), assigned(), started(), completed()],
            Cancelled => vec![created(), assigned(), cancelled()],
        }
    }

    #[test]
    fn the_owner_makes_every_legal_move_and_no_other() {
        for from in TaskStatus::ALL {
            for to in TaskStatus::ALL {
                let task: Task = after(history(from));
                let moved = decide(&task, ChangeTask { status: Some(to), ..change() });
                let refusal = TaskError::InvalidTransition { from, to };
                if from == to {
                    assert_eq!(moved, Ok(vec![]), "{from} to {to}");
                } else if !from.may_become(to) || (from, to) == (Backlog, Assigned) {
                    // From the backlog a task is assigned to somebody, not just assigned.
                    assert_eq!(moved, Err(refusal), "{from} to {to}");
                } else {
                    let task: Task = after([history(from), moved.expect("a move")].concat());
                    assert_eq!(task.live().map(|live| live.status), Ok(to), "{from} to {to}");
                }
            }
        }
    }

    #[test]
    fn each_detail_changes_on_its_own_and_only_once() {
        let metadata = serde_json::json!({ "epic": 1 }).as_object().cloned();
        for command in [
            ChangeTask { title: Some("Sell".to_owned()), ..change() },
            ChangeTask { description: Some("More".to_owned()), ..change() },
            ChangeTask { priority: Some(Priority::P0), ..change() },
            ChangeTask { deadline: Some(at(99)), ..change() },
            ChangeTask { success_criteria: Some(vec![]), ..change() },
            ChangeTask { metadata, ..change() },
            ChangeTask { agent: Some(dev()), ..change() },
            ChangeTask { status: Some(Cancelled), ..change() },
        ] {
            let events = decide(&after([created()]), command.clone()).expect("a change");
            assert_eq!(events.len(), 1, "{command:?}");
            let again = decide(&after([vec![created()], events].concat()), command);
            assert_eq!(again, Ok(vec![]));
        }
    }

    #[test]
    fn a_new_agent_comes_before_a_new_status() {
        let command = ChangeTask { agent: Some(dev()), status: Some(InProgress), ..change() };
        let events = decide(&after([created()]), command).expect("a change");
        assert!(matches!(events[..], [TaskEvent::TaskAssigned { .. }, TaskEvent::TaskStarted { .. }]));
    }

    #[test]
    fn nobody_has_a_task_of_the_backlog() {
        let command = ChangeTask { agent: Some(dev()), status: Some(Backlog), ..change() };
        given::<Task>([created()])
            .when(TaskCommand::Change(Box::new(command)))
            .then_expect_error(TaskError::InvalidTransition { from: Assigned, to: Backlog });
        let returned = decide(&after(history(Blocked)), ChangeTask { status: Some(Backlog), ..change() });
        let task: Task = after([history(Blocked), returned.expect("a return")].concat());
        let live = task.live().expect("a task");
        assert_eq!((live.assigned_agent_id, live.assigned_at, live.started_at), (None, None, None));
    }

    #[test]
    fn the_details_of_a_task_that_is_over_still_change_but_not_its_agent() {
        let task: Task = after(history(Completed));
        let title = ChangeTask { title: Some("Sell".to_owned()), ..change() };
        assert_eq!(decide(&task, title).map(|events| events.len()), Ok(1));
        let agent = ChangeTask { agent: Some(dev_two()), ..change() };
        assert_eq!(decide(&task, agent), Err(TaskError::InvalidTransition { from: Completed, to: Assigned }));
    }

    #[test]
    fn a_returned_task_leaves_its_agent_and_stays_in_its_project() {
        let task: Task = after(history(InProgress));
        let events = decide(&task, ChangeTask { status: Some(Backlog), ..change() }).expect("a return");
        assert_eq!(task.demands(&events[0]), [Demand::Release(place(id(30)))]);
    }

    #[test]
    fn a_task_that_is_not_there_is_not_found() {
        given::<Task>([]).when(TaskCommand::Change(Box::new(change()))).then_expect_error(TaskError::NotFound);
    }
}
