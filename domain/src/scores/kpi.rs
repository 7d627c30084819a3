//! KPIs: the metrics that counts make, and how they compare with the ones before.

use serde::{Deserialize, Serialize};

use super::{KpiInputs, ScorePolicy};
use crate::KpiId;

/// How well an agent does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Tasks done.
    pub tasks_completed: u32,
    /// How good its code is, from 0 to 100.
    pub code_quality_score: f64,
    /// Pull requests that the first review approved.
    pub positive_feedback_count: u32,
    /// How many of the tasks due are done, from 0 to 1.
    pub feature_completion_rate: f64,
    /// Tasks and pull requests that are bugs.
    pub bugs_introduced: u32,
    /// Deployments that failed.
    pub deployment_failures: u32,
    /// Lines changed of late.
    pub code_churn: i64,
    /// The minutes that a task takes.
    pub average_task_duration: i64,
}

/// One calculation of an agent's KPIs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KpiRecord {
    /// Which calculation.
    pub kpi_id: KpiId,
    /// What came out.
    pub metrics: Metrics,
    /// How that compares with the calculation before.
    pub trends: Trends,
}

/// How metrics compare with the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trends {
    /// Of the tasks done.
    pub tasks_completed: Trend,
    /// Of the quality of code.
    pub code_quality: Trend,
    /// On the whole.
    pub overall: OverallTrend,
}

/// Where a metric goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Trend {
    Up,
    Down,
    Stable,
}

/// Where an agent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum OverallTrend {
    Improving,
    Declining,
    Stable,
}

/// A metric that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricChange {
    /// Which metric, by its public name.
    pub metric: &'static str,
    /// Its value before.
    pub old: f64,
    /// Its value now.
    pub new: f64,
    /// The difference.
    pub change: f64,
}

/// What the counts make.
pub fn metrics(inputs: &KpiInputs, policy: &ScorePolicy) -> Metrics {
    let quality = &policy.quality;
    let score = quality.base + quality.approved_on_first_review * f64::from(inputs.approved_on_first_review)
        - quality.change_requested * f64::from(inputs.changes_requested)
        - quality.lint_errors * f64::from(inputs.with_lint_errors);
    Metrics {
        tasks_completed: inputs.completed_tasks,
        code_quality_score: score.clamp(0.0, 100.0),
        positive_feedback_count: inputs.approved_on_first_review,
        feature_completion_rate: match inputs.due_tasks {
            0 => 1.0,
            due => f64::from(inputs.due_tasks_completed) / f64::from(due),
        },
        bugs_introduced: inputs.bug_tasks + inputs.bug_pull_requests,
        deployment_failures: inputs.failed_deployments,
        code_churn: inputs.lines_added + inputs.lines_deleted,
        average_task_duration: match inputs.timed_tasks {
            0 => 0,
            tasks => (inputs.timed_minutes as f64 / f64::from(tasks)).round() as i64,
        },
    }
}

/// How an agent does on the whole, from 0 to 1.
pub fn overall(metrics: &Metrics, policy: &ScorePolicy) -> f64 {
    let weights = &policy.overall;
    let left = |count: u32, per: f64| (100.0 - f64::from(count) * per).max(0.0);
    (metrics.code_quality_score / 100.0 * weights.quality)
        + (metrics.feature_completion_rate * weights.completion)
        + (left(metrics.bugs_introduced, weights.per_bug) / 100.0 * weights.bugs)
        + (left(metrics.deployment_failures, weights.per_failure) / 100.0 * weights.failures)
}

/// How metrics compare with the ones before; the first are stable.
pub fn trends(previous: Option<&Metrics>, current: &Metrics, policy: &ScorePolicy) -> Trends {
    let Some(previous) = previous else {
        return Trends { tasks_completed: Trend::Stable, code_quality: Trend::Stable, overall: OverallTrend::Stable };
    };
    let (before, now) = (overall(previous, policy), overall(current, policy));
    Trends {
        tasks_completed: trend(&previous.tasks_completed, &current.tasks_completed),
        code_quality: trend(&previous.code_quality_score, &current.code_quality_score),
        overall: match trend(&before, &now) {
            Trend::Up => OverallTrend::Improving,
            Trend::Down => OverallTrend::Declining,
            Trend::Stable => OverallTrend::Stable,
        },
    }
}

