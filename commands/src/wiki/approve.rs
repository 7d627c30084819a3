//! Approves a version; the one before gives way in the same commit.

use domain::wiki::{self, SupersedeEntry, WikiCommand, WikiEntry};
use domain::{UserId, WikiEntryId};

use super::owned;
use crate::{Decision, Desk, Stop};

/// A version that is to be the current one.
#[derive(Debug, Clone, Copy)]
pub struct ApproveEntry {
    /// Who asks.
    pub by: UserId,
    /// Which version.
    pub entry_id: WikiEntryId,
}

impl Decision for ApproveEntry {
    type Outcome = WikiEntryId;

    fn name(&self) -> &'static str {
        "wiki.approve"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<WikiEntryId, Stop> {
        let version = owned(desk, self.by, self.entry_id).await?;
        let now = desk.now();
        let approve = wiki::ApproveEntry { by: self.by, now };
        desk.run::<WikiEntry>(self.entry_id.0, WikiCommand::Approve(approve)).await?;
        if let Some(parent) = version.parent_entry_id {
            let supersede = SupersedeEntry { by_entry_id: self.entry_id, now };
            desk.run::<WikiEntry>(parent.0, WikiCommand::Supersede(supersede)).await?;
        }
        Ok(self.entry_id)
    }
}
