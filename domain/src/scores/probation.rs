//! Probation: when an agent is put under watch, and when that ends.

use serde::{Deserialize, Serialize};

use super::{KpiInputs, KpiRecord, OverallTrend, ScorePolicy};
use crate::agent::AgentStatus;

/// Why an agent is put on probation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// It is trusted too little.
    LowTrust,
    /// Its code is too bad.
    LowCodeQuality,
    /// Its pull requests are rejected, one after another.
    RejectedInARow,
    /// Its last tasks have too many bugs.
    RecentBugs,
}

/// Which conditions for the end of probation are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// It is trusted enough.
    pub trust: bool,
    /// Its code is good enough.
    pub code_quality: bool,
    /// It has done enough.
    pub tasks_completed: bool,
    /// It has become better each time.
    pub improving: bool,
}

impl Recovery {
    /// Whether all of them are met.
    pub fn is_complete(self) -> bool {
        self.trust && self.code_quality && self.tasks_completed && self.improving
    }
}

/// Every reason there is to put an agent on probation. `history` has the newest record first.
pub fn triggers(trust: f64, history: &[KpiRecord], inputs: &KpiInputs, policy: &ScorePolicy) -> Vec<Trigger> {
    let rules = &policy.probation;
    let quality = history.first().map(|latest| latest.metrics.code_quality_score);
    let reasons = [
        (Trigger::LowTrust, trust < rules.trust_below),
        (Trigger::LowCodeQuality, quality.is_some_and(|quality| quality < rules.quality_below)),
        (Trigger::RejectedInARow, inputs.rejections_in_a_row >= rules.rejections),
        (Trigger::RecentBugs, inputs.recent_bugs >= rules.bugs),
    ];
    reasons.into_iter().filter(|(_, holds)| *holds).map(|(trigger, _)| trigger).collect()
}

/// How far an agent has come on its way out of probation. `history` has the newest record first.
pub fn recovery(trust: f64, history: &[KpiRecord], policy: &ScorePolicy) -> Recovery {
    let rules = &policy.recovery;
    let latest = history.first().map(|latest| &latest.metrics);
    let mut recent = history.iter().take(rules.improving_records);
    Recovery {
        trust: trust >= rules.trust,
        code_quality: latest.is_some_and(|it| it.code_quality_score >= rules.quality),
        tasks_completed: latest.is_some_and(|it| it.tasks_completed >= rules.tasks),
        improving: history.len() >= rules.improving_records
            && recent.all(|record| record.trends.overall == OverallTrend::Improving),
    }
}

/// The status that follows for an agent, and the reasons to put it on probation; none when it stays as it is.
///
/// Only active agents are put on probation: what the owner has set aside stays so.
pub fn next_status(
    status: AgentStatus,
    trust: f64,
    history: &[KpiRecord],
    inputs: &KpiInputs,
    policy: &ScorePolicy,
) -> Option<(AgentStatus, Vec<Trigger>)> {
    match status {
        AgentStatus::Active => {
            let triggers = triggers(trust, history, inputs, policy);
            (!triggers.is_empty()).then_some((AgentStatus::Probation, triggers))
        }
        AgentStatus::Probation => {
            recovery(trust, history, policy).is_complete().then_some((AgentStatus::Active, vec![]))
        }
        AgentStatus::Inactive | AgentStatus::Terminated => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::id;
    use crate::scores::{Metrics, Trend, Trends};

    fn record(quality: f64, tasks: u32, overall: OverallTrend) -> KpiRecord {
        let metrics = Metrics {
            tasks_completed: tasks,
            code_quality_score: quality,
            positive_feedback_count: 0,
            feature_completion_rate: 1.0,
            bugs_introduced: 0,
            deployment_failures: 0,
            code_churn: 0,
            average_task_duration: 0,
        };
        let trends = Trends { tasks_completed: Trend::Stable, code_quality: Trend::Stable, overall };
        KpiRecord { kpi_id: id(90), metrics, trends }
    }

    fn triggered(trust: f64, quality: f64, inputs: KpiInputs) -> Vec<Trigger> {
        let history = [record(quality, 0, OverallTrend::Stable)];
        triggers(trust, &history, &inputs, &ScorePolicy::default())
    }

    fn rejected(rejections_in_a_row: u32) -> KpiInputs {
        KpiInputs { rejections_in_a_row, ..Default::default() }
    }

    fn with_bugs(recent_bugs: u32) -> KpiInputs {
        KpiInputs { recent_bugs, ..Default::default() }
    }

    #[test]
    fn each_condition_alone_is_enough_and_its_limit_is_sharp() {
        let none = KpiInputs::default;
        for (found, expected) in [
            (triggered(30.0, 20.0, none()), vec![]),
            (triggered(29.99, 20.0, none()), vec![Trigger::LowTrust]),
            (triggered(30.0, 19.9, none()), vec![Trigger::LowCodeQuality]),
            (triggered(30.0, 20.0, rejected(2)), vec![]),
            (triggered(30.0, 20.0, rejected(3)), vec![Trigger::RejectedInARow]),
            (triggered(30.0, 20.0, with_bugs(4)), vec![]),
            (triggered(30.0, 20.0, with_bugs(5)), vec![Trigger::RecentBugs]),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn recovery_needs_every_condition() {
        let policy = ScorePolicy::default();
        let good = record(60.0, 5, OverallTrend::Improving);
        let complete = |trust: f64, history: &[KpiRecord]| recovery(trust, history, &policy).is_complete();
        let three = |latest: KpiRecord| [latest, good.clone(), good.clone()];
        assert!(complete(50.0, &three(good.clone())));
        assert!(!complete(49.99, &three(good.clone())), "trust");
        assert!(!complete(50.0, &three(record(59.9, 5, OverallTrend::Improving))), "quality");
        assert!(!complete(50.0, &three(record(60.0, 4, OverallTrend::Improving))), "tasks");
        assert!(!complete(50.0, &three(record(60.0, 5, OverallTrend::Stable))), "trend");
        assert!(!complete(50.0, &[good.clone(), good.clone()]), "three records");
        let old = record(0.0, 0, OverallTrend::Declining);
        assert!(complete(50.0, &[&three(good.clone())[..], &[old]].concat()), "only three records");
    }

    #[test]
    fn only_active_agents_are_put_on_probation_and_only_those_on_it_recover() {
        let policy = ScorePolicy::default();
        let (bad, good) = ([record(0.0, 0, OverallTrend::Declining)], record(60.0, 5, OverallTrend::Improving));
        let good = [good.clone(), good.clone(), good];
        let next = |status, trust, history: &[KpiRecord]| {
            next_status(status, trust, history, &KpiInputs::default(), &policy).map(|(status, _)| status)
        };
        assert_eq!(next(AgentStatus::Active, 10.0, &bad), Some(AgentStatus::Probation));
        assert_eq!(next(AgentStatus::Active, 90.0, &good), None);
        assert_eq!(next(AgentStatus::Probation, 10.0, &bad), None);
        assert_eq!(next(AgentStatus::Probation, 90.0, &good), Some(AgentStatus::Active));
        for status in [AgentStatus::Inactive, AgentStatus::Terminated] {
            assert_eq!(next(status, 10.0, &bad), None);
            assert_eq!(next(status, 90.0, &good), None);
        }
    }
}
