//! Sends an epic of the caller's back to its supervisor.

use domain::epic::{self, Epic, EpicCommand};
use domain::errand::{ErrandError, Work};
use domain::{EpicId, UserId};

use super::{errands, letters, owned_epic};
use crate::{Decision, Desk, Stop};

/// What a human wants before an epic is taken.
#[derive(Debug, Clone)]
pub struct RequestEpicChanges {
    /// Who asks.
    pub by: UserId,
    /// Which epic.
    pub epic_id: EpicId,
    /// What is wanted.
    pub feedback: String,
}

impl Decision for RequestEpicChanges {
    type Outcome = EpicId;

    fn name(&self) -> &'static str {
        "epic.requestChanges"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<EpicId, Stop> {
        let epic = owned_epic(desk, self.by, self.epic_id).await?;
        let request = epic::RequestEpicChanges { by: self.by, feedback: self.feedback.clone(), now: desk.now() };
        desk.run::<Epic>(self.epic_id.0, EpicCommand::RequestChanges(request)).await?;
        if let Some(open) = errands::under_way(desk, Work::on_epic(self.epic_id)).await? {
            // It is being merged: there is nothing left to change in it.
            return Err(ErrandError::Underway(open.work.name()).into());
        }
        letters::epic_changes_requested(desk, &epic, self.by, &self.feedback).await?;
        Ok(self.epic_id)
    }
}
