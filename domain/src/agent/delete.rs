//! Delete an agent.

use chrono::{DateTime, Utc};

use super::{Agent, AgentError, AgentEvent};

/// Removes an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteAgent {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(agent: &Agent, command: DeleteAgent) -> Result<Vec<AgentEvent>, AgentError> {
    agent.live()?;
    Ok(vec![AgentEvent::AgentDeleted { deleted_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{create, created, deleted, status_changed};
    use super::*;
    use crate::agent::{AgentCommand, AgentStatus};
    use crate::examples::{after, at, given, id};
    use crate::{Demand, Entity, Scope};

    fn delete() -> AgentCommand {
        AgentCommand::Delete(DeleteAgent { now: at(2) })
    }

    #[test]
    fn an_agent_can_be_deleted() {
        given::<Agent>([created()]).when(delete()).then_expect_events(vec![deleted()]);
    }

    #[test]
    fn an_agent_that_is_not_there_is_not_found() {
        for history in [vec![], vec![created(), deleted()]] {
            given::<Agent>(history).when(delete()).then_expect_error(AgentError::NotFound);
        }
    }

    #[test]
    fn only_an_agent_without_a_session_and_without_tasks_is_deleted() {
        assert_eq!(
            after::<Agent>([created()]).demands(&deleted())[..2],
            [
                Demand::Empty { scope: Scope::active_session(create().agent_id), or: AgentError::HasActiveSession },
                Demand::Empty { scope: Scope::agent_tasks(create().agent_id), or: AgentError::HasAssignedTasks },
            ]
        );
    }

    #[test]
    fn a_deleted_agent_frees_its_code_and_leaves_its_project() {
        assert_eq!(
            after::<Agent>([created()]).demands(&deleted())[2..],
            [
                Demand::Release(Scope::agent_codes(id(10)).claim("dev-1")),
                Demand::Release(Scope::project_agents(id(20)).claim(create().agent_id)),
            ]
        );
    }

    #[test]
    fn an_agent_that_had_left_its_project_frees_only_its_code() {
        let inactive = status_changed(AgentStatus::Active, AgentStatus::Inactive);
        assert_eq!(
            after::<Agent>([created(), inactive]).demands(&deleted())[2..],
            [Demand::Release(Scope::agent_codes(id(10)).claim("dev-1"))]
        );
    }
}
