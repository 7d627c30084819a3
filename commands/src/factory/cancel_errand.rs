//! Calls an errand off.

use domain::ErrandId;
use domain::errand::{self, Errand, ErrandCommand};

use super::errands;
use crate::{Decision, Desk, Stop};

/// An errand that nobody wants any more.
#[derive(Debug, Clone)]
pub struct CancelErrand {
    /// Which errand.
    pub errand_id: ErrandId,
    /// Why.
    pub reason: String,
}

impl Decision for CancelErrand {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.cancelErrand"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let cancel = errand::CancelErrand { reason: errands::told(&self.reason), now: desk.now() };
        desk.run::<Errand>(self.errand_id.0, ErrandCommand::Cancel(cancel)).await?;
        Ok(self.errand_id)
    }
}
