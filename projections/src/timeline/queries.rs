//! Queries of the timeline: pages newest first, one event, and what came after a position.

use domain::{AgentId, ProjectId, SessionId, TaskId, UserId, WorkspaceId};
use serde_json::value::RawValue;
use store::StoreError;
use store::sql::{Database, Query, Row, Value};
use uuid::Uuid;

use crate::query::Conditions;

/// Counted exactly up to here; beyond, a total is a lower bound.
const COUNTED: i64 = 10_000;
/// The most entries of a page.
const PAGE: i64 = 100;
/// The most entries that a follower gets at a time.
const FOLLOWED: i64 = 1000;
/// Above this many workspaces, one search over all of them is cheaper than one for each.
const SEPARATELY: usize = 100;

/// Which entries to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of these workspaces, which the caller may see; of none without.
    pub workspaces: Vec<WorkspaceId>,
    /// Only of one project.
    pub project: Option<ProjectId>,
    /// Only what one agent did, and what others than agents did to it.
    pub agent: Option<AgentId>,
    /// Only of one session.
    pub session: Option<Uuid>,
    /// Only of one type.
    pub kind: Option<String>,
    /// Only those before a position of the log.
    pub before: Option<i64>,
}

/// An entry as its read model keeps it.
#[derive(Debug)]
pub struct Doc {
    /// The place in the log.
    pub position: i64,
    /// The entry's type.
    pub kind: String,
    /// The user whose name belongs into the content; names are joined when a query is answered.
    pub named_user: Option<UserId>,
    /// The entry, as JSON.
    pub json: Box<RawValue>,
}

/// A page of entries, newest first.
#[derive(Debug)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Doc>,
    /// How many there are on all pages.
    pub total: i64,
    /// Whether there are more than `total`.
    pub total_is_lower_bound: bool,
    /// Whether there are entries after this page.
    pub has_more: bool,
}

/// One entry, with what decides who may see it.
#[derive(Debug)]
pub struct Found {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it belongs to.
    pub project_id: Option<ProjectId>,
    /// The session it belongs to.
    pub session_id: Option<SessionId>,
    /// The entry.
    pub doc: Doc,
}

/// A page of entries, newest first; entries and total are of one moment.
pub async fn list(views: &Database, filter: &Filter, limit: i64, offset: i64) -> Result<Page, StoreError> {
    let (limit, offset) = (limit.clamp(0, PAGE), offset.max(0));
    if filter.workspaces.is_empty() {
        return Ok(Page { entries: vec![], total: 0, total_is_lower_bound: false, has_more: false });
    }
    let entries = search(filter, filter.conditions(), Order::NewestFirst, limit + 1, offset);
    let mut answers = views.snapshot(vec![entries, count(filter)]).await?.into_iter();
    let mut rows = answers.next().unwrap_or_default();
    let has_more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    let total = answers.next().unwrap_or_default().first().map_or(Ok(0), |row| row.int(0))?;
    Ok(Page {
        entries: rows.into_iter().map(doc).collect::<Result<_, _>>()?,
        total: total.min(COUNTED),
        total_is_lower_bound: total > COUNTED,
        has_more,
    })
}

/// The entry of an event.
pub async fn find(views: &Database, event_id: Uuid) -> Result<Option<Found>, StoreError> {
    let query = Query::new(
        "select position, type, named_user_id, doc, workspace_id, project_id, session_id
         from timeline
         where id = $1",
    );
    let Some(row) = views.first(query.bind(event_id)).await? else { return Ok(None) };
    Ok(Some(Found {
        workspace_id: WorkspaceId(row.uuid(4)?),
        project_id: row.optional(5, Row::uuid)?.map(ProjectId),
        session_id: row.optional(6, Row::uuid)?.map(SessionId),
        doc: doc(row)?,
    }))
}

/// The entries after a position of the log, oldest first.
pub async fn after(views: &Database, filter: &Filter, position: i64, limit: i64) -> Result<Vec<Doc>, StoreError> {
    if filter.workspaces.is_empty() {
        return Ok(vec![]);
    }
    let conditions = filter.conditions().and("position >", Some(position));
    let query = search(filter, conditions, Order::OldestFirst, limit.clamp(0, FOLLOWED), 0);
    docs(views, query).await
}

