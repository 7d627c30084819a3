//! Changes an agent's details or its status, and what the door knows of it.

use domain::agent::{self, Agent, AgentCommand, AgentEvent};
use domain::{AgentId, UserId};
use store::RowChange;

use super::{owned, rely_on_project, rely_on_supervisor};
use crate::{Decision, Desk, Stop};

/// New details or another status for an agent.
#[derive(Debug, Clone)]
pub struct ChangeAgent {
    /// Who asks.
    pub by: UserId,
    /// Which agent.
    pub agent_id: AgentId,
    /// What is asked.
    pub change: agent::ChangeAgent,
}

impl Decision for ChangeAgent {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "agent.update"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let agent = owned(desk, self.by, self.agent_id).await?;
        if let Some(supervisor) = self.change.supervisor_agent_id
            && supervisor != self.agent_id
        {
            rely_on_supervisor(desk, agent.workspace_id, supervisor).await?;
        }
        let comes_back = !agent.status.may_work() && self.change.status.is_some_and(|status| status.may_work());
        if let Some(project_id) = agent.project_id
            && comes_back
        {
            // Its project may have been deleted while it was away.
            rely_on_project(desk, agent.workspace_id, project_id).await?;
        }
        let events = desk.run::<Agent>(self.agent_id.0, AgentCommand::Change(self.change.clone())).await?;
        for event in events {
            if let AgentEvent::AgentStatusChanged { to, .. } = event {
                let standing = to.to_string();
                desk.write(RowChange::SetAgentStanding { agent_id: self.agent_id.0, standing });
            }
        }
        Ok(self.agent_id)
    }
}
