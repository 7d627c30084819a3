//! An agent with its newest KPIs and sessions: what three read models say of it, in one statement and so of one moment.

use domain::AgentId;
use serde::de::DeserializeOwned;
use store::StoreError;
use store::sql::{Database, Query, Row};

use crate::agents::AgentView;
use crate::scorecards::KpiView;
use crate::sessions::SessionView;

/// What is shown of an agent.
#[derive(Debug)]
pub struct AgentProfile {
    /// The agent.
    pub agent: AgentView,
    /// Its calculations, newest first.
    pub kpis: Vec<KpiView>,
    /// Its sessions, newest first.
    pub sessions: Vec<SessionView>,
}

// Which part a row is of, and its place there: the order in which a union comes back is nobody's promise.
const PROFILE: &str = "select 0, 0, doc from agents where id = $1
     union all
     select 1, kpi.position, kpi.doc
     from (select position, doc from kpis where agent_id = $1 order by position desc limit $2) as kpi
     union all
     select 2, session.started_position, session.doc
     from (select started_position, doc from sessions where agent_id = $1 order by started_position desc limit $3)
          as session";

/// An agent with so many of its newest KPIs and sessions.
pub async fn find(views: &Database, id: AgentId, kpis: i64, sessions: i64) -> Result<Option<AgentProfile>, StoreError> {
    let rows = views.query(Query::new(PROFILE).bind(id.0).bind(kpis).bind(sessions)).await?;
    let Some(agent) = part(&rows, 0)?.pop() else { return Ok(None) };
    Ok(Some(AgentProfile { agent, kpis: part(&rows, 1)?, sessions: part(&rows, 2)? }))
}

/// The records of one part, newest first.
fn part<R: DeserializeOwned>(rows: &[Row], wanted: i64) -> Result<Vec<R>, StoreError> {
    let mut found = vec![];
    for row in rows {
        if row.int(0)? == wanted {
            found.push((row.int(1)?, row.text(2)?));
        }
    }
    found.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(*place));
    let damaged = |e| StoreError::Damaged(format!("a read model holds no record: {e}"));
    found.into_iter().map(|(_, doc)| serde_json::from_str(doc).map_err(damaged)).collect()
}
