//! Trust: one number for how far an agent is trusted, and what it is made of.

use serde::{Deserialize, Serialize};

use super::kpi::overall;
use super::{KpiRecord, Metrics, OverallTrend, ScorePolicy, Trend, two_decimals};

/// What a trust score is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrustBreakdown {
    /// The points for code quality.
    pub code_quality: f64,
    /// The points for the completion rate.
    pub completion_rate: f64,
    /// The points for having introduced few bugs.
    pub few_bugs: f64,
    /// The points for having failed few deployments.
    pub few_failures: f64,
    /// Those four together, from 0 to 100.
    pub base: f64,
    /// What the overall trend adds or takes.
    pub overall_trend: f64,
    /// What the trend of code quality adds or takes.
    pub code_quality_trend: f64,
    /// What the trend of tasks done adds or takes.
    pub tasks_completed_trend: f64,
    /// Those three together.
    pub trend: f64,
    /// What being steady adds.
    pub consistency: f64,
    /// The score: from 0 to 100, with two decimals.
    pub score: f64,
}

/// What a part of the score contributed to a change of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Which part.
    pub factor: String,
    /// How much, with two decimals.
    pub impact: f64,
    /// For better or worse.
    pub direction: Direction,
}

/// For better or worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Direction {
    Positive,
    Negative,
}

/// The trust that a history earns, newest record first; none while there is no record.
pub fn judge(history: &[KpiRecord], policy: &ScorePolicy) -> Option<TrustBreakdown> {
    let history = &history[..history.len().min(policy.history)];
    let latest = history.first()?;
    let mut breakdown = base(&latest.metrics, policy);
    if history.len() > 1 {
        let weights = &policy.trend;
        breakdown.overall_trend = match latest.trends.overall {
            OverallTrend::Improving => weights.overall,
            OverallTrend::Declining => -weights.overall,
            OverallTrend::Stable => 0.0,
        };
        breakdown.code_quality_trend = signed(latest.trends.code_quality, weights.quality);
        breakdown.tasks_completed_trend = signed(latest.trends.tasks_completed, weights.tasks);
    }
    breakdown.trend = breakdown.overall_trend + breakdown.code_quality_trend + breakdown.tasks_completed_trend;
    breakdown.consistency = consistency(history, policy);
    let score = breakdown.base + breakdown.trend + breakdown.consistency;
    breakdown.score = two_decimals(score.clamp(0.0, 100.0));
    Some(breakdown)
}

/// What made a score another: the difference of every part, leaving out those that stayed.
///
/// Before the first record there are no parts, only the trust that everybody starts with. The impacts make the
/// whole change, but for bounds and rounding.
pub fn factors(previous: Option<&TrustBreakdown>, current: &TrustBreakdown, policy: &ScorePolicy) -> Vec<Factor> {
    let before = previous.map_or([0.0; 8], TrustBreakdown::parts);
    let start = if previous.is_none() { -policy.initial_trust } else { 0.0 };
    let differences = current.parts().into_iter().zip(before).map(|(now, before)| now - before);
    let impacts = PARTS.into_iter().zip(differences).chain([("initial_trust", start)]);
    impacts.map(|(factor, impact)| (factor, two_decimals(impact))).filter_map(factor).collect()
}

const PARTS: [&str; 8] = [
    "code_quality",
    "feature_completion_rate",
    "bugs_introduced",
    "deployment_failures",
    "overall_trend",
    "code_quality_trend",
    "tasks_completed_trend",
    "consistency",
];

fn factor((factor, impact): (&str, f64)) -> Option<Factor> {
    let direction = match impact {
        more if more > 0.0 => Direction::Positive,
        less if less < 0.0 => Direction::Negative,
        _ => return None,
    };
    Some(Factor { factor: factor.to_owned(), impact, direction })
}

impl TrustBreakdown {
    /// In the order of their names.
    fn parts(&self) -> [f64; 8] {
        [
            self.code_quality,
            self.completion_rate,
            self.few_bugs,
            self.few_failures,
            self.overall_trend,
            self.code_quality_trend,
            self.tasks_completed_trend,
            self.consistency,
        ]
    }
}

fn base(metrics: &Metrics, policy: &ScorePolicy) -> TrustBreakdown {
    let weights = &policy.base;
    let code_quality = (metrics.code_quality_score / 100.0) * weights.quality;
    let completion_rate = metrics.feature_completion_rate * weights.completion;
    let few_bugs = (weights.bugs - f64::from(metrics.bugs_introduced) * weights.per_bug).max(0.0);
    let few_failures = (weights.failures - f64::from(metrics.deployment_failures) * weights.per_failure).max(0.0);
    let sum = code_quality + completion_rate + few_bugs + few_failures;
    TrustBreakdown {
        code_quality,
        completion_rate,
        few_bugs,
        few_failures,
        base: sum.clamp(0.0, 100.0),
        overall_trend: 0.0,
        code_quality_trend: 0.0,
        tasks_completed_trend: 0.0,
        trend: 0.0,
        consistency: 0.0,
        score: 0.0,
    }
}

