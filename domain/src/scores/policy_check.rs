//! Which policies make sense: weights that add up, numbers within their bounds, thresholds that do not contradict.

use thiserror::Error;

use super::ScorePolicy;
use crate::scorecard::KEPT_RECORDS;

/// The longest time that facts are looked back on: a hundred years.
const MOST_DAYS: f64 = 36_500.0;
/// How far a sum of weights may be off, because decimals are not exact.
const EXACTNESS: f64 = 1e-9;

/// Why a policy makes no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PolicyError {
    /// A number is not between its bounds.
    #[error("{key} is {value}, but must be from {least} to {most}")]
    OutOfBounds {
        /// Which number.
        key: &'static str,
        /// What it is.
        value: f64,
        /// The least that it may be.
        least: f64,
        /// The most that it may be.
        most: f64,
    },
    /// Something would be divided by a number that is zero, less, or no number.
    #[error("{key} is {value}, but must be more than 0")]
    NotPositive {
        /// Which number.
        key: &'static str,
        /// What it is.
        value: f64,
    },
    /// Weights do not make what they must make together.
    #[error("{keys} make {sum} together, but must make {whole}")]
    DoNotAddUp {
        /// Which weights.
        keys: &'static str,
        /// What they make.
        sum: f64,
        /// What they must make.
        whole: f64,
    },
    /// An agent would be let off and be put on probation again at once.
    #[error("{end} is {at_end}, which is less than {begin}, {at_begin}: probation would begin again where it ends")]
    EndsWhereItBegins {
        /// What ends probation.
        end: &'static str,
        /// At which number.
        at_end: f64,
        /// What begins it.
        begin: &'static str,
        /// At which number.
        at_begin: f64,
    },
}

impl ScorePolicy {
    /// Everything that makes no sense about the policy; nothing when it can be used.
    pub fn check(&self) -> Result<(), Vec<PolicyError>> {
        let mut wrong: Vec<PolicyError> = self.bounds().into_iter().filter_map(out_of_bounds).collect();
        let (key, value) = ("consistency.deviation_per_point", self.consistency.deviation_per_point);
        if !(value.is_finite() && value > 0.0) {
            wrong.push(PolicyError::NotPositive { key, value });
        }
        let (overall, base) = (&self.overall, &self.base);
        for (keys, sum, whole) in [
            (
                "overall.quality, completion, bugs and failures",
                overall.quality + overall.completion + overall.bugs + overall.failures,
                1.0,
            ),
            (
                "base.quality, completion, bugs and failures",
                base.quality + base.completion + base.bugs + base.failures,
                100.0,
            ),
        ] {
            if (sum - whole).abs() > EXACTNESS {
                wrong.push(PolicyError::DoNotAddUp { keys, sum, whole });
            }
        }
        let (begins, ends) = (&self.probation, &self.recovery);
        for (end, at_end, begin, at_begin) in [
            ("recovery.trust", ends.trust, "probation.trust_below", begins.trust_below),
            ("recovery.quality", ends.quality, "probation.quality_below", begins.quality_below),
        ] {
            if at_end < at_begin {
                wrong.push(PolicyError::EndsWhereItBegins { end, at_end, begin, at_begin });
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Numbers, each with the least and the most that it may be.
    fn bounds(&self) -> [(&'static str, f64, f64, f64); 33] {
        let (quality, overall, base, trend) = (&self.quality, &self.overall, &self.base, &self.trend);
        let (consistency, probation, recovery) = (&self.consistency, &self.probation, &self.recovery);
        let (records, count) = (KEPT_RECORDS as f64, f64::from(u32::MAX));
        [
            ("completion_days", self.completion_days as f64, 0.0, MOST_DAYS),
            ("churn_days", self.churn_days as f64, 0.0, MOST_DAYS),
            ("initial_trust", self.initial_trust, 0.0, 100.0),
            // No more records are kept to look back on.
            ("history", self.history as f64, 1.0, records),
            ("quality.base", quality.base, 0.0, 100.0),
            ("quality.approved_on_first_review", quality.approved_on_first_review, 0.0, 100.0),
            ("quality.change_requested", quality.change_requested, 0.0, 100.0),
            ("quality.lint_errors", quality.lint_errors, 0.0, 100.0),
            ("overall.quality", overall.quality, 0.0, 1.0),
            ("overall.completion", overall.completion, 0.0, 1.0),
            ("overall.bugs", overall.bugs, 0.0, 1.0),
            ("overall.failures", overall.failures, 0.0, 1.0),
            ("overall.per_bug", overall.per_bug, 0.0, 100.0),
            ("overall.per_failure", overall.per_failure, 0.0, 100.0),
            ("base.quality", base.quality, 0.0, 100.0),
            ("base.completion", base.completion, 0.0, 100.0),
            ("base.bugs", base.bugs, 0.0, 100.0),
            ("base.per_bug", base.per_bug, 0.0, 100.0),
            ("base.failures", base.failures, 0.0, 100.0),
            ("base.per_failure", base.per_failure, 0.0, 100.0),
            ("trend.overall", trend.overall, 0.0, 100.0),
            ("trend.quality", trend.quality, 0.0, 100.0),
            ("trend.tasks", trend.tasks, 0.0, 100.0),
            ("consistency.records", consistency.records as f64, 1.0, records),
            ("consistency.bonus", consistency.bonus, 0.0, 100.0),
            ("probation.trust_below", probation.trust_below, 0.0, 100.0),
            ("probation.quality_below", probation.quality_below, 0.0, 100.0),
            ("probation.rejections", f64::from(probation.rejections), 1.0, count),
            ("probation.bugs", f64::from(probation.bugs), 1.0, count),
            ("probation.recent_tasks", probation.recent_tasks as f64, 1.0, count),
            ("recovery.trust", recovery.trust, 0.0, 100.0),
            ("recovery.quality", recovery.quality, 0.0, 100.0),
            ("recovery.improving_records", recovery.improving_records as f64, 0.0, records),
        ]
    }
}

fn out_of_bounds((key, value, least, most): (&'static str, f64, f64, f64)) -> Option<PolicyError> {
    // Written so that what is no number is out of bounds too.
    let is_within = value >= least && value <= most;
    (!is_within).then_some(PolicyError::OutOfBounds { key, value, least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut ScorePolicy)) -> Vec<String> {
        let mut policy = ScorePolicy::default();
        change(&mut policy);
        policy.check().expect_err("a refusal").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_default_makes_sense() {
        assert_eq!(ScorePolicy::default().check(), Ok(()));
    }

    #[test]
    fn weights_make_a_whole() {
        let wrong = refused(|it| it.base.bugs = 25.0);
        assert_eq!(wrong, ["base.quality, completion, bugs and failures make 105 together, but must make 100"]);
        assert_eq!(refused(|it| it.overall.quality = 0.5).len(), 1);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let wrong = refused(|it| {
            it.trend.tasks = -1.0;
            it.history = 11;
            it.consistency.deviation_per_point = 0.0;
            it.quality.base = f64::NAN;
        });
        assert_eq!(
            wrong,
            [
                "history is 11, but must be from 1 to 10",
                "quality.base is NaN, but must be from 0 to 100",
                "trend.tasks is -1, but must be from 0 to 100",
                "consistency.deviation_per_point is 0, but must be more than 0",
            ]
        );
    }

    #[test]
    fn probation_does_not_begin_where_it_ends() {
        let wrong = refused(|it| it.probation.trust_below = 60.0);
        let expected = "recovery.trust is 50, which is less than probation.trust_below, 60: \
                        probation would begin again where it ends";
        assert_eq!(wrong, [expected]);
    }
}
