//! Rows of `events` become events where they are read, with no value per column in between: reading is most of a replay.

use futures_util::TryStreamExt;
use rusqlite::types::ValueRef;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::sql::{Database, PostgresDatabase, SqliteDatabase, postgres_failed, sqlite_failed};
use crate::{StoreError, StoredEvent, StreamId};

/// Which events.
#[derive(Debug, Clone)]
pub(crate) enum Select {
    /// Of one stream, from one sequence to another, both included.
    Stream { stream: StreamId, from: i64, to: i64 },
    /// After a position.
    After { after: i64, limit: i64, kinds: Kinds, most_bytes: usize },
}

/// The kinds of aggregates whose events are wanted; all of them without a list.
pub(crate) type Kinds = Option<Vec<&'static str>>;

/// What was found, in order and without a hole.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) events: Vec<StoredEvent>,
    /// Where the last event stood that was looked at, wanted or not.
    pub(crate) last: Option<i64>,
    bytes: usize,
}

macro_rules! events_where {
    ($rest:literal) => {
        concat!(
            "select position, aggregate_type, aggregate_id, sequence, event_type, event_version,
                    cast(payload as text), cast(metadata as text), event_id, workspace_id, recorded_at
             from events ",
            $rest
        )
    };
}

const OF_STREAM: &str =
    events_where!("where aggregate_type = $1 and aggregate_id = $2 and sequence between $3 and $4 order by sequence");
const AFTER: &str = events_where!("where position > $1 order by position limit $2");
/// What nobody wants stays on the server; its position is still counted.
const AFTER_OF_KINDS: &str = "select position, aggregate_type, aggregate_id, sequence, event_type, event_version,
            case when aggregate_type = any($3) then cast(payload as text) end,
            case when aggregate_type = any($3) then cast(metadata as text) end, event_id, workspace_id, recorded_at
     from events where position > $1 order by position limit $2";

/// Reads events. A hole in what is read is damage, never a late commit.
pub(crate) async fn read(database: &Database, select: Select) -> Result<Found, StoreError> {
    match database {
        Database::Sqlite(it) => from_sqlite(it, select).await,
        Database::Postgres(it) => from_postgres(it, select).await,
    }
}

impl Select {
    /// The first number that must be found, if any is.
    fn first(&self) -> i64 {
        match self {
            Self::Stream { from, .. } => (*from).max(1),
            Self::After { after, .. } => (*after).max(0) + 1,
        }
    }

    /// The number that must follow the one before: the sequence in a stream, else the position.
    fn number(&self, position: i64, sequence: i64) -> i64 {
        match self {
            Self::Stream { .. } => sequence,
            Self::After { .. } => position,
        }
    }

    fn wants(&self, kind: &str) -> bool {
        match self {
            Self::After { kinds: Some(kinds), .. } => kinds.contains(&kind),
            Self::After { kinds: None, .. } | Self::Stream { .. } => true,
        }
    }

    fn most_bytes(&self) -> usize {
        match self {
            Self::Stream { .. } => usize::MAX,
            Self::After { most_bytes, .. } => *most_bytes,
        }
    }

    fn hole(&self, wanted: i64, found: i64) -> StoreError {
        let of = match self {
            Self::Stream { stream, .. } => stream.to_string(),
            Self::After { .. } => "the log".into(),
        };
        StoreError::Damaged(format!("{of} has a hole at {wanted}: next comes {found}"))
    }
}

impl Found {
    fn is_full(&self, select: &Select) -> bool {
        self.bytes >= select.most_bytes()
    }

    fn add(&mut self, event: StoredEvent) {
        self.bytes += event.payload.len() + event.metadata.len();
        self.events.push(event);
    }
}

async fn from_sqlite(database: &SqliteDatabase, select: Select) -> Result<Found, StoreError> {
    let place = database.place().to_owned();
    database.read(move |connection| scan_file(connection, &select, &place)).await?
}

