//! Declares an agent dead and puts a successor in its place.

use domain::AgentId;
use domain::post::{self, Evidence, Post, PostCommand, Profiles};

use super::recover::{self, Verdict};
use crate::{Decision, Desk, Stop};

/// A verdict that needs no further check, for instance because the agent's process is gone.
#[derive(Debug, Clone)]
pub struct DeclareDead {
    /// Which agent.
    pub agent_id: AgentId,
    /// What is known of it.
    pub evidence: Evidence,
    /// How the node runs agents.
    pub profiles: Profiles,
}

impl Decision for DeclareDead {
    type Outcome = Verdict;

    fn name(&self) -> &'static str {
        "factory.declareDead"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Verdict, Stop> {
        let post = desk.load::<Post>(self.agent_id.0).await?.state.held()?.clone();
        let declare = post::DeclareDead { evidence: self.evidence, now: desk.now() };
        desk.run::<Post>(self.agent_id.0, PostCommand::DeclareDead(declare)).await?;
        recover::recover(desk, &post, &self.evidence, &self.profiles).await
    }
}
