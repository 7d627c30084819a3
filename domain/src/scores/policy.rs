//! The policy: every number that scores depend on, with the document's as the default.
//!
//! A policy that is read need only say what is otherwise than the default. [`ScorePolicy::check`] says whether it makes
//! sense.

use serde::{Deserialize, Serialize};

/// Every number that scores depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScorePolicy {
    /// Names these formulas with these numbers, for records to refer to; not for a policy file to say.
    #[serde(skip)]
    pub formula_version: u32,
    /// How good code is.
    pub quality: QualityPolicy,
    /// A task counts for the completion rate when it was assigned more days ago than this.
    pub completion_days: i64,
    /// Code churn is counted over so many days.
    pub churn_days: i64,
    /// How an agent does on the whole, from 0 to 1.
    pub overall: OverallWeights,
    /// The trust that an agent has before it is measured.
    pub initial_trust: f64,
    /// What trust is made of.
    pub base: BaseWeights,
    /// What a trend adds to trust, or takes from it.
    pub trend: TrendWeights,
    /// What it is worth to be steady.
    pub consistency: ConsistencyPolicy,
    /// How many KPI records trust looks back on.
    pub history: usize,
    /// When an agent is put on probation.
    pub probation: ProbationPolicy,
    /// When probation ends.
    pub recovery: RecoveryPolicy,
}

/// How good code is: points, of which there are 0 to 100.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QualityPolicy {
    /// What everybody has.
    pub base: f64,
    /// What a pull request adds that the first review approves.
    pub approved_on_first_review: f64,
    /// What every request for changes takes.
    pub change_requested: f64,
    /// What a pull request takes in which a linter found something.
    pub lint_errors: f64,
}

/// How an agent does on the whole: shares that make 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OverallWeights {
    /// Of code quality.
    pub quality: f64,
    /// Of the completion rate.
    pub completion: f64,
    /// Of having introduced no bugs.
    pub bugs: f64,
    /// Of having failed no deployments.
    pub failures: f64,
    /// How many of 100 points a bug takes.
    pub per_bug: f64,
    /// How many of 100 points a failed deployment takes.
    pub per_failure: f64,
}

/// What trust is made of: points that make 100.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BaseWeights {
    /// For code quality.
    pub quality: f64,
    /// For the completion rate.
    pub completion: f64,
    /// For having introduced no bugs.
    pub bugs: f64,
    /// How many of those a bug takes.
    pub per_bug: f64,
    /// For having failed no deployments.
    pub failures: f64,
    /// How many of those a failed deployment takes.
    pub per_failure: f64,
}

/// What a trend adds to trust, or takes from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrendWeights {
    /// Doing better on the whole.
    pub overall: f64,
    /// Writing better code.
    pub quality: f64,
    /// Completing more tasks.
    pub tasks: f64,
}

/// What it is worth to be steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsistencyPolicy {
    /// From how many records on it counts.
    pub records: usize,
    /// What no deviation at all is worth.
    pub bonus: f64,
    /// How much standard deviation takes one point.
    pub deviation_per_point: f64,
}

/// When an agent is put on probation: any of these is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProbationPolicy {
    /// Trust below this.
    pub trust_below: f64,
    /// Code quality below this.
    pub quality_below: f64,
    /// So many pull requests rejected, one after another.
    pub rejections: u32,
    /// So many bugs.
    pub bugs: u32,
    /// In so many tasks that were completed last.
    pub recent_tasks: usize,
}

/// When probation ends: all of these are needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryPolicy {
    /// Trust of at least this.
    pub trust: f64,
    /// Code quality of at least this.
    pub quality: f64,
    /// So many tasks completed.
    pub tasks: u32,
    /// So many KPI records, each better than the one before.
    pub improving_records: usize,
}

impl Default for ScorePolicy {
    fn default() -> Self {
        Self {
            formula_version: 1,
            quality: QualityPolicy::default(),
            completion_days: 7,
            churn_days: 30,
            overall: OverallWeights::default(),
            initial_trust: 50.0,
            base: BaseWeights::default(),
            trend: TrendWeights::default(),
            consistency: ConsistencyPolicy::default(),
            history: 10,
            probation: ProbationPolicy::default(),
            recovery: RecoveryPolicy::default(),
        }
    }
}

impl Default for QualityPolicy {
    fn default() -> Self {
        Self { base: 50.0, approved_on_first_review: 10.0, change_requested: 5.0, lint_errors: 10.0 }
    }
}

impl Default for OverallWeights {
    fn default() -> Self {
        Self { quality: 0.4, completion: 0.3, bugs: 0.2, failures: 0.1, per_bug: 10.0, per_failure: 10.0 }
    }
}

impl Default for BaseWeights {
    fn default() -> Self {
        Self { quality: 40.0, completion: 30.0, bugs: 20.0, per_bug: 4.0, failures: 10.0, per_failure: 3.33 }
    }
}

impl Default for TrendWeights {
    fn default() -> Self {
        Self { overall: 5.0, quality: 2.0, tasks: 1.0 }
    }
}

impl Default for ConsistencyPolicy {
    fn default() -> Self {
        Self { records: 3, bonus: 5.0, deviation_per_point: 0.06 }
    }
}

impl Default for ProbationPolicy {
    fn default() -> Self {
        Self { trust_below: 30.0, quality_below: 20.0, rejections: 3, bugs: 5, recent_tasks: 10 }
    }
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self { trust: 50.0, quality: 60.0, tasks: 5, improving_records: 3 }
    }
}
