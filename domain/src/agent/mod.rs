//! An agent: an AI that works in a workspace. Who may command it is decided by its workspace.

mod change;
mod create;
mod delete;
#[cfg(test)]
mod examples;
mod level;
mod lose_supervisor;
mod reach;
mod rotate_credentials;
mod status;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use change::ChangeAgent;
pub use create::CreateAgent;
pub use delete::DeleteAgent;
pub use level::AgentLevel;
pub use lose_supervisor::LoseSupervisor;
pub use rotate_credentials::RotateCredentials;
pub use status::AgentStatus;

use crate::catalogue::event_kinds;
use crate::difference::assign;
use crate::{AgentCode, AgentId, Claim, CredentialId, Demand, Entity, ProjectId, Scope, Settings, WorkspaceId};

/// The life of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Agent {
    /// Not created yet.
    #[default]
    Absent,
    /// In use, whatever its status.
    Live(Box<LiveAgent>),
    /// Soft-deleted, and its code is free again.
    Deleted {
        /// The tenant that its events still belong to.
        workspace_id: WorkspaceId,
    },
}

/// An agent in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveAgent {
    /// Which agent it is.
    pub agent_id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in; none means every project of its workspace.
    pub project_id: Option<ProjectId>,
    /// What names it within its workspace.
    pub code: AgentCode,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub role_title: String,
    /// Whether it may work.
    pub status: AgentStatus,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// What the owner configured for it.
    pub settings: Settings,
    /// The agent that hears of its problems.
    pub supervisor_agent_id: Option<AgentId>,
    /// The key it signs in with.
    pub credential_id: CredentialId,
}

/// What a user asks of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentCommand {
    /// See [`CreateAgent`].
    Create(CreateAgent),
    /// See [`ChangeAgent`].
    Change(ChangeAgent),
    /// See [`RotateCredentials`].
    RotateCredentials(RotateCredentials),
    /// See [`LoseSupervisor`].
    LoseSupervisor(LoseSupervisor),
    /// See [`DeleteAgent`].
    Delete(DeleteAgent),
}

/// What happened to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentEvent {
    /// The agent now exists.
    AgentCreated {
        /// Which agent it is.
        agent_id: AgentId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project it works in, for agents of the project level.
        project_id: Option<ProjectId>,
        /// How far it reaches.
        level: AgentLevel,
        /// What names it within its workspace.
        code: AgentCode,
        /// What people call it.
        name: String,
        /// What it does.
        role_title: String,
        /// Whether it may work.
        status: AgentStatus,
        /// How far it is trusted at first, from 0 to 100.
        trust_score: f64,
        /// What it can do.
        capabilities: Vec<String>,
        /// What the owner configured for it.
        settings: Settings,
        /// The agent that hears of its problems.
        supervisor_agent_id: Option<AgentId>,
        /// The key it signs in with.
        credential_id: CredentialId,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    AgentDetailsChanged {
        /// The new name.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The new role.
        #[serde(skip_serializing_if = "Option::is_none")]
        role_title: Option<String>,
        /// The new capabilities, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        capabilities: Option<Vec<String>>,
        /// The new settings, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        settings: Option<Settings>,
        /// The new supervisor.
        #[serde(skip_serializing_if = "Option::is_none")]
        supervisor_agent_id: Option<AgentId>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// Whether the agent may work has changed.
    AgentStatusChanged {
        /// The status before.
        from: AgentStatus,
        /// The status from now on.
        to: AgentStatus,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// The agent signs in with another key; the one before is void.
    AgentCredentialsRotated {
        /// The new key.
        credential_id: CredentialId,
        /// When it happened.
        rotated_at: DateTime<Utc>,
    },
    /// The agent's supervisor is gone, and it reports to nobody now.
    AgentSupervisorLost {
        /// Who is gone.
        supervisor_agent_id: AgentId,
        /// When it happened.
        lost_at: DateTime<Utc>,
    },
    /// The agent is out of use.
    AgentDeleted {
        /// When it happened.
        deleted_at: DateTime<Utc>,
    },
}

event_kinds! { AgentEvent of Agent {
    AgentCreated "1" "The owner of a workspace took on an agent and gave it a key." {
        text["name", "role_title", "capabilities", "settings"]
        plain["level", "code", "status", "settings.githubUsername"]
    }
    AgentDetailsChanged "1" "The owner changed an agent's name, role, capabilities, settings or supervisor." {
        text["name", "role_title", "capabilities", "settings"]
        plain["settings.githubUsername"]
    }
    AgentStatusChanged "1" "An agent was made active, put on probation, set aside or terminated." {
        text[]
        plain["from", "to"]
    }
    AgentCredentialsRotated "1" "An agent got a new key, and its old one was made void."
    AgentSupervisorLost "1" "An agent's supervisor was removed, so the agent reports to nobody."
    AgentDeleted "1" "The owner removed an agent."
}}

/// Why a command on an agent is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AgentError {
    /// It was never created, or it was deleted.
    #[error("the agent does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the agent exists already")]
    AlreadyExists,
    /// It is in another user's workspace.
    #[error("the agent belongs to another user")]
    AccessDenied,
    /// Another agent of the workspace has this code.
    #[error("the agent code {0} is taken in this workspace")]
    CodeTaken(AgentCode),
    /// A project agent has a project, and an organization agent has none.
    #[error("the agent's level does not fit its project")]
    InvalidLevel,
    /// It is at work.
    #[error("the agent has an active session")]
    HasActiveSession,
    /// It has tasks that are not over.
    #[error("the agent still has assigned tasks")]
    HasAssignedTasks,
    /// An agent cannot hear of its own problems.
    #[error("an agent cannot supervise itself")]
    SupervisorIsSelf,
}

impl Agent {
    /// The agent, if it is in use.
    pub fn live(&self) -> Result<&LiveAgent, AgentError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent | Self::Deleted { .. } => Err(AgentError::NotFound),
        }
    }

    fn decide(&self, command: AgentCommand) -> Result<Vec<AgentEvent>, AgentError> {
        match command {
            AgentCommand::Create(it) => create::decide(self, it),
            AgentCommand::Change(it) => change::decide(self, it),
            AgentCommand::RotateCredentials(it) => rotate_credentials::decide(self, it),
            AgentCommand::LoseSupervisor(it) => lose_supervisor::decide(self, it),
            AgentCommand::Delete(it) => delete::decide(self, it),
        }
    }
}

