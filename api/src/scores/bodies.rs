//! What goes in and out of the routes of scores.

use chrono::{DateTime, Utc};
use domain::scores::{self, KpiInputs, Metrics};
use projections::scorecards::{KpiView, Page, Span, TrustView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::agents::{AgentBody, AgentStatus};
use crate::input::without_nulls;

/// Records of a page, unless the client says otherwise.
const PAGE: i64 = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct OfAgent {
    pub(super) agent_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct RecalculateKpis {
    pub(super) agent_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ExplainKpi {
    pub(super) agent_id: Uuid,
    /// Which record; the newest without.
    pub(super) kpi_id: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct History {
    pub(super) agent_id: Uuid,
    /// Only from this moment on.
    from: Option<DateTime<Utc>>,
    /// Only up to this moment, included.
    to: Option<DateTime<Utc>>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    #[schemars(range(min = 0), extend("default" = 0))]
    offset: Option<i64>,
}

impl History {
    pub(super) fn span(&self) -> Span {
        Span { from: self.from, to: self.to }
    }

    pub(super) fn page(&self) -> (i64, i64) {
        (self.limit.unwrap_or(PAGE), self.offset.unwrap_or(0))
    }
}

/// One calculation of an agent's KPIs.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "KPI")]
pub(crate) struct KpiBody {
    id: Uuid,
    agent_id: Uuid,
    recorded_at: DateTime<Utc>,
    metrics: MetricsBody,
    trend_data: TrendData,
    /// The moment up to which facts count.
    calculated_at: DateTime<Utc>,
    created_at: DateTime<Utc>,
    /// Why it was calculated.
    reason: String,
    /// The log position up to which facts count.
    position: i64,
    /// Which formulas were used.
    formula_version: u32,
    /// The facts, counted: enough to calculate every metric again.
    inputs: Inputs,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MetricsBody {
    tasks_completed: u32,
    code_quality_score: f64,
    positive_feedback_count: u32,
    feature_completion_rate: f64,
    bugs_introduced: u32,
    deployment_failures: u32,
    code_churn: i64,
    /// In minutes.
    average_task_duration: i64,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TrendData {
    tasks_completed_trend: TrendWord,
    code_quality_trend: TrendWord,
    overall_trend: OverallWord,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum TrendWord {
    Up,
    Down,
    Stable,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum OverallWord {
    Improving,
    Declining,
    Stable,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Inputs {
    completed_tasks: u32,
    due_tasks: u32,
    due_tasks_completed: u32,
    approved_on_first_review: u32,
    changes_requested: u32,
    with_lint_errors: u32,
    bug_tasks: u32,
    bug_pull_requests: u32,
    failed_deployments: u32,
    lines_added: i64,
    lines_deleted: i64,
    timed_tasks: u32,
    timed_minutes: i64,
    rejections_in_a_row: u32,
    recent_bugs: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentKpis {
    pub(super) kpi: KpiBody,
    pub(super) agent: AgentBody,
    /// The last ten, the newest among them.
    #[serde(rename = "historicalKPIs")]
    pub(super) historical_kpis: Vec<KpiBody>,
}

/// New KPIs beside those before.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KpiChange {
    /// Not there when these are the first.
    #[serde(rename = "previousKPIs", skip_serializing_if = "Option::is_none")]
    previous_kpis: Option<KpiBody>,
    #[serde(rename = "newKPIs")]
    new_kpis: KpiBody,
    change_reason: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KpiHistory {
    kpis: Vec<KpiBody>,
    /// Exact up to 10,000.
    total: i64,
    has_more: bool,
    /// Whether there are more than `total`.
    total_is_lower_bound: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrustHistory {
    changes: Vec<TrustChange>,
    /// Exact up to 10,000.
    total: i64,
    has_more: bool,
    /// Whether there are more than `total`.
    total_is_lower_bound: bool,
}

/// One change of the trust in an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrustChange {
    /// Where in the log it is recorded.
    position: i64,
    /// The record that it follows from.
    kpi_id: Uuid,
    previous_trust_score: f64,
    new_trust_score: f64,
    change: f64,
    reason: String,
    factors: Vec<FactorBody>,
    /// Only when the agent's status changed with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_status: Option<AgentStatus>,
    /// Only when the agent's status changed with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_status: Option<AgentStatus>,
    /// Why the agent was put on probation, when it was.
    triggers: Vec<TriggerWord>,
    changed_at: DateTime<Utc>,
}

/// What a part of the score contributed to a change of it.
#[derive(Serialize, JsonSchema)]
pub(super) struct FactorBody {
    factor: String,
    impact: f64,
    direction: DirectionWord,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum DirectionWord {
    Positive,
    Negative,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum TriggerWord {
    LowTrust,
    LowCodeQuality,
    RejectedInARow,
    RecentBugs,
}

macro_rules! word {
    ($body:ident = $domain:ty { $($word:ident),+ }) => {
        impl From<$domain> for $body {
            fn from(it: $domain) -> Self {
                match it { $(<$domain>::$word => Self::$word,)+ }
            }
        }
    };
}
word!(TrendWord = scores::Trend { Up, Down, Stable });
word!(OverallWord = scores::OverallTrend { Improving, Declining, Stable });
word!(DirectionWord = scores::Direction { Positive, Negative });
word!(TriggerWord = scores::Trigger { LowTrust, LowCodeQuality, RejectedInARow, RecentBugs });

impl From<KpiView> for KpiBody {
    fn from(it: KpiView) -> Self {
        Self {
            id: it.id.0,
            agent_id: it.agent_id.0,
            recorded_at: it.recorded_at,
            metrics: it.metrics.into(),
            trend_data: TrendData {
                tasks_completed_trend: it.trends.tasks_completed.into(),
                code_quality_trend: it.trends.code_quality.into(),
                overall_trend: it.trends.overall.into(),
            },
            calculated_at: it.calculated_at,
            created_at: it.recorded_at,
            reason: it.reason,
            position: it.position,
            formula_version: it.formula_version,
            inputs: it.inputs.into(),
        }
    }
}

macro_rules! same_fields {
    ($body:ident = $domain:ident { $($field:ident),+ }) => {
        impl From<$domain> for $body {
            fn from(it: $domain) -> Self {
                let $domain { $($field),+ } = it;
                Self { $($field),+ }
            }
        }
    };
}
same_fields!(
    MetricsBody = Metrics {
        tasks_completed,
        code_quality_score,
        positive_feedback_count,
        feature_completion_rate,
        bugs_introduced,
        deployment_failures,
        code_churn,
        average_task_duration
    }
);
same_fields!(
    Inputs = KpiInputs {
        completed_tasks,
        due_tasks,
        due_tasks_completed,
        approved_on_first_review,
        changes_requested,
        with_lint_errors,
        bug_tasks,
        bug_pull_requests,
        failed_deployments,
        lines_added,
        lines_deleted,
        timed_tasks,
        timed_minutes,
        rejections_in_a_row,
        recent_bugs
    }
);

impl KpiChange {
    pub(super) fn of(previous: Option<KpiView>, new: KpiView) -> Self {
        let change_reason = new.reason.clone();
        Self { previous_kpis: previous.map(Into::into), new_kpis: new.into(), change_reason }
    }
}

impl From<scores::Factor> for FactorBody {
    fn from(it: scores::Factor) -> Self {
        Self { factor: it.factor, impact: it.impact, direction: it.direction.into() }
    }
}

impl From<TrustView> for TrustChange {
    fn from(it: TrustView) -> Self {
        Self {
            position: it.position,
            kpi_id: it.kpi_id.0,
            previous_trust_score: it.previous,
            new_trust_score: it.new,
            change: it.change,
            reason: it.reason,
            factors: it.factors.into_iter().map(Into::into).collect(),
            previous_status: it.previous_status.map(Into::into),
            new_status: it.new_status.map(Into::into),
            triggers: it.triggers.into_iter().map(Into::into).collect(),
            changed_at: it.changed_at,
        }
    }
}

impl KpiHistory {
    pub(super) fn of(page: Page<KpiView>, offset: i64) -> Self {
        let Page { rows, total, total_is_lower_bound } = page;
        let has_more = offset + (rows.len() as i64) < total || total_is_lower_bound;
        Self { kpis: rows.into_iter().map(Into::into).collect(), total, has_more, total_is_lower_bound }
    }
}

impl TrustHistory {
    pub(super) fn of(page: Page<TrustView>, offset: i64) -> Self {
        let Page { rows, total, total_is_lower_bound } = page;
        let has_more = offset + (rows.len() as i64) < total || total_is_lower_bound;
        Self { changes: rows.into_iter().map(Into::into).collect(), total, has_more, total_is_lower_bound }
    }
}
