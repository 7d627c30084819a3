//! Queries of the lineage: the events of workspaces, and which events stand next to each other.

use domain::{SessionId, WorkspaceId};
use store::StoreError;
use store::sql::{Database, Query, Row, Value};
use uuid::Uuid;

use super::Link;

/// Above this many workspaces, one search over all of them is cheaper than one for each.
const SEPARATELY: usize = 100;
/// The most events of one command that are looked for on each side of one of them.
const OF_ONE_COMMAND: i64 = 1000;
/// Rows asked for by one statement.
const CHUNK: usize = 500;

/// What [`link`] reads.
const COLUMNS: &str = "position, workspace_id, event_id, cause_id, command_id, session_id";
/// Of events of one command, only the first.
const FIRST_OF_COMMAND: &str = "not exists (
    select 1 from lineage before
    where before.position = lineage.position - 1 and before.command_id = lineage.command_id)";

/// The positions of the events of some workspaces after one position and up to another, in the order of the log.
pub async fn positions_of(
    views: &Database,
    workspaces: &[WorkspaceId],
    after: i64,
    upto: i64,
    limit: i64,
) -> Result<Vec<i64>, StoreError> {
    if workspaces.is_empty() {
        return Ok(vec![]);
    }
    let mut params: Vec<Value> = vec![after.into(), upto.into(), limit.max(0).into()];
    let found = "select position from lineage where position > $1 and position <= $2 and workspace_id";
    let page = "order by position limit $3";
    let ids = places(&mut params, workspaces.iter().map(|it| Value::Id(it.0)));
    // Each workspace is searched along its index and no further than the page needs.
    let sql = match ids.as_slice() {
        [only] => format!("{found} = {only} {page}"),
        many if many.len() <= SEPARATELY => {
            let part = |id: &String| format!("select * from ({found} = {id} {page}) as part");
            let all = many.iter().map(part).collect::<Vec<_>>().join(" union all ");
            format!("select position from ({all}) as found {page}")
        }
        many => format!("{found} in ({}) {page}", many.join(", ")),
    };
    views.query(Query { sql: sql.into(), params }).await?.iter().map(|row| row.int(0)).collect()
}

/// How many events some workspaces have up to a position.
pub async fn count_of(views: &Database, workspaces: &[WorkspaceId], upto: i64) -> Result<i64, StoreError> {
    if workspaces.is_empty() {
        return Ok(0);
    }
    let mut params: Vec<Value> = vec![upto.into()];
    let ids = places(&mut params, workspaces.iter().map(|it| Value::Id(it.0)));
    let sql = format!("select count(*) from lineage where position <= $1 and workspace_id in ({})", ids.join(", "));
    views.first(Query { sql: sql.into(), params }).await?.map_or(Ok(0), |row| row.int(0))
}

/// What is known of the event at a position.
pub async fn at(views: &Database, position: i64) -> Result<Option<Link>, StoreError> {
    Ok(at_all(views, &[position]).await?.pop())
}

/// What is known of the events at these positions, in the order of the log.
pub(super) async fn at_all(views: &Database, positions: &[i64]) -> Result<Vec<Link>, StoreError> {
    let values = positions.iter().map(|it| (*it).into()).collect();
    of_any(views, "position", values, "true", i64::MAX).await
}

/// The event with an id.
pub(super) async fn by_id(views: &Database, event_id: Uuid) -> Result<Option<Link>, StoreError> {
    Ok(of_any(views, "event_id", vec![Value::Id(event_id)], "true", 1).await?.pop())
}

/// The events of the same command, this one included, in the order of the log.
pub(super) async fn of_the_same_command(views: &Database, link: &Link) -> Result<Vec<Link>, StoreError> {
    let Some(command) = &link.command_id else { return Ok(vec![link.clone()]) };
    let sql =
        format!("select {COLUMNS} from lineage where position between $1 and $2 and command_id = $3 order by position");
    let query = Query::new(sql).bind(link.position - OF_ONE_COMMAND).bind(link.position + OF_ONE_COMMAND).bind(command);
    views.query(query).await?.into_iter().map(self::link).collect()
}

/// The first events of the commands that reactors issued because of these events.
pub(super) async fn reactions_to(views: &Database, causes: &[Uuid], limit: i64) -> Result<Vec<Link>, StoreError> {
    let values = causes.iter().copied().map(Value::Id).collect();
    of_any(views, "cause_id", values, FIRST_OF_COMMAND, limit).await
}

/// What others than the session say happened in it, by request.
pub(super) async fn in_session(views: &Database, session: SessionId, limit: i64) -> Result<Vec<Link>, StoreError> {
    let condition = format!("cause_id is null and {FIRST_OF_COMMAND}");
    of_any(views, "session_id", vec![Value::Id(session.0)], &condition, limit).await
}

/// Rows whose column has one of these values, in the order of the log.
async fn of_any(
    views: &Database,
    column: &'static str,
    values: Vec<Value>,
    condition: &str,
    limit: i64,
) -> Result<Vec<Link>, StoreError> {
    let mut links = Vec::new();
    for chunk in values.chunks(CHUNK) {
        let mut params: Vec<Value> = vec![limit.into()];
        let wanted = places(&mut params, chunk.iter().cloned()).join(", ");
        let sql = format!(
            "select {COLUMNS} from lineage where {column} in ({wanted}) and {condition} order by position limit $1"
        );
        let rows = views.query(Query { sql: sql.into(), params }).await?;
        links.extend(rows.into_iter().map(link).collect::<Result<Vec<_>, _>>()?);
    }
    links.sort_unstable_by_key(|it: &Link| it.position);
    links.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(links)
}

/// Adds parameters, and says how SQL names each.
fn places(params: &mut Vec<Value>, values: impl IntoIterator<Item = Value>) -> Vec<String> {
    let place = |value| {
        params.push(value);
        format!("${}", params.len())
    };
    values.into_iter().map(place).collect()
}

fn link(mut row: Row) -> Result<Link, StoreError> {
    Ok(Link {
        command_id: if row.is_null(4) { None } else { Some(row.take_text(4)?) },
        cause_id: row.optional(3, Row::uuid)?,
        position: row.int(0)?,
        workspace_id: row.optional(1, Row::uuid)?.map(WorkspaceId),
        event_id: row.uuid(2)?,
        session_id: row.optional(5, Row::uuid)?.map(SessionId),
    })
}
