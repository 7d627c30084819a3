//! Appending whole batches in one transaction, if the log is still where it was and no stream has a gap.

use rusqlite::{Connection as File, TransactionBehavior, params};
use sqlx::PgConnection;

use super::TransferError;
use super::batch::{Batch, Broken, Chain, gap, streams};
use super::server::{self, Copy, Field};
use crate::sql::{postgres_failed, sqlite_failed};
use crate::{Head, StoreError};

const EVENT_COLUMNS: &str = "position, aggregate_type, aggregate_id, sequence, event_type, event_version, payload, \
     metadata, event_id, workspace_id, recorded_at";
const BATCH_COLUMNS: &str = "first_position, events, recorded_at, leaves, link";

/// Why batches were not appended.
#[derive(Debug)]
pub(crate) enum AppendError {
    Store(StoreError),
    Broken(Broken),
    /// Somebody else has written to the log.
    Moved,
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl AppendError {
    /// In words; `whose` is what the batches come from.
    pub(crate) fn of(self, whose: &str, place: &str) -> TransferError {
        match self {
            Self::Store(error) => TransferError::Store(error),
            Self::Broken(broken) => TransferError::at(whose, &broken),
            Self::Moved => TransferError::Refused(format!("{place}: somebody else has written to this log meanwhile")),
        }
    }
}

pub(crate) fn append_to_file(
    file: &mut File,
    before: &Head,
    batches: &[Batch],
    reached: Chain,
    place: &str,
) -> Result<(), AppendError> {
    let failed = |e: rusqlite::Error| sqlite_failed(place, &e);
    let transaction = file.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let now: (i64, i64) = transaction
        .query_row("select epoch, position from head where link = ?1", [before.link], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap_or_default();
    if now != (before.epoch, before.position) {
        return Err(AppendError::Moved);
    }
    {
        let sql = "select coalesce(max(sequence), 0) from events where aggregate_type = ?1 and aggregate_id = ?2";
        let mut stands = transaction.prepare_cached(sql).map_err(failed)?;
        for (stream, before) in streams(batches).map_err(AppendError::Broken)? {
            let at: i64 =
                stands.query_row([&stream.aggregate_type, &stream.aggregate_id], |row| row.get(0)).map_err(failed)?;
            if at != before.sequence {
                return Err(AppendError::Broken(gap(before.position)));
            }
        }
        let sql = format!("insert into events ({EVENT_COLUMNS}) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
        let mut insert = transaction.prepare_cached(&sql).map_err(failed)?;
        let sql = format!("insert into batches ({BATCH_COLUMNS}) values (?1, ?2, ?3, ?4, ?5)");
        let mut record = transaction.prepare_cached(&sql).map_err(failed)?;
        for batch in batches {
            for event in &batch.events {
                let values = params![
                    event.position,
                    event.stream.aggregate_type,
                    event.stream.aggregate_id,
                    event.sequence,
                    event.event_type,
                    event.event_version,
                    event.payload,
                    event.metadata,
                    event.event_id.to_string(),
                    event.workspace_id.map(|it| it.to_string()),
                    event.recorded_at,
                ];
                insert.execute(values).map_err(failed)?;
            }
            let (first, count) = (batch.events[0].position, batch.events.len() as i64);
            record
                .execute(params![first, count, batch.recorded_at, batch.leaves.as_flattened(), batch.link])
                .map_err(failed)?;
        }
    }
    transaction
        .execute(
            "update head set position = ?1, recorded_at = ?2, link = ?3",
            params![reached.position, reached.recorded_at, reached.link],
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(())
}

pub(crate) async fn append_to_server(
    connection: &mut PgConnection,
    before: &Head,
    batches: &[Batch],
    reached: Chain,
    place: &str,
) -> Result<(), AppendError> {
    let failed = |e: sqlx::Error| postgres_failed(place, &e);
    let now = server::head(connection, "select epoch, position, recorded_at, link from head for update").await;
    let now = now.map_err(failed)?;
    if (now.epoch, now.position, now.link) != (before.epoch, before.position, before.link) {
        return Err(AppendError::Moved);
    }
    let streams = streams(batches).map_err(AppendError::Broken)?;
    let column = |of: fn(&crate::StreamId) -> &String| streams.keys().map(|it| of(it).clone()).collect::<Vec<_>>();
    let not_there: Option<i64> = sqlx::query_scalar(
        "select s.position
         from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as s (type, id, sequence, position)
         where s.sequence <> coalesce((
             select e.sequence from events e
             where e.aggregate_type = s.type and e.aggregate_id = s.id
             order by e.sequence desc limit 1), 0)
         order by s.position
         limit 1",
    )
    .bind(column(|it| &it.aggregate_type))
    .bind(column(|it| &it.aggregate_id))
    .bind(streams.values().map(|it| it.sequence).collect::<Vec<_>>())
    .bind(streams.values().map(|it| it.position).collect::<Vec<_>>())
    .fetch_optional(&mut *connection)
    .await
    .map_err(failed)?;
    if let Some(position) = not_there {
        return Err(AppendError::Broken(gap(position)));
    }
    copy_in(connection, batches).await.map_err(failed)?;
    sqlx::query("update head set position = $1, recorded_at = $2, link = $3")
        .bind(reached.position)
        .bind(reached.recorded_at)
        .bind(reached.link.to_vec())
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

async fn copy_in(connection: &mut PgConnection, batches: &[Batch]) -> Result<(), sqlx::Error> {
    let mut events = Copy::into(connection, "events", EVENT_COLUMNS).await?;
    for event in batches.iter().flat_map(|batch| &batch.events) {
        let (id, workspace) = (event.event_id.to_string(), event.workspace_id.map(|it| it.to_string()));
        let row = [
            Field::Int(event.position),
            Field::Bytes(event.stream.aggregate_type.as_bytes()),
            Field::Bytes(event.stream.aggregate_id.as_bytes()),
            Field::Int(event.sequence),
            Field::Bytes(event.event_type.as_bytes()),
            Field::Bytes(event.event_version.as_bytes()),
            Field::Bytes(event.payload.as_bytes()),
            Field::Bytes(event.metadata.as_bytes()),
            Field::Bytes(id.as_bytes()),
            workspace.as_ref().map_or(Field::Null, |it| Field::Bytes(it.as_bytes())),
            Field::Int(event.recorded_at),
        ];
        events.row(row).await?;
    }
    events.finish().await?;
    let mut records = Copy::into(connection, "batches", BATCH_COLUMNS).await?;
    for batch in batches {
        let row = [
            Field::Int(batch.events[0].position),
            Field::Int(batch.events.len() as i64),
            Field::Int(batch.recorded_at),
            Field::Bytes(batch.leaves.as_flattened()),
            Field::Bytes(&batch.link),
        ];
        records.row(row).await?;
    }
    records.finish().await
}
