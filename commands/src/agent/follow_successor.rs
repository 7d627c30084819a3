//! Lets an agent report to the successor of the one that it reported to.

use domain::AgentId;
use domain::agent::{self, Agent, AgentCommand};

use crate::{Decision, Desk, Stop};

/// An agent whose supervisor was replaced. One that reports to somebody else by now, or works no more, stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct FollowSuccessor {
    /// Which agent.
    pub agent_id: AgentId,
    /// To whom it reported.
    pub from: AgentId,
    /// To whom it reports now.
    pub to: AgentId,
}

impl Decision for FollowSuccessor {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "agent.followSuccessor"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let agent = desk.load::<Agent>(self.agent_id.0).await?;
        let live = agent.state.live()?;
        if live.supervisor_agent_id != Some(self.from) || !live.status.may_work() {
            return Ok(self.agent_id);
        }
        let change = agent::ChangeAgent {
            name: None,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: Some(self.to),
            status: None,
            now: desk.now(),
        };
        desk.run::<Agent>(self.agent_id.0, AgentCommand::Change(change)).await?;
        Ok(self.agent_id)
    }
}
