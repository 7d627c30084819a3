//! Has an agent launched again that its bench did not start.

use domain::errand::Work;
use domain::post::{OrderLaunch, Post, PostCommand};
use domain::{AgentId, ErrandId, UserId};
use serde_json::json;

use super::{errands, letters};
use crate::agent::owned;
use crate::{Decision, Desk, Stop};

/// Another launch for an agent whose last one failed, or left it to start itself.
#[derive(Debug, Clone, Copy)]
pub struct LaunchAgent {
    /// Who asks.
    pub by: UserId,
    /// Which agent.
    pub agent_id: AgentId,
    /// Whether it has said anything itself.
    pub heard_of: bool,
}

impl Decision for LaunchAgent {
    /// The errand that launches it.
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "agent.launch"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        owned(desk, self.by, self.agent_id).await?;
        let order = OrderLaunch { heard_of: self.heard_of, now: desk.now() };
        desk.run::<Post>(self.agent_id.0, PostCommand::OrderLaunch(order)).await?;
        let post = desk.load::<Post>(self.agent_id.0).await?.state.live()?.clone();
        letters::note(desk, &post, "agent_launch_ordered", json!({ "by": self.by })).await?;
        let work = Work::Launch { agent_id: self.agent_id };
        errands::order(desk, post.workspace_id, &post.bench, work).await
    }
}
