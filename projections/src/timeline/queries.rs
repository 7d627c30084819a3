//! Queries of the timeline: pages newest first, one event, and what came after a position.

use domain::{AgentId, ProjectId, SessionId, TaskId, UserId, WorkspaceId};
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
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
    pub json: String,
}

/// How many entries a filter finds up to a position. It stays true: entries come at the end and never go. (Only a
/// stream that was parked and is retried adds some to the past, so whoever keeps this should not keep it for long.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The newest entry that was counted.
    up_to: i64,
    /// How many; beyond what is told exactly, any number beyond.
    total: i64,
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
    Ok(list_knowing(views, filter, None, limit, offset).await?.0)
}

/// The same where some of it was counted before: then only what came since is counted. Also answers what is counted
/// now, if the page shows how far.
pub async fn list_knowing(
    views: &Database,
    filter: &Filter,
    known: Option<Counted>,
    limit: i64,
    offset: i64,
) -> Result<(Page, Option<Counted>), StoreError> {
    let (limit, offset) = (limit.clamp(0, PAGE), offset.max(0));
    if filter.workspaces.is_empty() {
        let nothing = Page { entries: vec![], total: 0, total_is_lower_bound: false, has_more: false };
        return Ok((nothing, None));
    }
    let known = known.unwrap_or(Counted { up_to: 0, total: 0 });
    let newer_than = (known.total <= COUNTED).then_some(known.up_to);
    let order = Order::NewestFirst;
    let mut rows = views.query(search(filter, filter.conditions(), order, limit + 1, offset, newer_than)).await?;
    let newest = rows.first().map_or(Ok(known.up_to), |row| row.int(0))?;
    let newer = match (rows.first(), newer_than) {
        (_, None) => 0,
        (Some(row), Some(_)) => row.int(4)?,
        (None, Some(_)) if offset == 0 => 0,
        // Past the end there is no row that could tell.
        (None, Some(up_to)) => views.first(count(filter, up_to)).await?.map_or(Ok(0), |row| row.int(0))?,
    };
    let has_more = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    let total = known.total + newer;
    let page = Page {
        entries: rows.into_iter().map(doc).collect::<Result<_, _>>()?,
        total: total.min(COUNTED),
        total_is_lower_bound: total > COUNTED,
        has_more,
    };
    Ok((page, (offset == 0).then_some(Counted { up_to: newest, total })))
}

/// The entry of an event.
pub async fn find(views: &Database, event_id: Uuid) -> Result<Option<Found>, StoreError> {
    let query = Query::new(
        "select position, type, named_user_id, doc, workspace_id, project_id, session_id
         from timeline
         where id = $1",
    );
    let Some(row) = views.first(query.bind(Value::Id(event_id))).await? else { return Ok(None) };
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
    let query = search(filter, conditions, Order::OldestFirst, limit.clamp(0, FOLLOWED), 0, None);
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
    docs(views, query.bind(Value::Id(task.0)).bind(limit.clamp(0, PAGE))).await
}

impl Filter {
    /// Everything but the workspaces.
    fn conditions(&self) -> Conditions {
        Conditions::default()
            .and("position <", Some(self.before.unwrap_or(i64::MAX)))
            .and("project_id =", self.project.map(|it| Value::Id(it.0)))
            .and("agent_id =", self.agent.map(|it| Value::Id(it.0)))
            .and("session_id =", self.session.map(Value::Id))
            .and("type =", self.kind.as_ref())
    }
}

/// What [`doc`] reads.
const COLUMNS: &str = "position, type, named_user_id, doc";

#[derive(Clone, Copy)]
enum Order {
    NewestFirst,
    OldestFirst,
}

/// Finds entries of some workspaces. Each one is searched for itself, along its index and no further than the page
/// needs: a search over all of them at once would sort everything they ever did. With `newer_than`, a last column
/// counts the entries after that position, up to one more than is told exactly.
fn search(
    filter: &Filter,
    conditions: Conditions,
    order: Order,
    limit: i64,
    offset: i64,
    newer_than: Option<i64>,
) -> Query {
    let order = match order {
        Order::NewestFirst => "position desc",
        Order::OldestFirst => "position",
    };
    let Conditions { sql, mut params } = conditions;
    let mut bind = |value: Value| {
        params.push(value);
        params.len()
    };
    let ids: Vec<String> = filter.workspaces.iter().map(|it| format!("${}", bind(Value::Id(it.0)))).collect();
    let mut columns = COLUMNS.to_owned();
    if let Some(position) = newer_than {
        let (after, most) = (bind(position.into()), bind((COUNTED + 1).into()));
        columns += &format!(", ({})", counting(&sql, &ids, after, most));
    }
    let page = format!("order by {order} limit ${} offset ${}", bind(limit.into()), bind(offset.into()));
    let sql = match ids.as_slice() {
        [only] => format!("select {columns} from timeline where {sql} and workspace_id = {only} {page}"),
        many if many.len() <= SEPARATELY => {
            let reach = bind((limit + offset).into());
            let part = |id: &String| {
                let found = format!("select {COLUMNS} from timeline where {sql} and workspace_id = {id}");
                format!("select * from ({found} order by {order} limit ${reach}) as part")
            };
            let all = many.iter().map(part).collect::<Vec<_>>().join(" union all ");
            format!("select {columns} from ({all}) as found {page}")
        }
        many => {
            let within = many.join(", ");
            format!("select {columns} from timeline where {sql} and workspace_id in ({within}) {page}")
        }
    };
    Query { sql: sql.into(), params }
}

/// Counts entries after a position.
fn count(filter: &Filter, after: i64) -> Query {
    let Conditions { sql, mut params } = filter.conditions();
    let mut ids = Vec::with_capacity(filter.workspaces.len());
    for workspace in &filter.workspaces {
        params.push(Value::Id(workspace.0));
        ids.push(format!("${}", params.len()));
    }
    let sql = counting(&sql, &ids, params.len() + 1, params.len() + 2);
    Query { sql: sql.into(), params }.bind(after).bind(COUNTED + 1)
}

fn counting(conditions: &str, workspaces: &[String], after: usize, most: usize) -> String {
    let workspaces = workspaces.join(", ");
    let found = format!("where {conditions} and workspace_id in ({workspaces}) and position > ${after} limit ${most}");
    format!("select count(*) from (select 1 from timeline {found}) as newer")
}

async fn docs(views: &Database, query: Query) -> Result<Vec<Doc>, StoreError> {
    views.query(query).await?.into_iter().map(doc).collect()
}

/// The entry in a row whose first columns are position, type, named user and document.
fn doc(mut row: Row) -> Result<Doc, StoreError> {
    Ok(Doc {
        position: row.int(0)?,
        kind: row.take_text(1)?,
        named_user: row.optional(2, Row::uuid)?.map(UserId),
        json: row.take_text(3)?,
    })
}
