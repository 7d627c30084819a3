//! Calculations to test with: number N of agent 30 has the id 900 + N and counts facts up to position N.

use super::record_kpi;
use super::{RecordKpi, RecordTrust, Scorecard, ScorecardEvent};
use crate::agent::AgentStatus;
use crate::examples::{after, at, id};
use crate::scores::{KpiInputs, ScorePolicy};

/// A calculation of no facts.
pub(super) fn record(number: u32) -> RecordKpi {
    RecordKpi {
        kpi_id: id(900 + u128::from(number)),
        agent_id: id(30),
        workspace_id: id(10),
        inputs: KpiInputs::default(),
        position: number.into(),
        policy: ScorePolicy::default(),
        reason: "Session stopped".to_owned(),
        now: at(number.into()),
    }
}

/// A calculation that is better than any with a lower number.
pub(super) fn better(number: u32) -> RecordKpi {
    let inputs = KpiInputs { completed_tasks: 4 + number, approved_on_first_review: number, ..Default::default() };
    RecordKpi { inputs, ..record(number) }
}

pub(super) fn calculated(history: &[ScorecardEvent], calculation: RecordKpi) -> ScorecardEvent {
    let scorecard: Scorecard = after(history);
    record_kpi::decide(&scorecard, calculation).expect("a record").pop().expect("one event")
}

pub(super) fn judge(number: u32) -> RecordTrust {
    RecordTrust {
        kpi_id: id(900 + u128::from(number)),
        status: AgentStatus::Active,
        policy: ScorePolicy::default(),
        reason: "KPIs recalculated".to_owned(),
        now: at(number.into()),
    }
}
