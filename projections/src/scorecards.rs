//! Scorecards: every calculation of an agent's KPIs and every change of the trust in it, newest first.

use chrono::{DateTime, Utc};
use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use domain::scores::{Factor, KpiInputs, KpiRecord, Metrics, Trends, Trigger, TrustBreakdown};
use domain::{AgentId, KpiId, WorkspaceId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Row, Table, Value};

use crate::fact::SCORECARD;
use crate::query::{Conditions, first, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "scorecards";

/// The most rows that a page of history has.
pub const PAGE: i64 = 100;
/// Totals are exact up to this.
pub const COUNTED: i64 = 10_000;

/// One calculation of an agent's KPIs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KpiView {
    /// Which calculation.
    pub id: KpiId,
    /// Whose KPIs.
    pub agent_id: AgentId,
    /// The workspace that the agent belongs to.
    pub workspace_id: WorkspaceId,
    /// What came out.
    pub metrics: Metrics,
    /// How that compares with the calculation before.
    pub trends: Trends,
    /// Why it was calculated.
    pub reason: String,
    /// Which formulas were used.
    pub formula_version: u32,
    /// The log position up to which facts count.
    pub position: i64,
    /// The facts, counted.
    pub inputs: KpiInputs,
    /// The moment up to which facts count.
    pub calculated_at: DateTime<Utc>,
    /// When it was recorded.
    pub recorded_at: DateTime<Utc>,
    /// Where in the log it is recorded.
    pub recorded_position: i64,
}

impl KpiView {
    /// The part of it that trust is made of.
    pub fn record(&self) -> KpiRecord {
        KpiRecord { kpi_id: self.id, metrics: self.metrics.clone(), trends: self.trends }
    }
}

/// One change of the trust in an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrustView {
    /// Where in the log it is recorded.
    pub position: i64,
    /// Whose trust.
    pub agent_id: AgentId,
    /// The calculation that it follows from.
    pub kpi_id: KpiId,
    /// The score before.
    pub previous: f64,
    /// The score from then on.
    pub new: f64,
    /// The difference.
    pub change: f64,
    /// Why.
    pub reason: String,
    /// What contributed.
    pub factors: Vec<Factor>,
    /// What the score is made of.
    pub breakdown: TrustBreakdown,
    /// The agent's status before, when it changed.
    pub previous_status: Option<AgentStatus>,
    /// The agent's status from then on, when it changed.
    pub new_status: Option<AgentStatus>,
    /// Why the agent was put on probation, when it was.
    pub triggers: Vec<Trigger>,
    /// When it happened.
    pub changed_at: DateTime<Utc>,
}

/// A stretch of time; open at the ends that are not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// From this moment on.
    pub from: Option<DateTime<Utc>>,
    /// Up to this moment, included.
    pub to: Option<DateTime<Utc>>,
}

/// A page of history, newest first; rows and total are of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<R> {
    /// The rows.
    pub rows: Vec<R>,
    /// How many there are in all; exact up to [`COUNTED`].
    pub total: i64,
    /// Whether there are more than `total`.
    pub total_is_lower_bound: bool,
}

/// A calculation by its id.
pub async fn find(views: &Database, id: KpiId) -> Result<Option<KpiView>, StoreError> {
    first(views, Query::new("select doc from kpis where id = $1").bind(id.0)).await
}

/// An agent's newest calculation.
pub async fn latest(views: &Database, agent: AgentId) -> Result<Option<KpiView>, StoreError> {
    Ok(recent(views, agent, 1).await?.pop())
}

/// An agent's last calculations, newest first.
pub async fn recent(views: &Database, agent: AgentId, limit: i64) -> Result<Vec<KpiView>, StoreError> {
    recent_before(views, agent, i64::MAX, limit).await
}

/// An agent's last calculations that were recorded before a position, newest first.
pub async fn recent_before(
    views: &Database,
    agent: AgentId,
    position: i64,
    limit: i64,
) -> Result<Vec<KpiView>, StoreError> {
    let query = Query::new(
        "select doc
         from kpis
         where agent_id = $1 and position < $2
         order by position desc",
    );
    records(views, page(query.bind(agent.0).bind(position), limit, 0)).await
}

/// An agent's calculations in a stretch of time.
pub async fn history(
    views: &Database,
    agent: AgentId,
    span: Span,
    limit: i64,
    offset: i64,
) -> Result<Page<KpiView>, StoreError> {
    let of = span.conditions(agent);
    paged(views, of.query("select doc, position from kpis", ""), limit, offset).await
}

