//! Follow an assignment on GitHub.

use chrono::{DateTime, Utc};

use super::{Assigner, Task, TaskError, TaskEvent, assign};
use crate::agent::LiveAgent;
use crate::github::Login;

/// Gives a task to the agent that its issue was assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignTaskOnGithub {
    /// Who did it on GitHub.
    pub by: Login,
    /// Who gets it.
    pub agent: LiveAgent,
    /// When it was done.
    pub now: DateTime<Utc>,
}

/// GitHub is told of no rule: what it may not do does not happen here.
pub(crate) fn decide(task: &Task, command: AssignTaskOnGithub) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let assigned = || assign::assigned(live, &command.agent, Assigner::Github(command.by), command.now);
    let event = live.outside_epics().and_then(|()| assigned());
    Ok(event.ok().flatten().into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, cancelled, completed, created, dev, dev_two, started};
    use super::*;
    use crate::agent::AgentStatus;
    use crate::examples::{at, given, id};
    use crate::task::TaskCommand;

    fn assign(agent: LiveAgent) -> TaskCommand {
        TaskCommand::AssignOnGithub(AssignTaskOnGithub { by: Login::new("ada"), agent, now: at(1) })
    }

    fn assigned_on_github() -> TaskEvent {
        match assigned() {
            TaskEvent::TaskAssigned { agent_id, previous_agent_id, title, priority, deadline, assigned_at, .. } => {
                let assigned_by = Assigner::Github(Login::new("ada"));
                TaskEvent::TaskAssigned {
                    agent_id,
                    previous_agent_id,
                    assigned_by,
                    title,
                    priority,
                    deadline,
                    assigned_at,
                }
            }
            other => other,
        }
    }

    #[test]
    fn an_issue_assigned_on_github_is_a_task_assigned_here() {
        given::<Task>([created()]).when(assign(dev())).then_expect_events(vec![assigned_on_github()]);
    }

    #[test]
    fn what_is_assigned_already_stays() {
        given::<Task>([created(), assigned()]).when(assign(dev())).then_expect_events(vec![]);
    }

    #[test]
    fn what_the_rules_do_not_allow_does_not_happen() {
        for end in [completed(), cancelled()] {
            given::<Task>([created(), assigned(), started(), end]).when(assign(dev_two())).then_expect_events(vec![]);
        }
        for agent in
            [LiveAgent { status: AgentStatus::Inactive, ..dev() }, LiveAgent { project_id: Some(id(21)), ..dev() }]
        {
            given::<Task>([created()]).when(assign(agent)).then_expect_events(vec![]);
        }
    }

    #[test]
    fn a_task_that_is_not_there_is_not_found() {
        given::<Task>([]).when(assign(dev())).then_expect_error(TaskError::NotFound);
    }
}
