//! Tells people that no bench starts their agents.

use chrono::{DateTime, Utc};
use domain::ErrandId;
use domain::errand::{Errand, Work};
use domain::post::Post;
use serde_json::json;

use super::letters;
use crate::{Decision, Desk, Stop};

/// A launch that nobody has taken up for long. One that is over by now is no news.
#[derive(Debug, Clone)]
pub struct ReportWaitingLaunch {
    /// The oldest such errand of its workspace on its bench.
    pub errand_id: ErrandId,
    /// Since when it waits.
    pub since: DateTime<Utc>,
    /// How many wait with it.
    pub waiting: usize,
}

impl Decision for ReportWaitingLaunch {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.reportWaitingLaunch"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let errand = desk.load::<Errand>(self.errand_id.0).await?;
        let Ok(live) = errand.state.under_way() else { return Ok(self.errand_id) };
        let Work::Launch { agent_id } = live.work else { return Ok(self.errand_id) };
        // Not if it is taken up at this very moment.
        desk.rely_on(&errand);
        let post = desk.load::<Post>(agent_id.0).await?;
        let body = json!({ "bench": live.bench, "since": self.since, "waiting": self.waiting });
        letters::note(desk, post.state.live()?, "launch_waiting", body).await?;
        letters::launch_waiting(desk, live, self.since, self.waiting).await?;
        Ok(self.errand_id)
    }
}