fn scan_file(connection: &rusqlite::Connection, select: &Select, place: &str) -> Result<Found, StoreError> {
    let failed = |e: rusqlite::Error| sqlite_failed(place, &e);
    let (sql, limit) = match select {
        Select::Stream { .. } => (OF_STREAM, 0),
        Select::After { limit, .. } => (AFTER, *limit),
    };
    // SQLite numbers `$1` by where it first appears, which here is where it belongs.
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = match select {
        Select::Stream { stream, from, to } => {
            statement.query((&stream.aggregate_type, &stream.aggregate_id, from, to)).map_err(failed)?
        }
        Select::After { after, .. } => statement.query((after, limit)).map_err(failed)?,
    };
    let mut found = Found::default();
    let mut wanted = select.first();
    while let Some(row) = rows.next().map_err(failed)? {
        let int = |at| row.get::<_, i64>(at).map_err(failed);
        let (position, sequence) = (int(0)?, int(3)?);
        let number = select.number(position, sequence);
        if number != wanted {
            return Err(select.hole(wanted, number));
        }
        wanted += 1;
        found.last = Some(position);
        let bytes = |at: usize| match row.get_ref(at) {
            Ok(ValueRef::Text(it) | ValueRef::Blob(it)) => Ok(Some(it)),
            Ok(ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_)) => Ok(None),
            Err(e) => Err(failed(e)),
        };
        let text = |at: usize| {
            let bytes = bytes(at)?.ok_or_else(|| no_text(position, at))?;
            // Bytes that are no text are damage that hashes show; here they must not stop the reader.
            Ok::<_, StoreError>(String::from_utf8_lossy(bytes).into_owned())
        };
        let kind = bytes(1)?.ok_or_else(|| no_text(position, 1))?;
        if !select.wants(&String::from_utf8_lossy(kind)) {
            continue;
        }
        found.add(StoredEvent {
            position,
            stream: StreamId { aggregate_type: text(1)?, aggregate_id: text(2)? },
            sequence,
            event_type: text(4)?,
            event_version: text(5)?,
            payload: text(6)?,
            metadata: text(7)?,
            event_id: id(bytes(8)?, position)?,
            workspace_id: bytes(9)?.map(|it| id(Some(it), position)).transpose()?,
            recorded_at: int(10)?,
        });
        if found.is_full(select) {
            break;
        }
    }
    Ok(found)
}

async fn from_postgres(database: &PostgresDatabase, select: Select) -> Result<Found, StoreError> {
    let failed = |e: sqlx::Error| postgres_failed(database.place(), &e);
    let query = match &select {
        Select::Stream { stream, from, to } => sqlx::query(OF_STREAM)
            .bind(stream.aggregate_type.clone())
            .bind(stream.aggregate_id.clone())
            .bind(*from)
            .bind(*to),
        Select::After { after, limit, kinds: None, .. } => sqlx::query(AFTER).bind(*after).bind(*limit),
        Select::After { after, limit, kinds: Some(kinds), .. } => {
            sqlx::query(AFTER_OF_KINDS).bind(*after).bind(*limit).bind(kinds.clone())
        }
    };
    let mut rows = query.fetch(database.pool());
    let mut found = Found::default();
    let mut wanted = select.first();
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        let (position, sequence) = (int(&row, 0).map_err(failed)?, int(&row, 3).map_err(failed)?);
        let number = select.number(position, sequence);
        if number != wanted {
            return Err(select.hole(wanted, number));
        }
        wanted += 1;
        found.last = Some(position);
        if !select.wants(text_at(&row, 1).map_err(failed)?.unwrap_or_default()) {
            continue;
        }
        let text = |at: usize| {
            let text = text_at(&row, at).map_err(failed)?.ok_or_else(|| no_text(position, at))?;
            Ok::<_, StoreError>(text.to_owned())
        };
        found.add(StoredEvent {
            position,
            stream: StreamId { aggregate_type: text(1)?, aggregate_id: text(2)? },
            sequence,
            event_type: text(4)?,
            event_version: text(5)?,
            payload: text(6)?,
            metadata: text(7)?,
            event_id: id(text_at(&row, 8).map_err(failed)?.map(<str>::as_bytes), position)?,
            workspace_id: {
                let workspace = text_at(&row, 9).map_err(failed)?;
                workspace.map(|it| id(Some(it.as_bytes()), position)).transpose()?
            },
            recorded_at: int(&row, 10).map_err(failed)?,
        });
        if found.is_full(&select) {
            break;
        }
    }
    Ok(found)
}

fn int(row: &PgRow, at: usize) -> Result<i64, sqlx::Error> {
    row.try_get_unchecked(at)
}

fn text_at(row: &PgRow, at: usize) -> Result<Option<&str>, sqlx::Error> {
    row.try_get_unchecked(at)
}

fn id(text: Option<&[u8]>, position: i64) -> Result<Uuid, StoreError> {
    let id = text.and_then(|it| Uuid::try_parse_ascii(it).ok());
    id.ok_or_else(|| StoreError::Damaged(format!("the event at {position} has something else where an id belongs")))
}

fn no_text(position: i64, column: usize) -> StoreError {
    StoreError::Damaged(format!("column {column} of the event at {position} holds no text"))
}
