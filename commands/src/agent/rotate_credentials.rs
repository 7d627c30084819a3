//! Gives an agent a new key; the old one stops working in the same commit.

use domain::agent::{self, Agent, AgentCommand};
use domain::{AgentId, UserId};

use super::{NewKey, owned};
use crate::{Decision, Desk, Stop};

/// A new key for an agent.
#[derive(Debug, Clone)]
pub struct RotateCredentials {
    /// Who asks.
    pub by: UserId,
    /// Which agent.
    pub agent_id: AgentId,
    /// The key it gets.
    pub key: NewKey,
}

impl Decision for RotateCredentials {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "agent.rotateCredentials"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let agent = owned(desk, self.by, self.agent_id).await?;
        let now = desk.now();
        let rotate = agent::RotateCredentials { credential_id: self.key.credential_id, now };
        desk.run::<Agent>(self.agent_id.0, AgentCommand::RotateCredentials(rotate)).await?;
        desk.write(self.key.row(&agent, now));
        Ok(self.agent_id)
    }
}
