//! Turns a version down.

use domain::wiki::{self, WikiCommand, WikiEntry};
use domain::{UserId, WikiEntryId};

use super::owned;
use crate::{Decision, Desk, Stop};

/// A version that is not to be shown.
#[derive(Debug, Clone)]
pub struct RejectEntry {
    /// Who asks.
    pub by: UserId,
    /// Which version.
    pub entry_id: WikiEntryId,
    /// Why.
    pub reason: String,
}

impl Decision for RejectEntry {
    type Outcome = WikiEntryId;

    fn name(&self) -> &'static str {
        "wiki.reject"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<WikiEntryId, Stop> {
        owned(desk, self.by, self.entry_id).await?;
        let reject = wiki::RejectEntry { by: self.by, reason: self.reason.clone(), now: desk.now() };
        desk.run::<WikiEntry>(self.entry_id.0, WikiCommand::Reject(reject)).await?;
        Ok(self.entry_id)
    }
}
