//! Record a calculation of an agent's KPIs.

use chrono::{DateTime, Utc};

use super::{Scorecard, ScorecardError, ScorecardEvent};
use crate::scores::{KpiInputs, KpiRecord, ScorePolicy, kpi};
use crate::{AgentId, KpiId, WorkspaceId};

/// Makes KPIs of an agent's facts as they were counted up to a log position.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordKpi {
    /// The id it gets; a calculation is recorded once.
    pub kpi_id: KpiId,
    /// Whose KPIs.
    pub agent_id: AgentId,
    /// The workspace that the agent belongs to.
    pub workspace_id: WorkspaceId,
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

pub(crate) fn decide(scorecard: &Scorecard, command: RecordKpi) -> Result<Vec<ScorecardEvent>, ScorecardError> {
    let previous = match scorecard {
        Scorecard::Blank => None,
        Scorecard::Kept(kept) => {
            if kept.history.iter().any(|record| record.kpi_id == command.kpi_id) {
                return Ok(vec![]);
            }
            if command.position < kept.position {
                let (position, recorded) = (command.position, kept.position);
                return Err(ScorecardError::Outdated { position, recorded });
            }
            kept.history.first().map(|KpiRecord { metrics, .. }| metrics.clone())
        }
    };
    let metrics = kpi::metrics(&command.inputs, &command.policy);
    Ok(vec![ScorecardEvent::KpiRecalculated {
        kpi_id: command.kpi_id,
        agent_id: command.agent_id,
        workspace_id: command.workspace_id,
        trends: kpi::trends(previous.as_ref(), &metrics, &command.policy),
        metrics,
        previous,
        reason: command.reason,
        formula_version: command.policy.formula_version,
        position: command.position,
        inputs: command.inputs,
        calculated_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{better, calculated, record};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, given, id};
    use crate::scorecard::ScorecardCommand;
    use crate::scores::OverallTrend;

    #[test]
    fn the_first_calculation_has_nothing_to_compare_with() {
        given::<Scorecard>([])
            .when(ScorecardCommand::RecordKpi(record(1)))
            .then_expect_events(vec![calculated(&[], record(1))]);
    }

    #[test]
    fn the_next_one_is_compared_with_the_one_before() {
        let first = calculated(&[], record(1));
        let events = decide(&after([first.clone()]), better(2)).expect("a record");
        let [ScorecardEvent::KpiRecalculated { previous, trends, .. }] = &events[..] else { panic!("one record") };
        assert_eq!(previous.as_ref().map(|it| it.code_quality_score), Some(50.0));
        assert_eq!(trends.overall, OverallTrend::Improving);
    }

    #[test]
    fn a_calculation_is_recorded_once() {
        let first = calculated(&[], record(1));
        let second = calculated(std::slice::from_ref(&first), better(2));
        for number in [1, 2] {
            given::<Scorecard>([first.clone(), second.clone()])
                .when(ScorecardCommand::RecordKpi(record(number)))
                .then_expect_events(vec![]);
        }
    }

    #[test]
    fn a_calculation_from_older_facts_comes_too_late() {
        let command = RecordKpi { position: 1, ..record(2) };
        given::<Scorecard>([calculated(&[], record(5))])
            .when(ScorecardCommand::RecordKpi(command))
            .then_expect_error(ScorecardError::Outdated { position: 1, recorded: 5 });
    }

    #[test]
    fn ten_records_are_kept_newest_first() {
        let mut history = vec![];
        for number in 1..=12 {
            history.push(calculated(&history, record(number)));
        }
        let scorecard: Scorecard = after(history);
        let kept = scorecard.kept().expect("records");
        assert_eq!(
            kept.history.iter().map(|it| it.kpi_id).collect::<Vec<_>>(),
            (3..=12).rev().map(|it| id(900 + it)).collect::<Vec<_>>()
        );
        assert_eq!(scorecard.workspace(), Some(id(10)));
    }
}
