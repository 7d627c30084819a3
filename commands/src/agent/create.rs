//! Takes on an agent: it never exists without its key.

use domain::agent::{self, Agent, AgentCommand, AgentError, AgentStatus};
use domain::workspace::Workspace;
use domain::{AgentId, UserId};
use store::{Credential, RowChange};

use super::{rely_on_project, rely_on_supervisor};
use crate::{Decision, Desk, Stop};

/// A new agent.
#[derive(Debug, Clone)]
pub struct CreateAgent {
    /// Who asks.
    pub by: UserId,
    /// What is asked.
    pub agent: agent::CreateAgent,
    /// The keyed hash of the key it gets.
    pub key_hash: Vec<u8>,
}

impl Decision for CreateAgent {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "agent.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let asked = &self.agent;
        let workspace = desk.load::<Workspace>(asked.workspace_id.0).await?;
        workspace.state.admit(self.by)?;
        desk.rely_on(&workspace);
        if !asked.level.fits(asked.project_id) {
            // Before the look at the project: an organization agent's project is wrong even if it exists.
            return Err(AgentError::InvalidLevel.into());
        }
        if let Some(project_id) = asked.project_id {
            rely_on_project(desk, asked.workspace_id, project_id).await?;
        }
        if let Some(supervisor) = asked.supervisor_agent_id {
            rely_on_supervisor(desk, asked.workspace_id, supervisor).await?;
        }
        desk.begin::<Agent>(asked.agent_id.0, AgentCommand::Create(asked.clone())).await?;
        desk.write(RowChange::IssueCredential(Credential {
            credential_id: asked.credential_id.0,
            agent_id: asked.agent_id.0,
            workspace_id: asked.workspace_id.0,
            project_id: asked.project_id.map(|id| id.0),
            standing: AgentStatus::Active.to_string(),
            key_hash: self.key_hash.clone(),
            created_at: desk.now().timestamp_micros(),
        }));
        Ok(asked.agent_id)
    }
}
