//! Records an agent's KPIs as its facts make them; the facts were counted by whoever asks.

use chrono::{DateTime, Utc};
use domain::agent::Agent;
use domain::scorecard::{RecordKpi, Scorecard, ScorecardCommand};
use domain::scores::{KpiInputs, ScorePolicy};
use domain::{AgentId, KpiId, UserId};

use crate::agent::owned;
use crate::{Decision, Desk, Stop};

/// A calculation of an agent's KPIs.
///
/// It is refused as outdated when one of newer facts was recorded first: then the facts are to be counted again.
#[derive(Debug, Clone)]
pub struct RecalculateKpis {
    /// The owner who asks; none when it follows from what happened.
    pub by: Option<UserId>,
    /// Whose KPIs.
    pub agent_id: AgentId,
    /// The id that the calculation gets.
    pub kpi_id: KpiId,
    /// The facts, counted.
    pub inputs: KpiInputs,
    /// The log position up to which they count.
    pub position: i64,
    /// The formulas' numbers.
    pub policy: ScorePolicy,
    /// Why it is calculated.
    pub reason: String,
    /// The moment up to which facts count.
    pub now: DateTime<Utc>,
}

impl Decision for RecalculateKpis {
    type Outcome = KpiId;

    fn name(&self) -> &'static str {
        "kpi.recalculate"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<KpiId, Stop> {
        let workspace_id = match self.by {
            Some(owner) => owned(desk, owner, self.agent_id).await?.workspace_id,
            None => desk.load::<Agent>(self.agent_id.0).await?.state.live()?.workspace_id,
        };
        let record = RecordKpi {
            kpi_id: self.kpi_id,
            agent_id: self.agent_id,
            workspace_id,
            inputs: self.inputs.clone(),
            position: self.position,
            policy: self.policy.clone(),
            reason: self.reason.clone(),
            now: self.now,
        };
        desk.run::<Scorecard>(self.agent_id.0, ScorecardCommand::RecordKpi(record)).await?;
        Ok(self.kpi_id)
    }
}
