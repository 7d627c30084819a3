//! Gives an agent the key that it starts with.

use domain::agent::{Agent, AgentCommand, RotateCredentials};
use domain::errand::{Errand, ErrandError, Work};
use domain::post::Post;
use domain::{AgentId, ErrandId};

use crate::agent::NewKey;
use crate::{Decision, Desk, Stop};

/// A new key for an agent that is about to be launched; every older one is void.
#[derive(Debug, Clone)]
pub struct RotateForLaunch {
    /// The errand that launches it.
    pub errand_id: ErrandId,
    /// Which agent.
    pub agent_id: AgentId,
    /// The key it gets.
    pub key: NewKey,
}

impl Decision for RotateForLaunch {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "factory.rotateForLaunch"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let errand = desk.load::<Errand>(self.errand_id.0).await?;
        if errand.state.under_way()?.work != (Work::Launch { agent_id: self.agent_id }) {
            return Err(ErrandError::WrongResult("another errand").into());
        }
        let post = desk.load::<Post>(self.agent_id.0).await?;
        post.state.held()?;
        desk.rely_on(&errand);
        desk.rely_on(&post);
        let agent = desk.load::<Agent>(self.agent_id.0).await?.state.live()?.clone();
        let rotate = RotateCredentials { credential_id: self.key.credential_id, now: desk.now() };
        desk.run::<Agent>(self.agent_id.0, AgentCommand::RotateCredentials(rotate)).await?;
        let row = self.key.row(&agent, desk.now());
        desk.write(row);
        Ok(self.agent_id)
    }
}
