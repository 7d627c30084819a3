//! Lose a supervisor who is gone.

use chrono::{DateTime, Utc};

use super::{Agent, AgentError, AgentEvent};
use crate::AgentId;

/// Ends an agent's reporting to a supervisor who is no longer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoseSupervisor {
    /// Who is gone.
    pub supervisor_agent_id: AgentId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(agent: &Agent, command: LoseSupervisor) -> Result<Vec<AgentEvent>, AgentError> {
    let Agent::Live(live) = agent else { return Ok(vec![]) };
    if live.supervisor_agent_id != Some(command.supervisor_agent_id) {
        // It reports to somebody else by now.
        return Ok(vec![]);
    }
    let supervisor_agent_id = command.supervisor_agent_id;
    Ok(vec![AgentEvent::AgentSupervisorLost { supervisor_agent_id, lost_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{create, created_by, deleted};
    use super::*;
    use crate::agent::{AgentCommand, CreateAgent};
    use crate::examples::{at, given, id};

    fn supervised() -> AgentEvent {
        created_by(CreateAgent { supervisor_agent_id: Some(id(31)), ..create() })
    }

    fn lose(supervisor: u128) -> AgentCommand {
        AgentCommand::LoseSupervisor(LoseSupervisor { supervisor_agent_id: id(supervisor), now: at(1) })
    }

    fn lost() -> AgentEvent {
        AgentEvent::AgentSupervisorLost { supervisor_agent_id: id(31), lost_at: at(1) }
    }

    #[test]
    fn an_agent_loses_the_supervisor_it_has() {
        given::<Agent>([supervised()]).when(lose(31)).then_expect_events(vec![lost()]);
    }

    #[test]
    fn a_supervisor_is_lost_once() {
        given::<Agent>([supervised(), lost()]).when(lose(31)).then_expect_events(vec![]);
    }

    #[test]
    fn an_agent_that_reports_to_another_loses_nobody() {
        given::<Agent>([supervised()]).when(lose(32)).then_expect_events(vec![]);
    }

    #[test]
    fn a_deleted_agent_has_nobody_to_lose() {
        given::<Agent>([supervised(), deleted()]).when(lose(31)).then_expect_events(vec![]);
    }
}