impl Aggregate for Agent {
    const TYPE: &'static str = "agent";
    type Command = AgentCommand;
    type Event = AgentEvent;
    type Error = AgentError;
    type Services = ();

    async fn handle(&mut self, command: AgentCommand, (): &(), sink: &EventSink<Self>) -> Result<(), AgentError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::AgentCreated {
                agent_id,
                workspace_id,
                project_id,
                level: _,
                code,
                name,
                role_title,
                status,
                trust_score: _,
                capabilities,
                settings,
                supervisor_agent_id,
                credential_id,
                created_at: _,
            } => {
                *self = Self::Live(Box::new(LiveAgent {
                    agent_id,
                    workspace_id,
                    project_id,
                    code,
                    name,
                    role_title,
                    status,
                    capabilities,
                    settings,
                    supervisor_agent_id,
                    credential_id,
                }));
            }
            AgentEvent::AgentDetailsChanged {
                name,
                role_title,
                capabilities,
                settings,
                supervisor_agent_id,
                changed_at: _,
            } => {
                if let Self::Live(live) = self {
                    assign(&mut live.name, name);
                    assign(&mut live.role_title, role_title);
                    assign(&mut live.capabilities, capabilities);
                    assign(&mut live.settings, settings);
                    assign(&mut live.supervisor_agent_id, supervisor_agent_id.map(Some));
                }
            }
            AgentEvent::AgentStatusChanged { from: _, to, changed_at: _ } => {
                if let Self::Live(live) = self {
                    live.status = to;
                }
            }
            AgentEvent::AgentCredentialsRotated { credential_id, rotated_at: _ } => {
                if let Self::Live(live) = self {
                    live.credential_id = credential_id;
                }
            }
            AgentEvent::AgentSupervisorLost { supervisor_agent_id: _, lost_at: _ } => {
                if let Self::Live(live) = self {
                    live.supervisor_agent_id = None;
                }
            }
            AgentEvent::AgentDeleted { deleted_at: _ } => {
                if let Some(workspace_id) = self.workspace() {
                    *self = Self::Deleted { workspace_id };
                }
            }
        }
    }
}

impl Entity for Agent {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Live(live) => Some(live.workspace_id),
            Self::Deleted { workspace_id } => Some(*workspace_id),
        }
    }

    fn demands(&self, event: &AgentEvent) -> Vec<Demand<AgentError>> {
        match event {
            AgentEvent::AgentCreated { agent_id, workspace_id, project_id, code, status, .. } => {
                let code_claim = Demand::Take {
                    claim: Scope::agent_codes(*workspace_id).claim(code),
                    or: AgentError::CodeTaken(code.clone()),
                };
                let place = place(*project_id, *agent_id, *status).map(take_place);
                [code_claim].into_iter().chain(place).collect()
            }
            AgentEvent::AgentStatusChanged { to, .. } => {
                let Self::Live(live) = self else { return vec![] };
                let (held, wanted) = (live.place(), place(live.project_id, live.agent_id, *to));
                match (held, wanted) {
                    (Some(held), None) => vec![Demand::Release(held)],
                    (None, Some(wanted)) => vec![take_place(wanted)],
                    (Some(_), Some(_)) | (None, None) => vec![],
                }
            }
            AgentEvent::AgentDeleted { .. } => {
                let Self::Live(live) = self else { return vec![] };
                let code = Scope::agent_codes(live.workspace_id).claim(&live.code);
                let idle = [
                    Demand::Empty { scope: Scope::active_session(live.agent_id), or: AgentError::HasActiveSession },
                    Demand::Empty { scope: Scope::agent_tasks(live.agent_id), or: AgentError::HasAssignedTasks },
                ];
                idle.into_iter().chain([code].into_iter().chain(live.place()).map(Demand::Release)).collect()
            }
            AgentEvent::AgentDetailsChanged { .. }
            | AgentEvent::AgentCredentialsRotated { .. }
            | AgentEvent::AgentSupervisorLost { .. } => vec![],
        }
    }
}

impl LiveAgent {
    fn place(&self) -> Option<Claim> {
        place(self.project_id, self.agent_id, self.status)
    }
}

/// The claim by which an agent that may work in a project keeps that project from being deleted.
fn place(project: Option<ProjectId>, agent: AgentId, status: AgentStatus) -> Option<Claim> {
    let project = project.filter(|_| status.may_work())?;
    Some(Scope::project_agents(project).claim(agent))
}

fn take_place(place: Claim) -> Demand<AgentError> {
    // The key is the agent's own id, so no other stream can hold it.
    Demand::Take { claim: place, or: AgentError::AlreadyExists }
}
