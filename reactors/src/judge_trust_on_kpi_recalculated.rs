//! When an agent's KPIs were calculated, it is judged by them: its trust, then whether it is put on probation or let off.

use std::pin::Pin;

use commands::CommandError;
use commands::scores::RecordTrust;
use domain::scorecard::ScorecardEvent;
use domain::scores::ScorePolicy;
use projections::{Fact, FactOf};

use crate::{Reaction, Reactor};

/// Judges an agent by its newest KPIs.
#[derive(Debug, Clone, Copy)]
pub struct JudgeTrustOnKpiRecalculated;

impl Reactor for JudgeTrustOnKpiRecalculated {
    fn name(&self) -> &'static str {
        "judge_trust_on_kpi_recalculated"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Scorecard(ScorecardEvent::KpiRecalculated { .. }))
    }

    // The scorecard itself holds what is judged.
    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let FactOf::Scorecard(ScorecardEvent::KpiRecalculated { kpi_id, agent_id, reason, .. }) =
                &reaction.fact.of
            {
                let judge = RecordTrust {
                    agent_id: *agent_id,
                    kpi_id: *kpi_id,
                    policy: ScorePolicy::default(),
                    reason: format!("KPIs recalculated: {reason}"),
                    now: reaction.now(),
                };
                reaction.run(agent_id.0, &judge).await?;
            }
            Ok(())
        })
    }
}
