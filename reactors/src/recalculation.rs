//! How a reactor recalculates an agent's KPIs: count the facts up to the event, record, count again if outrun.

use commands::CommandError;
use commands::Refusal;
use commands::scores::RecalculateKpis;
use domain::scorecard::ScorecardError;
use domain::scores::{ScorePolicy, tally};
use domain::{AgentId, KpiId};
use projections::score_facts;
use uuid::Uuid;

use crate::Reaction;

/// How often facts are counted again because a calculation of newer ones was recorded first.
const ATTEMPTS: usize = 5;

/// The id of the calculation that an event causes for an agent: the same whenever it is asked for.
pub fn kpi_id(cause: Uuid, agent: AgentId) -> KpiId {
    KpiId(Uuid::new_v5(&cause, format!("kpi:{agent}").as_bytes()))
}

/// Records an agent's KPIs as of the event, or, if newer ones were recorded before, as of now.
pub(crate) async fn recalculate(reaction: &Reaction<'_>, agent_id: AgentId, reason: &str) -> Result<(), CommandError> {
    let policy = ScorePolicy::default();
    let (mut facts, mut position) = score_facts::load_as_of(reaction.views, agent_id, reaction.fact.position).await?;
    for _ in 0..ATTEMPTS {
        let command = RecalculateKpis {
            by: None,
            agent_id,
            kpi_id: kpi_id(reaction.fact.event_id, agent_id),
            inputs: tally(&facts, reaction.now(), &policy).inputs,
            position,
            policy: policy.clone(),
            reason: reason.to_owned(),
            now: reaction.now(),
        };
        match reaction.run(agent_id.0, &command).await {
            Err(CommandError::Refused(Refusal::Scorecard(ScorecardError::Outdated { .. }))) => {
                (facts, position) = score_facts::load(reaction.views, agent_id).await?;
            }
            ended => return ended.map(drop),
        }
    }
    Err(CommandError::Conflict)
}
