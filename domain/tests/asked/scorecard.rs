//! Of scorecards.

use domain::scorecard::{RecordKpi, RecordTrust, ScorecardCommand};
use domain::scores::{KpiInputs, ScorePolicy};
use proptest::prelude::*;

use super::{at, id, status};

pub(crate) fn scorecard_command() -> impl Strategy<Value = ScorecardCommand> {
    let kpi = (0..20_u128, inputs()).prop_map(|(number, inputs)| {
        ScorecardCommand::RecordKpi(RecordKpi {
            kpi_id: id(900 + number),
            agent_id: id(30),
            workspace_id: id(10),
            inputs,
            position: number as i64,
            policy: ScorePolicy::default(),
            reason: "Session stopped".to_owned(),
            now: at(number as i64),
        })
    });
    let trust = (0..20_u128, status()).prop_map(|(number, status)| {
        ScorecardCommand::RecordTrust(RecordTrust {
            kpi_id: id(900 + number),
            status,
            policy: ScorePolicy::default(),
            reason: "KPIs recalculated".to_owned(),
            now: at(number as i64),
        })
    });
    prop_oneof![kpi, trust]
}

fn inputs() -> impl Strategy<Value = KpiInputs> {
    (0..6_u32, 0..6_u32, 0..9_u32, 0..9_u32, 0..7_u32, 0..5_u32).prop_map(
        |(due_tasks_completed, more_due, approved, changes, bugs, failed)| KpiInputs {
            completed_tasks: due_tasks_completed,
            due_tasks: due_tasks_completed + more_due,
            due_tasks_completed,
            approved_on_first_review: approved,
            changes_requested: changes,
            bug_tasks: bugs,
            failed_deployments: failed,
            ..Default::default()
        },
    )
}
