//! Scores: how well an agent does, computed from facts and nothing else.
//!
//! [`tally()`] counts [`Facts`] and names the log positions that count. [`metrics`](kpi::metrics) makes
//! KPIs of the counts, [`trends`](kpi::trends) compares them with the ones before, [`trust::judge`] makes a trust
//! score of the last ten, and [`probation`] says what follows for the agent. All numbers that could be otherwise are in
//! [`ScorePolicy`]. The arithmetic is that of the document, operation by operation, so that it gives the same bits.

mod facts;
pub mod kpi;
mod policy;
mod policy_check;
pub mod probation;
mod tally;
pub mod trust;

pub use facts::{DeploymentFact, Facts, Moment, Outcome, PullRequestFact, PushFact, ReviewFact, TaskFact};
pub use kpi::{KpiRecord, MetricChange, Metrics, OverallTrend, Trend, Trends};
pub use policy::{
    BaseWeights, ConsistencyPolicy, OverallWeights, ProbationPolicy, QualityPolicy, RecoveryPolicy, ScorePolicy,
    TrendWeights,
};
pub use policy_check::PolicyError;
pub use probation::{Recovery, Trigger};
pub use tally::{Counted, KpiInputs, Tally, tally};
pub use trust::{Direction, Factor, TrustBreakdown};

/// Two decimals, half away from zero: for the positive numbers of the document what `Math.round(x * 100) / 100` gives.
pub fn two_decimals(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::two_decimals;

    #[test]
    fn halves_go_away_from_zero() {
        for (number, rounded) in [(0.125, 0.13), (0.375, 0.38), (-0.125, -0.13), (99.994, 99.99), (50.0, 50.0)] {
            assert_eq!(two_decimals(number), rounded);
        }
    }
}
