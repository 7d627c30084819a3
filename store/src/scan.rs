//! Rows of `events` become events where they are read, with no value per column in between: reading is most of a replay.

use futures_util::TryStreamExt;
use rusqlite::types::ValueRef;
use sqlx::postgres::PgRow;
use sqlx::{Executor, Postgres, Row as _};
use uuid::Uuid;

use crate::sql::{Database, PostgresDatabase, SqliteDatabase, Tries, postgres_failed, sqlite_failed};
use crate::{StoreError, StoredEvent, StreamId};

/// Which events.
#[derive(Debug, Clone)]
pub(crate) enum Select {
    /// Of one stream, from one sequence to another, both included.
    Stream { stream: StreamId, from: i64, to: i64 },
    /// After a position.
    After { after: i64, limit: i64, kinds: Kinds, most_bytes: usize },
    /// At these positions, which must rise.
    At { positions: Vec<i64> },
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
    /// Events looked at.
    seen: usize,
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
/// The two databases take a list in different ways.
const AT_IN_SQLITE: &str = events_where!("where position in (select value from json_each($1)) order by position");
const AT_IN_POSTGRES: &str = events_where!("where position = any($1) order by position");
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
    /// The number that the event must have that is found after so many others.
    fn wanted(&self, found: usize) -> i64 {
        match self {
            Self::Stream { from, .. } => (*from).max(1) + found as i64,
            Self::After { after, .. } => (*after).max(0) + 1 + found as i64,
            Self::At { positions } => positions.get(found).copied().unwrap_or_default(),
        }
    }

    /// The number that must follow the one before: the sequence in a stream, else the position.
    fn number(&self, position: i64, sequence: i64) -> i64 {
        match self {
            Self::Stream { .. } => sequence,
            Self::After { .. } | Self::At { .. } => position,
        }
    }

    fn wants(&self, kind: &str) -> bool {
        match self {
            Self::After { kinds: Some(kinds), .. } => kinds.contains(&kind),
            Self::After { kinds: None, .. } | Self::Stream { .. } | Self::At { .. } => true,
        }
    }

    fn most_bytes(&self) -> usize {
        match self {
            Self::Stream { .. } | Self::At { .. } => usize::MAX,
            Self::After { most_bytes, .. } => *most_bytes,
        }
    }

    fn hole(&self, wanted: i64, found: i64) -> StoreError {
        let of = match self {
            Self::Stream { stream, .. } => stream.to_string(),
            Self::After { .. } | Self::At { .. } => "the log".into(),
        };
        StoreError::Damaged(format!("{of} has a hole at {wanted}: next comes {found}"))
    }
}

impl Found {
    fn is_full(&self, select: &Select) -> bool {
        self.bytes >= select.most_bytes()
    }

    /// Counts an event; it must be the one that comes next.
    fn look_at(&mut self, position: i64, number: i64, select: &Select) -> Result<(), StoreError> {
        let wanted = select.wanted(self.seen);
        if number != wanted {
            return Err(select.hole(wanted, number));
        }
        self.seen += 1;
        self.last = Some(position);
        Ok(())
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

/// Reads events on a connection of the caller's, within its transaction.
pub(crate) fn scan_file(connection: &rusqlite::Connection, select: &Select, place: &str) -> Result<Found, StoreError> {
    let failed = |e: rusqlite::Error| sqlite_failed(place, &e);
    let (sql, limit) = match select {
        Select::Stream { .. } => (OF_STREAM, 0),
        Select::After { limit, .. } => (AFTER, *limit),
        Select::At { .. } => (AT_IN_SQLITE, 0),
    };
    // SQLite numbers `$1` by where it first appears, which here is where it belongs.
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = match select {
        Select::Stream { stream, from, to } => {
            statement.query((&stream.aggregate_type, &stream.aggregate_id, from, to)).map_err(failed)?
        }
        Select::After { after, .. } => statement.query((after, limit)).map_err(failed)?,
        Select::At { positions } => {
            let list = serde_json::to_string(positions).map_err(|e| StoreError::Failed(e.to_string()))?;
            statement.query((list,)).map_err(failed)?
        }
    };
    let mut found = Found::default();
    while let Some(row) = rows.next().map_err(failed)? {
        let int = |at| row.get::<_, i64>(at).map_err(failed);
        let (position, sequence) = (int(0)?, int(3)?);
        let number = select.number(position, sequence);
        found.look_at(position, number, select)?;
        let bytes = |at: usize| match row.get_ref(at) {
            Ok(ValueRef::Text(it) | ValueRef::Blob(it)) => Ok(Some(it)),
            Ok(ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_)) => Ok(None),
            Err(e) => Err(failed(e)),
        };
        let text = |at: usize| {
            let bytes = bytes(at)?.ok_or_else(|| no_text(position, at))?;
            Ok::<_, StoreError>(match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                // Damage that hashes show; here it must not stop the reader.
                Err(_) => String::from_utf8_lossy(bytes).into_owned(),
            })
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
    let mut tries = Tries::of(database.pool());
    loop {
        match scan_server(database.pool(), &select).await {
            Err(Fault::Server(e)) if tries.another(&e) => {}
            found => return found.map_err(|e| e.at(database.place())),
        }
    }
}

/// Why a scan of a server found nothing.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server, or the way to it.
    Server(sqlx::Error),
    /// What is stored there.
    Damage(StoreError),
}

impl Fault {
    /// The fault of a store that is somewhere.
    pub(crate) fn at(self, place: &str) -> StoreError {
        match self {
            Self::Server(e) => postgres_failed(place, &e),
            Self::Damage(e) => e,
        }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Server(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Damage(error)
    }
}

/// Reads events on a connection of the caller's, within its transaction.
pub(crate) async fn scan_server<'e>(
    connection: impl Executor<'e, Database = Postgres> + 'e,
    select: &Select,
) -> Result<Found, Fault> {
    let query = match select {
        Select::Stream { stream, from, to } => sqlx::query(OF_STREAM)
            .bind(stream.aggregate_type.clone())
            .bind(stream.aggregate_id.clone())
            .bind(*from)
            .bind(*to),
        Select::After { after, limit, kinds: None, .. } => sqlx::query(AFTER).bind(*after).bind(*limit),
        Select::After { after, limit, kinds: Some(kinds), .. } => {
            sqlx::query(AFTER_OF_KINDS).bind(*after).bind(*limit).bind(kinds.clone())
        }
        Select::At { positions } => sqlx::query(AT_IN_POSTGRES).bind(positions.clone()),
    };
    let mut rows = query.fetch(connection);
    let mut found = Found::default();
    while let Some(row) = rows.try_next().await? {
        let (position, sequence) = (int(&row, 0)?, int(&row, 3)?);
        let number = select.number(position, sequence);
        found.look_at(position, number, select)?;
        if !select.wants(text_at(&row, 1)?.unwrap_or_default()) {
            continue;
        }
        let text = |at: usize| {
            let text = text_at(&row, at)?.ok_or_else(|| no_text(position, at))?;
            Ok::<_, Fault>(text.to_owned())
        };
        found.add(StoredEvent {
            position,
            stream: StreamId { aggregate_type: text(1)?, aggregate_id: text(2)? },
            sequence,
            event_type: text(4)?,
            event_version: text(5)?,
            payload: text(6)?,
            metadata: text(7)?,
            event_id: id(text_at(&row, 8)?.map(<str>::as_bytes), position)?,
            workspace_id: text_at(&row, 9)?.map(|it| id(Some(it.as_bytes()), position)).transpose()?,
            recorded_at: int(&row, 10)?,
        });
        if found.is_full(select) {
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
