//! Recalculating KPIs on demand, and waiting for the recalculation that follows from a stopped session.

use std::time::Duration;

use commands::scores::RecalculateKpis;
use commands::{Context, Done};
use domain::scores::{ScorePolicy, tally};
use domain::{AgentId, KpiId, UserId};
use projections::{score_facts, scorecards};
use reactors::{Reactor, RecalculateKpisOnSessionStopped};
use uuid::Uuid;

use super::KpiChange;
use crate::App;
use crate::code::Code;
use crate::error::ApiError;

/// How often facts are counted again because a calculation of newer ones was recorded first.
const ATTEMPTS: usize = 5;
/// The longest that an answer waits for what follows from its command.
const REACTION: Duration = Duration::from_secs(2);

impl App {
    /// Calculates an agent's KPIs from everything that has happened.
    pub(super) async fn recalculate(
        &self,
        context: &Context,
        owner: UserId,
        agent_id: AgentId,
    ) -> Result<Done<KpiId>, ApiError> {
        let (kpi_id, policy) = (KpiId(Uuid::now_v7()), ScorePolicy::default());
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.shows(score_facts::NAME, self.log.head().await?.position).await?;
            let (facts, position) = score_facts::load(&self.views, agent_id).await?;
            let command = RecalculateKpis {
                by: Some(owner),
                agent_id,
                kpi_id,
                inputs: tally(&facts, context.now, &policy).inputs,
                position,
                policy: policy.clone(),
                reason: "Manual recalculation".to_owned(),
                now: context.now,
            };
            match self.run(context, &command).await {
                Err(outrun) if outrun.is(Code::ConcurrencyConflict) && attempts < ATTEMPTS => {}
                ended => return ended,
            }
        }
    }

    /// A calculation beside the one before it; `None` if the read model does not show it in time.
    pub(super) async fn kpi_change(&self, id: KpiId, position: i64) -> Result<Option<KpiChange>, ApiError> {
        if !self.engine.wait_for(&[scorecards::NAME], position, self.settings.patience).await {
            return Ok(None);
        }
        let Some(new) = scorecards::find(&self.views, id).await? else { return Ok(None) };
        let before = scorecards::recent_before(&self.views, new.agent_id, new.recorded_position, 1).await?;
        Ok(Some(KpiChange::of(before.into_iter().next(), new)))
    }

    /// The KPIs that a stopped session brought about: waits for the reaction to the stop, but not for ever. `position` is
    /// that of the stop. `None` when there is none, or none in time; it then comes by itself.
    pub(crate) async fn kpis_after_stop(&self, agent: AgentId, position: i64) -> Result<Option<KpiChange>, ApiError> {
        let Some(stop) = self.log.read_at(position).await? else { return Ok(None) };
        if !self.reactors.wait_for(RecalculateKpisOnSessionStopped.name(), position, REACTION).await {
            return Ok(None);
        }
        let head = self.log.head().await?.position;
        self.kpi_change(reactors::kpi_id(stop.event_id, agent), head).await
    }

    /// Waits until a read model shows a position that must be shown.
    pub(super) async fn shows(&self, read_model: &str, position: i64) -> Result<(), ApiError> {
        if self.engine.wait_for(&[read_model], position, self.settings.patience).await {
            return Ok(());
        }
        Err(ApiError::unavailable(format!("position {position} is not shown yet; try again")))
    }
}
