//! Calls an errand off.

use domain::ErrandId;
use domain::errand::{self, Errand, ErrandCommand, Work};
use domain::post::{Launch, NoteLaunch, Post, PostCommand};

use super::errands;
use crate::{Decision, Desk, Stop};

/// An errand that nobody wants any more. Whoever it was to start and still has its post was not started.
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
        let errand = desk.load::<Errand>(self.errand_id.0).await?.state.live()?.clone();
        let cancel = errand::CancelErrand { reason: errands::told(&self.reason), now: desk.now() };
        let cancelled = desk.run::<Errand>(self.errand_id.0, ErrandCommand::Cancel(cancel)).await?;
        if let Work::Launch { agent_id } = errand.work
            && !cancelled.is_empty()
        {
            let note = NoteLaunch { launch: Launch::Failed, now: desk.now() };
            desk.run::<Post>(agent_id.0, PostCommand::NoteLaunch(note)).await?;
        }
        Ok(self.errand_id)
    }
}