fn signed(trend: Trend, weight: f64) -> f64 {
    match trend {
        Trend::Up => weight,
        Trend::Down => -weight,
        Trend::Stable => 0.0,
    }
}

/// Lower standard deviation, higher bonus.
fn consistency(history: &[KpiRecord], policy: &ScorePolicy) -> f64 {
    let rules = &policy.consistency;
    if history.len() < rules.records {
        return 0.0;
    }
    let scores: Vec<f64> = history.iter().map(|record| overall(&record.metrics, policy)).collect();
    let number = scores.len() as f64;
    let mean = scores.iter().fold(0.0, |sum, score| sum + score) / number;
    let variance = scores.iter().fold(0.0, |sum, score| sum + (score - mean) * (score - mean)) / number;
    (rules.bonus - (variance.sqrt() / rules.deviation_per_point)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::id;
    use crate::scores::Trends;

    fn metrics() -> Metrics {
        Metrics {
            tasks_completed: 4,
            code_quality_score: 80.0,
            positive_feedback_count: 3,
            feature_completion_rate: 0.5,
            bugs_introduced: 1,
            deployment_failures: 1,
            code_churn: 100,
            average_task_duration: 60,
        }
    }

    fn record(metrics: Metrics, overall: OverallTrend, trend: Trend) -> KpiRecord {
        let trends = Trends { tasks_completed: trend, code_quality: trend, overall };
        KpiRecord { kpi_id: id(90), metrics, trends }
    }

    fn steady() -> KpiRecord {
        record(metrics(), OverallTrend::Stable, Trend::Stable)
    }

    fn score(history: &[KpiRecord]) -> Option<f64> {
        judge(history, &ScorePolicy::default()).map(|it| it.score)
    }

    #[test]
    fn nobody_is_judged_without_a_record() {
        assert_eq!(score(&[]), None);
    }

    #[test]
    fn the_base_is_quality_completion_few_bugs_and_few_failures() {
        // 32 + 15 + 16 + 6.67
        assert_eq!(score(&[steady()]), Some(69.67));
    }

    #[test]
    fn many_bugs_and_failures_cost_all_their_points_and_no_more() {
        let worst = Metrics { bugs_introduced: 9, deployment_failures: 9, ..metrics() };
        assert_eq!(score(&[record(worst, OverallTrend::Stable, Trend::Stable)]), Some(47.0));
    }

    #[test]
    fn a_trend_counts_from_the_second_record_on() {
        let (better, worse) = (
            record(metrics(), OverallTrend::Improving, Trend::Up),
            record(metrics(), OverallTrend::Declining, Trend::Down),
        );
        assert_eq!(score(std::slice::from_ref(&better)), Some(69.67));
        assert_eq!(score(&[better, steady()]), Some(77.67));
        assert_eq!(score(&[worse, steady()]), Some(61.67));
    }

    #[test]
    fn being_steady_is_worth_five_points_from_the_third_record_on() {
        assert_eq!(score(&[steady(), steady()]), Some(69.67));
        assert_eq!(score(&[steady(), steady(), steady()]), Some(74.67));
    }

    #[test]
    fn only_ten_records_count() {
        let poor = Metrics { code_quality_score: 0.0, feature_completion_rate: 0.0, ..metrics() };
        let old = record(poor, OverallTrend::Stable, Trend::Stable);
        assert_eq!(score(&[vec![steady(); 10], vec![old]].concat()), Some(74.67));
    }

    #[test]
    fn the_score_stays_within_bounds() {
        let best = Metrics {
            code_quality_score: 100.0,
            feature_completion_rate: 1.0,
            bugs_introduced: 0,
            deployment_failures: 0,
            ..metrics()
        };
        let best = record(best, OverallTrend::Improving, Trend::Up);
        assert_eq!(score(&[best.clone(), best]), Some(100.0));
    }

    #[test]
    fn the_factors_make_the_change() {
        let policy = ScorePolicy::default();
        let first = judge(&[steady()], &policy).expect("a score");
        let sum = |factors: &[Factor]| two_decimals(factors.iter().map(|it| it.impact).sum());
        assert_eq!(sum(&factors(None, &first, &policy)), 19.67);

        let worse = Metrics { bugs_introduced: 3, ..metrics() };
        let second = judge(&[record(worse, OverallTrend::Declining, Trend::Stable), steady()], &policy);
        let factors = factors(Some(&first), &second.expect("a score"), &policy);
        let named: Vec<_> = factors.iter().map(|it| (it.factor.as_str(), it.impact, it.direction)).collect();
        assert_eq!(
            named,
            [("bugs_introduced", -8.0, Direction::Negative), ("overall_trend", -5.0, Direction::Negative)]
        );
    }
}
