//! Publishes a message of an agent to others of its workspace.

use domain::agent::{Agent, LiveAgent};
use domain::session::{self, Caller, Publication, Session, SessionCommand, SessionError};
use domain::{AgentId, SessionId};

use crate::{Decision, Desk, Stop};

/// A message of an agent.
#[derive(Debug, Clone)]
pub struct Publish {
    /// Who speaks.
    pub by: Caller,
    /// In which session.
    pub session_id: SessionId,
    /// What is said.
    pub publication: Publication,
    /// Who is to hear of it.
    pub mentions: Vec<AgentId>,
}

impl Decision for Publish {
    type Outcome = SessionId;

    const TELLS_EVENTS: bool = true;

    fn name(&self) -> &'static str {
        "event.publish"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<SessionId, Stop> {
        let session = desk.load::<Session>(self.session_id.0).await?;
        session.state.admit(self.by)?;
        let author = desk.load::<Agent>(self.by.agent_id.0).await?.state.live()?.clone();
        for mention in &self.mentions {
            // Not relied on: to mention an agent that is deleted at this very moment harms nobody.
            let mentioned = desk.load::<Agent>(mention.0).await?;
            if mentioned.state.live().ok().is_none_or(|it| it.workspace_id != self.by.workspace_id) {
                return Err(SessionError::UnknownMention(*mention).into());
            }
        }
        let publish = session::Publish {
            by: self.by,
            publication: signed(self.publication.clone(), &author),
            mentions: self.mentions.clone(),
            supervisor_agent_id: author.supervisor_agent_id,
            now: desk.now(),
        };
        desk.run::<Session>(self.session_id.0, SessionCommand::Publish(publish)).await?;
        Ok(self.session_id)
    }
}

/// An agent signs with its own name, whatever it calls itself.
fn signed(mut publication: Publication, author: &LiveAgent) -> Publication {
    let named = match &mut publication {
        Publication::ReviewRequest(it) => Some(&mut it.requested_by),
        Publication::ReviewResponse(it) => Some(&mut it.reviewer),
        Publication::Problem(_) | Publication::Advice(_) | Publication::Question(_) => None,
    };
    if let Some(named) = named.filter(|it| it.agent_id == author.agent_id) {
        named.agent_name.clone_from(&author.name);
    }
    publication
}
