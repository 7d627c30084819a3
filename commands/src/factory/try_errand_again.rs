//! Notes that an errand was tried in vain.

use chrono::{DateTime, Utc};
use domain::ErrandId;
use domain::errand::{Errand, ErrandCommand, RetryErrand};

use super::errands;
use crate::{Decision, Desk, Stop};

/// An errand that is to be tried again later.
#[derive(Debug, Clone)]
pub struct TryErrandAgain {
    /// Which errand.
    pub errand_id: ErrandId,
    /// What went wrong.
    pub error: String,
    /// When it is to be tried again.
    pub retry_at: DateTime<Utc>,
}

impl Decision for TryErrandAgain {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.tryErrandAgain"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let retry = RetryErrand { error: errands::told(&self.error), retry_at: self.retry_at, now: desk.now() };
        desk.run::<Errand>(self.errand_id.0, ErrandCommand::Retry(retry)).await?;
        Ok(self.errand_id)
    }
}
