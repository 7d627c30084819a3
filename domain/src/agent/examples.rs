//! Agents to test with: `dev-1` works in project 20, `lead` in all of workspace 10.

use super::{AgentEvent, AgentLevel, AgentStatus, ChangeAgent, CreateAgent};
use crate::AgentCode;
use crate::examples::{at, id};

pub(super) fn code(text: &str) -> AgentCode {
    AgentCode::parse(text).expect("an agent code")
}

pub(super) fn create() -> CreateAgent {
    CreateAgent {
        agent_id: id(30),
        workspace_id: id(10),
        project_id: Some(id(20)),
        level: AgentLevel::Project,
        code: code("dev-1"),
        name: "Dev One".to_owned(),
        role_title: "Backend developer".to_owned(),
        capabilities: vec!["rust".to_owned()],
        settings: Default::default(),
        supervisor_agent_id: None,
        credential_id: id(40),
        now: at(0),
    }
}

pub(super) fn create_lead() -> CreateAgent {
    CreateAgent { project_id: None, level: AgentLevel::Organization, code: code("lead"), ..create() }
}

/// What a command to create an agent makes.
pub(super) fn created_by(it: CreateAgent) -> AgentEvent {
    AgentEvent::AgentCreated {
        agent_id: it.agent_id,
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        level: it.level,
        code: it.code,
        name: it.name,
        role_title: it.role_title,
        status: AgentStatus::Active,
        trust_score: 50.0,
        capabilities: it.capabilities,
        settings: it.settings,
        supervisor_agent_id: it.supervisor_agent_id,
        credential_id: it.credential_id,
        created_at: it.now,
    }
}

pub(super) fn created() -> AgentEvent {
    created_by(create())
}

pub(super) fn status_changed(from: AgentStatus, to: AgentStatus) -> AgentEvent {
    AgentEvent::AgentStatusChanged { from, to, changed_at: at(1) }
}

/// A request that asks for no change; tests fill in what they change.
pub(super) fn change() -> ChangeAgent {
    ChangeAgent {
        name: None,
        role_title: None,
        capabilities: None,
        settings: None,
        supervisor_agent_id: None,
        status: None,
        now: at(1),
    }
}

pub(super) fn deleted() -> AgentEvent {
    AgentEvent::AgentDeleted { deleted_at: at(2) }
}
