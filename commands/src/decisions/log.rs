//! Puts a decision of an agent on record, in its own words.

use domain::{AgentId, DecisionId};

use super::{Note, note};
use crate::seat;
use crate::{Decision, Desk, Stop};

/// A decision of an agent.
#[derive(Debug, Clone)]
pub struct LogDecision {
    /// Who decided.
    pub by: AgentId,
    /// What was decided.
    pub title: String,
    /// Why, and with what.
    pub body: String,
}

impl Decision for LogDecision {
    type Outcome = DecisionId;

    fn name(&self) -> &'static str {
        "decision.log"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<DecisionId, Stop> {
        let workspace_id = seat::acting(desk, self.by).await?.workspace_id;
        let (title, body) = (self.title.clone(), self.body.clone());
        note(desk, Note { workspace_id, agent_id: Some(self.by), title, body }).await
    }
}
