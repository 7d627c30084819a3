//! Explanations: every number of a score, the counts it is made of, and the events that count.

use std::collections::BTreeMap;

use domain::scores::{Counted, Facts, KpiInputs, KpiRecord, ScorePolicy, kpi, probation, tally, trust};
use projections::agents::AgentView;
use projections::scorecards::{KpiView, TrustView};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::bodies::{FactorBody, KpiBody, TriggerWord, TrustChange};
use crate::agents::AgentStatus;

/// The most positions that are listed for one number; the newest of more.
const LISTED: usize = 1000;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KpiExplained {
    kpi: KpiBody,
    /// Whether the facts up to the record's position, counted again, are those that it was made of.
    recounts_alike: bool,
    metrics: Vec<NumberExplained>,
    /// What is counted for probation alone.
    probation: Vec<NumberExplained>,
    /// From 0 to 1: what the overall trend compares.
    overall: f64,
}

/// A number, and where it comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NumberExplained {
    metric: String,
    value: f64,
    /// How the value follows from the inputs.
    formula: String,
    inputs: BTreeMap<String, i64>,
    /// The log positions of the events that count, in order: at most the newest 1000.
    positions: Vec<i64>,
    /// How many events count.
    position_count: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrustExplained {
    agent_id: Uuid,
    /// The newest record, which the score follows from.
    kpi_id: Uuid,
    /// The score that the records make: the sum, from 0 to 100, with two decimals.
    score: f64,
    /// The score that the agent has; the other one, once the newest record is judged.
    trust_score: f64,
    status: AgentStatus,
    base: Base,
    trend: TrendModifier,
    consistency: Consistency,
    /// `base.total + trend.total + consistency.bonus`.
    sum: f64,
    /// The same in words, step by step.
    arithmetic: Vec<String>,
    /// What contributed to the last change.
    factors: Vec<FactorBody>,
    last_change: Option<TrustChange>,
    probation: Probation,
}

/// What the metrics of the newest record are worth.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Base {
    code_quality: f64,
    feature_completion_rate: f64,
    bugs_introduced: f64,
    deployment_failures: f64,
    total: f64,
}

/// What the trends of the newest record add or take.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TrendModifier {
    overall: f64,
    code_quality: f64,
    tasks_completed: f64,
    total: f64,
}

/// What being steady adds.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Consistency {
    /// How the agent did on the whole in each of the last ten records, newest first.
    overall_scores: Vec<f64>,
    bonus: f64,
}

/// Where the agent stands by the rules of probation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Probation {
    /// What would put an active agent on probation now.
    triggers: Vec<TriggerWord>,
    /// What is met of what lets an agent off probation.
    recovery: Recovery,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Recovery {
    trust: bool,
    code_quality: bool,
    tasks_completed: bool,
    improving: bool,
}

/// Explains a record by the facts up to its position.
pub(super) fn explain_kpi(kpi: KpiView, facts: &Facts) -> KpiExplained {
    let policy = ScorePolicy::default();
    let tallied = tally(facts, kpi.calculated_at, &policy);
    let (inputs, counted) = (&kpi.inputs, tallied.counted);
    let values: BTreeMap<_, _> = kpi.metrics.named().into();
    let value = |metric: &str| values.get(metric).copied().unwrap_or_default();
    let numbers = metrics(inputs, counted, &policy);
    let (metrics, probation) = numbers.into_iter().partition(|it: &NumberExplained| values.contains_key(&*it.metric));
    let valued = |mut it: NumberExplained| {
        it.value = value(&it.metric);
        it
    };
    let metrics: Vec<NumberExplained> = metrics;
    KpiExplained {
        recounts_alike: tallied.inputs == kpi.inputs && kpi.formula_version == policy.formula_version,
        metrics: metrics.into_iter().map(valued).collect(),
        probation,
        overall: kpi::overall(&kpi.metrics, &policy),
        kpi: kpi.into(),
    }
}