/// The entries after a position of the log that mention an agent, oldest first. An agent knows what happened in
/// its own sessions, so those events mention nobody.
pub async fn mentioning(views: &Database, agent: AgentId, after: i64, limit: i64) -> Result<Vec<Doc>, StoreError> {
    let query = Query::new(
        "select e.position, e.type, e.named_user_id, e.doc
         from timeline_mentions m
         join timeline e on e.position = m.position
         where m.agent_id = $1 and m.position > $2
         order by m.position
         limit $3",
    );
    docs(views, query.bind(agent.0).bind(after).bind(limit.clamp(0, PAGE))).await
}

/// The entries about a task, newest first.
pub async fn about_task(views: &Database, task: TaskId, limit: i64) -> Result<Vec<Doc>, StoreError> {
    let query = Query::new(
        "select position, type, named_user_id, doc
         from timeline
         where task_id = $1
         order by position desc
         limit $2",
    );
    docs(views, query.bind(task.0).bind(limit.clamp(0, PAGE))).await
}

impl Filter {
    /// Everything but the workspaces.
    fn conditions(&self) -> Conditions {
        Conditions::default()
            .and("position <", Some(self.before.unwrap_or(i64::MAX)))
            .and("project_id =", self.project.map(|it| it.0))
            .and("agent_id =", self.agent.map(|it| it.0))
            .and("session_id =", self.session)
            .and("type =", self.kind.as_ref())
    }
}

#[derive(Clone, Copy)]
enum Order {
    NewestFirst,
    OldestFirst,
}

/// Finds entries of some workspaces. Each one is searched for itself, along its index and no further than the page
/// needs: a search over all of them at once would sort everything they ever did.
fn search(filter: &Filter, conditions: Conditions, order: Order, limit: i64, offset: i64) -> Query {
    let order = match order {
        Order::NewestFirst => "position desc",
        Order::OldestFirst => "position",
    };
    let Conditions { sql, mut params } = conditions;
    let mut bind = |value: Value| {
        params.push(value);
        params.len()
    };
    let columns = "select position, type, named_user_id, doc from timeline where";
    let parts: Vec<String> = if filter.workspaces.len() <= SEPARATELY {
        let ids = filter.workspaces.iter().map(|it| bind(it.0.into()));
        ids.map(|id| format!("{columns} {sql} and workspace_id = ${id}")).collect()
    } else {
        let ids: Vec<String> = filter.workspaces.iter().map(|it| format!("${}", bind(it.0.into()))).collect();
        vec![format!("{columns} {sql} and workspace_id in ({})", ids.join(", "))]
    };
    let (reach, limit, offset) = (bind((limit + offset).into()), bind(limit.into()), bind(offset.into()));
    let parts: Vec<String> =
        parts.iter().map(|part| format!("select * from ({part} order by {order} limit ${reach}) as part")).collect();
    let all = parts.join(" union all ");
    let page = format!("order by {order} limit ${limit} offset ${offset}");
    let sql = format!("select position, type, named_user_id, doc from ({all}) as found {page}");
    Query { sql: sql.into(), params }
}

/// Counts entries, up to one more than is told exactly.
fn count(filter: &Filter) -> Query {
    let Conditions { sql, mut params } = filter.conditions();
    let mut ids = Vec::with_capacity(filter.workspaces.len());
    for workspace in &filter.workspaces {
        params.push(workspace.0.into());
        ids.push(format!("${}", params.len()));
    }
    let (ids, limit) = (ids.join(", "), params.len() + 1);
    let found = format!("select 1 from timeline where {sql} and workspace_id in ({ids}) limit ${limit}");
    Query { sql: format!("select count(*) from ({found}) as found").into(), params }.bind(COUNTED + 1)
}

async fn docs(views: &Database, query: Query) -> Result<Vec<Doc>, StoreError> {
    views.query(query).await?.into_iter().map(doc).collect()
}

/// The entry in a row whose first columns are position, type, named user and document.
fn doc(mut row: Row) -> Result<Doc, StoreError> {
    let damaged = |e| StoreError::Damaged(format!("the timeline holds an entry that is not JSON: {e}"));
    Ok(Doc {
        position: row.int(0)?,
        kind: row.take_text(1)?,
        named_user: row.optional(2, Row::uuid)?.map(UserId),
        json: RawValue::from_string(row.take_text(3)?).map_err(damaged)?,
    })
}
