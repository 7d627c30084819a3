//! Gives an errand up.

use domain::ErrandId;
use domain::errand::{self, Errand, ErrandCommand, Work};

use super::letters;
use crate::{Decision, Desk, Stop};

/// An errand that cannot be done. Nothing else changes: who waits for it is told, and may ask again.
#[derive(Debug, Clone)]
pub struct FailErrand {
    /// Which errand.
    pub errand_id: ErrandId,
    /// What went wrong.
    pub error: String,
    /// What else is known.
    pub details: Option<String>,
}

impl Decision for FailErrand {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.failErrand"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let errand = desk.load::<Errand>(self.errand_id.0).await?.state.live()?.clone();
        let fail = errand::FailErrand { error: self.error.clone(), details: self.details.clone(), now: desk.now() };
        if desk.run::<Errand>(self.errand_id.0, ErrandCommand::Fail(fail)).await?.is_empty() {
            return Ok(self.errand_id);
        }
        let subject = match errand.work {
            Work::Launch { .. } => "An agent could not be started",
            Work::Stop { .. } => "An agent could not be stopped",
            Work::MergeEpic { .. } => "An epic could not be merged",
            // An agent waits for these, and hears of it from its tool.
            Work::OpenPullRequest { .. }
            | Work::Merge { .. }
            | Work::Rebase { .. }
            | Work::OpenEpicPullRequest { .. } => return Ok(self.errand_id),
        };
        letters::errand_failed(desk, errand.workspace_id, subject, &self.error).await?;
        Ok(self.errand_id)
    }
}