fn metrics(inputs: &KpiInputs, counted: Counted, policy: &ScorePolicy) -> Vec<NumberExplained> {
    let quality = &policy.quality;
    let quality = format!(
        "{} + {} x approvedOnFirstReview - {} x changesRequested - {} x withLintErrors, at least 0 and at most 100",
        quality.base, quality.approved_on_first_review, quality.change_requested, quality.lint_errors
    );
    let due = format!(
        "dueTasksCompleted / dueTasks, of the tasks assigned more than {} days before; 1 without any",
        policy.completion_days
    );
    let churn = format!("linesAdded + linesDeleted of pull requests opened in the last {} days", policy.churn_days);
    let rejected =
        format!("pull requests closed unmerged since the last merge; {} are too many", policy.probation.rejections);
    let bugs = format!(
        "bugs in the {} tasks completed last; {} are too many",
        policy.probation.recent_tasks, policy.probation.bugs
    );
    let it = inputs;
    let n = i64::from;
    vec![
        number(
            "tasksCompleted",
            "completedTasks",
            &[("completedTasks", n(it.completed_tasks))],
            counted.tasks_completed,
        ),
        number(
            "codeQualityScore",
            &quality,
            &[
                ("approvedOnFirstReview", n(it.approved_on_first_review)),
                ("changesRequested", n(it.changes_requested)),
                ("withLintErrors", n(it.with_lint_errors)),
            ],
            counted.code_quality_score,
        ),
        number(
            "positiveFeedbackCount",
            "approvedOnFirstReview",
            &[("approvedOnFirstReview", n(it.approved_on_first_review))],
            counted.positive_feedback_count,
        ),
        number(
            "featureCompletionRate",
            &due,
            &[("dueTasksCompleted", n(it.due_tasks_completed)), ("dueTasks", n(it.due_tasks))],
            counted.feature_completion_rate,
        ),
        number(
            "bugsIntroduced",
            "bugTasks + bugPullRequests",
            &[("bugTasks", n(it.bug_tasks)), ("bugPullRequests", n(it.bug_pull_requests))],
            counted.bugs_introduced,
        ),
        number(
            "deploymentFailures",
            "failedDeployments",
            &[("failedDeployments", n(it.failed_deployments))],
            counted.deployment_failures,
        ),
        number(
            "codeChurn",
            &churn,
            &[("linesAdded", it.lines_added), ("linesDeleted", it.lines_deleted)],
            counted.code_churn,
        ),
        number(
            "averageTaskDuration",
            "timedMinutes / timedTasks, in whole minutes; 0 without any",
            &[("timedMinutes", it.timed_minutes), ("timedTasks", n(it.timed_tasks))],
            counted.average_task_duration,
        ),
        number(
            "rejectionsInARow",
            &rejected,
            &[("rejectionsInARow", n(it.rejections_in_a_row))],
            counted.rejections_in_a_row,
        ),
        number("recentBugs", &bugs, &[("recentBugs", n(it.recent_bugs))], counted.recent_bugs),
    ]
}

/// A number whose value is its first input until it is told otherwise.
fn number(metric: &str, formula: &str, inputs: &[(&str, i64)], mut positions: Vec<i64>) -> NumberExplained {
    let position_count = positions.len();
    positions.drain(..position_count.saturating_sub(LISTED));
    NumberExplained {
        metric: metric.to_owned(),
        value: inputs.first().map_or(0.0, |(_, value)| *value as f64),
        formula: formula.to_owned(),
        inputs: inputs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        positions,
        position_count,
    }
}

/// Explains the trust that an agent's records earn, newest first; none without any.
pub(super) fn explain_trust(
    agent: &AgentView,
    recent: &[KpiView],
    last_change: Option<TrustView>,
) -> Option<TrustExplained> {
    let policy = ScorePolicy::default();
    let latest = recent.first()?;
    let history: Vec<KpiRecord> = recent.iter().map(KpiView::record).collect();
    let it = trust::judge(&history, &policy)?;
    let recovery = probation::recovery(it.score, &history, &policy);
    let triggers = probation::triggers(it.score, &history, &latest.inputs, &policy);
    Some(TrustExplained {
        agent_id: agent.id.0,
        kpi_id: latest.id.0,
        score: it.score,
        trust_score: agent.trust_score,
        status: agent.status.into(),
        arithmetic: arithmetic(latest, &it, &policy),
        base: Base {
            code_quality: it.code_quality,
            feature_completion_rate: it.completion_rate,
            bugs_introduced: it.few_bugs,
            deployment_failures: it.few_failures,
            total: it.base,
        },
        trend: TrendModifier {
            overall: it.overall_trend,
            code_quality: it.code_quality_trend,
            tasks_completed: it.tasks_completed_trend,
            total: it.trend,
        },
        consistency: Consistency {
            overall_scores: history.iter().map(|record| kpi::overall(&record.metrics, &policy)).collect(),
            bonus: it.consistency,
        },
        sum: it.base + it.trend + it.consistency,
        factors: last_change.iter().flat_map(|it| it.factors.clone()).map(Into::into).collect(),
        last_change: last_change.map(Into::into),
        probation: Probation {
            triggers: triggers.into_iter().map(Into::into).collect(),
            recovery: Recovery {
                trust: recovery.trust,
                code_quality: recovery.code_quality,
                tasks_completed: recovery.tasks_completed,
                improving: recovery.improving,
            },
        },
    })
}

fn arithmetic(latest: &KpiView, it: &trust::TrustBreakdown, policy: &ScorePolicy) -> Vec<String> {
    let (metrics, weights, steady) = (&latest.metrics, &policy.base, &policy.consistency);
    vec![
        format!("code quality: {} / 100 x {} = {}", metrics.code_quality_score, weights.quality, it.code_quality),
        format!("completion: {} x {} = {}", metrics.feature_completion_rate, weights.completion, it.completion_rate),
        format!(
            "bugs: {} - {} x {}, at least 0 = {}",
            weights.bugs, metrics.bugs_introduced, weights.per_bug, it.few_bugs
        ),
        format!(
            "deployments: {} - {} x {}, at least 0 = {}",
            weights.failures, metrics.deployment_failures, weights.per_failure, it.few_failures
        ),
        format!("base: these four together, at least 0 and at most 100 = {}", it.base),
        format!(
            "trend: overall {:+}, code quality {:+}, tasks completed {:+} = {:+}",
            it.overall_trend, it.code_quality_trend, it.tasks_completed_trend, it.trend
        ),
        format!(
            "consistency: {} - deviation of the overall scores / {}, at least 0, from {} records on = {}",
            steady.bonus, steady.deviation_per_point, steady.records, it.consistency
        ),
        format!(
            "score: {} {:+} + {}, at least 0 and at most 100, with two decimals = {}",
            it.base, it.trend, it.consistency, it.score
        ),
    ]
}
