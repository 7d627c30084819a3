//! Removes an agent and its keys.

use domain::agent::{self, Agent, AgentCommand};
use domain::{AgentId, UserId};
use store::RowChange;

use super::owned;
use crate::{Decision, Desk, Stop};

/// The end of an agent.
#[derive(Debug, Clone, Copy)]
pub struct DeleteAgent {
    /// Who asks.
    pub by: UserId,
    /// Which agent.
    pub agent_id: AgentId,
}

impl Decision for DeleteAgent {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "agent.delete"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        owned(desk, self.by, self.agent_id).await?;
        let delete = agent::DeleteAgent { now: desk.now() };
        desk.run::<Agent>(self.agent_id.0, AgentCommand::Delete(delete)).await?;
        desk.write(RowChange::RevokeCredentials { agent_id: self.agent_id.0 });
        Ok(self.agent_id)
    }
}