/// The metrics that changed; none for the first ones.
pub fn changes(previous: Option<&Metrics>, current: &Metrics) -> Vec<MetricChange> {
    let Some(previous) = previous else { return vec![] };
    let pairs = previous.named().into_iter().zip(current.named());
    let changed = pairs.filter(|((_, old), (_, new))| old != new);
    changed.map(|((metric, old), (_, new))| MetricChange { metric, old, new, change: new - old }).collect()
}

impl Metrics {
    /// Every metric by its public name.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("tasksCompleted", f64::from(self.tasks_completed)),
            ("codeQualityScore", self.code_quality_score),
            ("positiveFeedbackCount", f64::from(self.positive_feedback_count)),
            ("featureCompletionRate", self.feature_completion_rate),
            ("bugsIntroduced", f64::from(self.bugs_introduced)),
            ("deploymentFailures", f64::from(self.deployment_failures)),
            ("codeChurn", self.code_churn as f64),
            ("averageTaskDuration", self.average_task_duration as f64),
        ]
    }
}

fn trend<T: PartialOrd>(previous: &T, current: &T) -> Trend {
    if current > previous {
        Trend::Up
    } else if current < previous {
        Trend::Down
    } else {
        Trend::Stable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(inputs: KpiInputs) -> Metrics {
        metrics(&inputs, &ScorePolicy::default())
    }

    fn compared(previous: &Metrics, current: &Metrics) -> Trends {
        trends(Some(previous), current, &ScorePolicy::default())
    }

    #[test]
    fn who_has_done_nothing_has_done_nothing_wrong() {
        let expected = Metrics {
            tasks_completed: 0,
            code_quality_score: 50.0,
            positive_feedback_count: 0,
            feature_completion_rate: 1.0,
            bugs_introduced: 0,
            deployment_failures: 0,
            code_churn: 0,
            average_task_duration: 0,
        };
        assert_eq!(measured(KpiInputs::default()), expected);
    }

    #[test]
    fn code_quality_has_a_floor_and_a_ceiling() {
        let quality = |approved_on_first_review, changes_requested, with_lint_errors| {
            let inputs =
                KpiInputs { approved_on_first_review, changes_requested, with_lint_errors, ..Default::default() };
            measured(inputs).code_quality_score
        };
        assert_eq!(quality(2, 1, 1), 55.0);
        assert_eq!(quality(9, 0, 0), 100.0);
        assert_eq!(quality(0, 3, 9), 0.0);
    }

    #[test]
    fn an_average_is_a_whole_number_of_minutes() {
        let average = |timed_tasks, timed_minutes| {
            measured(KpiInputs { timed_tasks, timed_minutes, ..Default::default() }).average_task_duration
        };
        assert_eq!((average(3, 10), average(2, 5), average(0, 0)), (3, 3, 0));
    }

    #[test]
    fn a_trend_is_up_down_or_stable() {
        let before = measured(KpiInputs { completed_tasks: 2, ..Default::default() });
        let better = measured(KpiInputs { completed_tasks: 3, approved_on_first_review: 1, ..Default::default() });
        let stable = compared(&before, &before);
        assert_eq!(trends(None, &better, &ScorePolicy::default()), stable);
        let up = Trends { tasks_completed: Trend::Up, code_quality: Trend::Up, overall: OverallTrend::Improving };
        assert_eq!(compared(&before, &better), up);
        let down = Trends { tasks_completed: Trend::Down, code_quality: Trend::Down, overall: OverallTrend::Declining };
        assert_eq!(compared(&better, &before), down);
    }

    #[test]
    fn only_metrics_that_changed_are_changes() {
        let before = measured(KpiInputs::default());
        let after = measured(KpiInputs { changes_requested: 1, ..Default::default() });
        let change = MetricChange { metric: "codeQualityScore", old: 50.0, new: 45.0, change: -5.0 };
        assert_eq!(changes(Some(&before), &after), [change]);
        assert_eq!(changes(None, &after), []);
    }
}
