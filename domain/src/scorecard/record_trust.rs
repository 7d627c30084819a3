//! Record what an agent's KPIs mean for the trust in it, and for its status.

use chrono::{DateTime, Utc};

use super::{Scorecard, ScorecardError, ScorecardEvent};
use crate::KpiId;
use crate::agent::AgentStatus;
use crate::scores::{ScorePolicy, probation, trust, two_decimals};

const PUT_ON_PROBATION: &str = "Automatic probation trigger activated";
const PROBATION_LIFTED: &str = "Probation lifted due to consistent improvement";

/// Judges an agent by a calculation of its KPIs.
///
/// When its status changes, that is recorded on the agent's own stream in the same commit.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordTrust {
    /// The calculation to judge by.
    pub kpi_id: KpiId,
    /// The agent's status now.
    pub status: AgentStatus,
    /// The formulas' numbers.
    pub policy: ScorePolicy,
    /// Why it is judged.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(scorecard: &Scorecard, command: RecordTrust) -> Result<Vec<ScorecardEvent>, ScorecardError> {
    let RecordTrust { kpi_id, status, policy, reason, now } = command;
    let kept = scorecard.kept()?;
    let is_latest = kept.history.first().is_some_and(|latest| latest.kpi_id == kpi_id);
    let is_judged = kept.trust.is_some_and(|(judged, _)| judged == kpi_id);
    if !is_latest || is_judged {
        // A newer calculation is judged in its own time.
        return Ok(vec![]);
    }
    let Some(breakdown) = trust::judge(&kept.history, &policy) else { return Ok(vec![]) };
    let before = kept.trust.map(|(_, breakdown)| breakdown);
    let previous = before.map_or(policy.initial_trust, |it| it.score);
    let new = breakdown.score;
    let next = probation::next_status(status, new, &kept.history, &kept.inputs, &policy);
    if previous == new && next.is_none() {
        return Ok(vec![]);
    }
    let reason = match next.as_ref().map(|(status, _)| status) {
        Some(AgentStatus::Probation) => PUT_ON_PROBATION.to_owned(),
        Some(AgentStatus::Active) => PROBATION_LIFTED.to_owned(),
        Some(AgentStatus::Inactive | AgentStatus::Terminated) | None => reason,
    };
    let (new_status, triggers) = next.unzip();
    Ok(vec![ScorecardEvent::TrustScoreChanged {
        kpi_id,
        previous,
        new,
        change: two_decimals(new - previous),
        reason,
        factors: trust::factors(before.as_ref(), &breakdown, &policy),
        breakdown,
        previous_status: new_status.map(|_| status),
        new_status,
        triggers: triggers.unwrap_or_default(),
        changed_at: now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{better, calculated, judge, record};
    use super::*;
    use crate::examples::{after, given, id};
    use crate::scorecard::{RecordKpi, ScorecardCommand};
    use crate::scores::{KpiInputs, Trigger};

    /// The history after calculations, and after a judgement of each but the last.
    fn judged(calculations: impl IntoIterator<Item = RecordKpi>, status: AgentStatus) -> Vec<ScorecardEvent> {
        let mut history: Vec<ScorecardEvent> = vec![];
        let mut last: Option<KpiId> = None;
        for calculation in calculations {
            if let Some(kpi_id) = last.replace(calculation.kpi_id) {
                let command = RecordTrust { kpi_id, status, ..judge(1) };
                history.extend(decide(&after(history.clone()), command).expect("a judgement"));
            }
            history.push(calculated(&history, calculation));
        }
        history
    }

    fn judgement(history: &[ScorecardEvent], command: RecordTrust) -> Option<ScorecardEvent> {
        decide(&after(history), command).expect("a judgement").pop()
    }

    #[test]
    fn trust_starts_at_fifty_and_follows_the_kpis() {
        // 20 for quality, 30 for completion, 20 for no bugs, 10 for no failures.
        let event = judgement(&judged([record(1)], AgentStatus::Active), judge(1));
        let Some(ScorecardEvent::TrustScoreChanged { previous, new, change, new_status, .. }) = event else {
            panic!("a change")
        };
        assert_eq!((previous, new, change, new_status), (50.0, 80.0, 30.0, None));
    }

    #[test]
    fn a_calculation_is_judged_once_and_only_while_it_is_the_latest() {
        let history = judged([record(1), better(2)], AgentStatus::Active);
        let change = judgement(&history, judge(2)).expect("a change");
        assert_eq!(judgement(&[&history[..], &[change]].concat(), judge(2)), None);
        assert_eq!(judgement(&history, judge(1)), None);
    }

    #[test]
    fn the_same_trust_is_no_change() {
        assert_eq!(judgement(&judged([record(1), record(2)], AgentStatus::Active), judge(2)), None);
    }

    #[test]
    fn a_trigger_puts_an_active_agent_on_probation_even_when_its_score_stays() {
        let inputs = KpiInputs { rejections_in_a_row: 3, ..Default::default() };
        let history = judged([record(1), RecordKpi { inputs, ..record(2) }], AgentStatus::Active);
        let Some(ScorecardEvent::TrustScoreChanged { change, reason, previous_status, new_status, triggers, .. }) =
            judgement(&history, judge(2))
        else {
            panic!("a change")
        };
        assert_eq!((change, reason.as_str()), (0.0, "Automatic probation trigger activated"));
        assert_eq!((previous_status, new_status), (Some(AgentStatus::Active), Some(AgentStatus::Probation)));
        assert_eq!(triggers, [Trigger::RejectedInARow]);
    }

    #[test]
    fn an_agent_that_improves_three_times_is_active_again() {
        let history = judged((1..=4).map(better), AgentStatus::Probation);
        let command = RecordTrust { status: AgentStatus::Probation, ..judge(4) };
        let Some(ScorecardEvent::TrustScoreChanged { reason, new_status, .. }) = judgement(&history, command) else {
            panic!("a change")
        };
        assert_eq!(reason, "Probation lifted due to consistent improvement");
        assert_eq!(new_status, Some(AgentStatus::Active));
    }

    #[test]
    fn nobody_is_judged_before_a_calculation() {
        given::<Scorecard>([])
            .when(ScorecardCommand::RecordTrust(RecordTrust { kpi_id: id(901), ..judge(1) }))
            .then_expect_error(ScorecardError::NotFound);
    }
}
