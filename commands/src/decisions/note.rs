//! Puts a decision on record, in the commit of whatever it decides.

use domain::decision::{DecisionCommand, DecisionEntry, LogDecision};
use domain::{AgentId, DecisionId, WorkspaceId};

use crate::{Desk, Stop};

/// What was decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Whose decision it is, or whom it is about.
    pub agent_id: Option<AgentId>,
    /// What was decided.
    pub title: String,
    /// Why, and with what.
    pub body: String,
}

/// Puts a decision on record in the commit that this desk prepares. Its id follows from the command.
pub async fn note(desk: &mut Desk<'_>, note: Note) -> Result<DecisionId, Stop> {
    let Note { workspace_id, agent_id, title, body } = note;
    let decision_id = DecisionId(desk.new_id());
    let log = LogDecision { decision_id, workspace_id, agent_id, title, body, now: desk.now() };
    desk.begin::<DecisionEntry>(decision_id.0, DecisionCommand::Log(log)).await?;
    Ok(decision_id)
}
