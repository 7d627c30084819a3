//! Create an agent.

use chrono::{DateTime, Utc};

use super::{Agent, AgentError, AgentEvent, AgentLevel, AgentStatus};
use crate::{AgentCode, AgentId, CredentialId, ProjectId, Settings, WorkspaceId};

/// How far an agent is trusted before it has done anything.
const INITIAL_TRUST_SCORE: f64 = 50.0;

/// Takes on an agent and gives it a key.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAgent {
    /// The id it gets.
    pub agent_id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in, for agents of the project level.
    pub project_id: Option<ProjectId>,
    /// How far it reaches.
    pub level: AgentLevel,
    /// What names it; no other agent of the workspace has it.
    pub code: AgentCode,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub role_title: String,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// What the owner configures for it.
    pub settings: Settings,
    /// The agent that is to hear of its problems.
    pub supervisor_agent_id: Option<AgentId>,
    /// The key it signs in with.
    pub credential_id: CredentialId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(agent: &Agent, command: CreateAgent) -> Result<Vec<AgentEvent>, AgentError> {
    match agent {
        Agent::Absent => {}
        Agent::Live(_) | Agent::Deleted { .. } => return Err(AgentError::AlreadyExists),
    }
    if !command.level.fits(command.project_id) {
        return Err(AgentError::InvalidLevel);
    }
    if command.supervisor_agent_id == Some(command.agent_id) {
        return Err(AgentError::SupervisorIsSelf);
    }
    Ok(vec![AgentEvent::AgentCreated {
        agent_id: command.agent_id,
        workspace_id: command.workspace_id,
        project_id: command.project_id,
        level: command.level,
        code: command.code,
        name: command.name,
        role_title: command.role_title,
        status: AgentStatus::Active,
        trust_score: INITIAL_TRUST_SCORE,
        capabilities: command.capabilities,
        settings: command.settings,
        supervisor_agent_id: command.supervisor_agent_id,
        credential_id: command.credential_id,
        created_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{code, create, create_lead, created, created_by, deleted};
    use super::*;
    use crate::agent::AgentCommand;
    use crate::examples::{after, given, id};
    use crate::{Demand, Entity, Scope};

    fn refused(command: CreateAgent, error: AgentError) {
        given::<Agent>([]).when(AgentCommand::Create(command)).then_expect_error(error);
    }

    #[test]
    fn a_new_agent_is_active_and_trusted_half_way() {
        given::<Agent>([]).when(AgentCommand::Create(create())).then_expect_events(vec![created()]);
    }

    #[test]
    fn an_agent_is_created_once_even_after_it_was_deleted() {
        for history in [vec![created()], vec![created(), deleted()]] {
            given::<Agent>(history).when(AgentCommand::Create(create())).then_expect_error(AgentError::AlreadyExists);
        }
    }

    #[test]
    fn a_project_agent_needs_a_project() {
        refused(CreateAgent { project_id: None, ..create() }, AgentError::InvalidLevel);
    }

    #[test]
    fn an_organization_agent_has_no_project() {
        refused(CreateAgent { project_id: Some(id(20)), ..create_lead() }, AgentError::InvalidLevel);
    }

    #[test]
    fn an_agent_does_not_supervise_itself_from_the_start() {
        let command = CreateAgent { supervisor_agent_id: Some(id(30)), ..create() };
        refused(command, AgentError::SupervisorIsSelf);
    }

    #[test]
    fn no_two_agents_of_a_workspace_share_a_code() {
        let take =
            Demand::Take { claim: Scope::agent_codes(id(10)).claim("lead"), or: AgentError::CodeTaken(code("lead")) };
        assert_eq!(Agent::Absent.demands(&created_by(create_lead())), [take]);
    }

    #[test]
    fn a_project_agent_takes_its_place_in_the_project() {
        let place = Demand::Take {
            claim: Scope::project_agents(id(20)).claim(create().agent_id),
            or: AgentError::AlreadyExists,
        };
        assert_eq!(Agent::Absent.demands(&created())[1..], [place]);
    }

    #[test]
    fn an_agent_belongs_to_its_workspace_for_ever() {
        assert_eq!(Agent::Absent.workspace(), None);
        for history in [vec![created()], vec![created(), deleted()]] {
            assert_eq!(after::<Agent>(history).workspace(), Some(id(10)));
        }
    }
}