/// The changes of trust in an agent in a stretch of time.
pub async fn trust_history(
    views: &Database,
    agent: AgentId,
    span: Span,
    limit: i64,
    offset: i64,
) -> Result<Page<TrustView>, StoreError> {
    let of = span.conditions(agent);
    paged(views, of.query("select doc, position from trust_changes", ""), limit, offset).await
}

/// The last change of trust in an agent.
pub async fn latest_trust(views: &Database, agent: AgentId) -> Result<Option<TrustView>, StoreError> {
    let query = Query::new(
        "select doc
         from trust_changes
         where agent_id = $1
         order by position desc
         limit 1",
    );
    first(views, query.bind(agent.0)).await
}

impl Span {
    fn conditions(self, agent: AgentId) -> Conditions {
        Conditions::default()
            .and("agent_id =", Some(agent.0))
            .and("happened_at >=", self.from.map(|it| it.timestamp_micros()))
            .and("happened_at <=", self.to.map(|it| it.timestamp_micros()))
    }
}

/// A page of what a query finds, and how much it finds.
async fn paged<R: DeserializeOwned>(
    views: &Database,
    found: Query,
    limit: i64,
    offset: i64,
) -> Result<Page<R>, StoreError> {
    let Query { sql, params } = found;
    let counted = format!("select count(*) from ({sql} limit ${}) as found", params.len() + 1);
    let counted = Query { sql: counted.into(), params: params.clone() }.bind(COUNTED + 1);
    let rows =
        page(Query { sql: format!("{sql} order by position desc").into(), params }, limit.clamp(0, PAGE), offset);
    let answers = views.snapshot(vec![rows, counted]).await?;
    let [rows, counted] = answers.as_slice() else {
        return Err(StoreError::Damaged("a snapshot has not answered every question".into()));
    };
    let total = counted.first().map_or(Ok(0), |row| row.int(0))?;
    let record = |row: &Row| {
        serde_json::from_str(row.text(0)?).map_err(|e| StoreError::Damaged(format!("a scorecard holds no record: {e}")))
    };
    Ok(Page {
        rows: rows.iter().map(record).collect::<Result<_, _>>()?,
        total: total.min(COUNTED),
        total_is_lower_bound: total > COUNTED,
    })
}

/// Folds the facts of scorecards.
#[derive(Debug, Clone, Copy)]
pub struct Scorecards;

impl Projection for Scorecards {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[SCORECARD])
    }

    fn tables(&self) -> Vec<Table> {
        let kpis = Describe::table(KpiView::TABLE)
            .key("id", Holds::Text)
            .required("agent_id", Holds::Text)
            .required("position", Holds::Int)
            .required("happened_at", Holds::Int)
            .index(&["agent_id", "position"]);
        let trust = Describe::table(TrustView::TABLE)
            .key("position", Holds::Int)
            .written_once()
            .required("agent_id", Holds::Text)
            .required("happened_at", Holds::Int)
            .index(&["agent_id", "position"]);
        vec![kpis.finish(), trust.finish()]
    }

    // Rows are written once and never read by the fold.
    fn touches(&self, _: &Fact) -> Vec<RowKey> {
        vec![]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Scorecard(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            ScorecardEvent::KpiRecalculated {
                kpi_id,
                agent_id,
                workspace_id,
                metrics,
                previous: _,
                trends,
                reason,
                formula_version,
                position,
                inputs,
                calculated_at,
            } => rows.put(KpiView {
                id: kpi_id,
                agent_id,
                workspace_id,
                metrics,
                trends,
                reason,
                formula_version,
                position,
                inputs,
                calculated_at,
                recorded_at: fact.recorded_at,
                recorded_position: fact.position,
            }),
            ScorecardEvent::TrustScoreChanged {
                kpi_id,
                previous,
                new,
                change,
                reason,
                factors,
                breakdown,
                previous_status,
                new_status,
                triggers,
                changed_at,
            } => rows.put(TrustView {
                position: fact.position,
                agent_id: AgentId(fact.subject),
                kpi_id,
                previous,
                new,
                change,
                reason,
                factors,
                breakdown,
                previous_status,
                new_status,
                triggers,
                changed_at,
            }),
        }
        Ok(())
    }
}

impl Record for KpiView {
    const TABLE: &'static str = "kpis";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.agent_id.0.into(), self.recorded_position.into(), self.calculated_at.timestamp_micros().into()]
    }
}

impl Record for TrustView {
    const TABLE: &'static str = "trust_changes";

    fn key(&self) -> Key {
        self.position.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.agent_id.0.into(), self.changed_at.timestamp_micros().into()]
    }
}
