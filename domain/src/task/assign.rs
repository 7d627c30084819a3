//! Assign a task to an agent.

use chrono::{DateTime, Utc};

use super::{Assigner, LiveTask, Task, TaskError, TaskEvent, TaskStatus};
use crate::UserId;
use crate::agent::LiveAgent;

/// Gives a task to an agent; an agent on probation may have it too.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignTask {
    /// Who asks.
    pub by: UserId,
    /// Who gets it.
    pub agent: LiveAgent,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: AssignTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    live.outside_epics()?;
    let event = assigned(live, &command.agent, Assigner::User(command.by), command.now)?;
    Ok(event.into_iter().collect())
}

/// The task in an agent's hands; nothing when they have it already.
pub(super) fn assigned(
    task: &LiveTask,
    agent: &LiveAgent,
    by: Assigner,
    now: DateTime<Utc>,
) -> Result<Option<TaskEvent>, TaskError> {
    if task.assigned_agent_id == Some(agent.agent_id) {
        return Ok(None);
    }
    if task.status.is_over() {
        return Err(TaskError::InvalidTransition { from: task.status, to: TaskStatus::Assigned });
    }
    if !agent.reaches(task.project_id, task.workspace_id) {
        return Err(TaskError::InvalidAgentAssignment);
    }
    if !agent.status.may_work() {
        return Err(TaskError::AgentInactive(agent.status));
    }
    Ok(Some(TaskEvent::TaskAssigned {
        agent_id: agent.agent_id,
        previous_agent_id: task.assigned_agent_id,
        assigned_by: by,
        title: task.title.clone(),
        priority: task.priority,
        deadline: task.deadline,
        assigned_at: now,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, completed, created, dev, dev_two, place, reassigned, started};
    use super::*;
    use crate::agent::AgentStatus;
    use crate::examples::{after, at, given, id};
    use crate::task::TaskCommand;
    use crate::{Demand, Entity};

    fn assign(agent: LiveAgent) -> TaskCommand {
        TaskCommand::Assign(AssignTask { by: id(1), agent, now: at(1) })
    }

    fn refused(agent: LiveAgent, error: TaskError) {
        given::<Task>([created()]).when(assign(agent)).then_expect_error(error);
    }

    #[test]
    fn a_task_from_the_backlog_becomes_assigned() {
        given::<Task>([created()]).when(assign(dev())).then_expect_events(vec![assigned()]);
        let task = after::<Task>([created(), assigned()]).live().expect("a task").clone();
        assert_eq!((task.status, task.assigned_at), (TaskStatus::Assigned, Some(at(1))));
    }

    #[test]
    fn a_task_in_progress_stays_so_in_other_hands() {
        let history = [created(), assigned(), started()];
        given::<Task>(history.clone()).when(assign(dev_two())).then_expect_events(vec![reassigned()]);
        let task: Task = after([&history[..], &[reassigned()]].concat());
        assert_eq!(task.live().map(|live| live.status), Ok(TaskStatus::InProgress));
    }

    #[test]
    fn assigning_a_task_to_the_agent_that_has_it_changes_nothing() {
        for history in [vec![created(), assigned()], vec![created(), assigned(), started(), completed()]] {
            given::<Task>(history).when(assign(dev())).then_expect_events(vec![]);
        }
    }

    #[test]
    fn an_agent_on_probation_may_have_a_task() {
        let agent = LiveAgent { status: AgentStatus::Probation, ..dev() };
        given::<Task>([created()]).when(assign(agent)).then_expect_events(vec![assigned()]);
    }

    #[test]
    fn an_agent_that_may_not_work_gets_no_task() {
        for status in [AgentStatus::Inactive, AgentStatus::Terminated] {
            refused(LiveAgent { status, ..dev() }, TaskError::AgentInactive(status));
        }
    }

    #[test]
    fn an_agent_gets_tasks_only_where_it_works() {
        refused(LiveAgent { project_id: Some(id(21)), ..dev() }, TaskError::InvalidAgentAssignment);
        refused(LiveAgent { workspace_id: id(11), ..dev() }, TaskError::InvalidAgentAssignment);
    }

    #[test]
    fn a_task_that_is_over_gets_no_new_agent() {
        let refusal = TaskError::InvalidTransition { from: TaskStatus::Completed, to: TaskStatus::Assigned };
        given::<Task>([created(), assigned(), started(), completed()])
            .when(assign(dev_two()))
            .then_expect_error(refusal);
    }

    #[test]
    fn the_place_with_one_agent_is_left_for_the_place_with_the_next() {
        let take = |agent| Demand::Take { claim: place(agent), or: TaskError::AlreadyExists };
        assert_eq!(after::<Task>([created()]).demands(&assigned()), [take(id(30))]);
        assert_eq!(
            after::<Task>([created(), assigned()]).demands(&reassigned()),
            [Demand::Release(place(id(30))), take(id(31))]
        );
    }
}
