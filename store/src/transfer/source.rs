//! A log as it stood at one moment, for as long as it takes to carry it away; those who write to it are not held up.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use rusqlite::{Connection as File, OpenFlags};
use sqlx::{AssertSqlSafe, Executor, PgConnection};
use tokio::sync::mpsc;

use super::batch::Batch;
use super::server;
use crate::chain::Hash;
use crate::scan::{self, Found, Select};
use crate::sql::{Row, Value, postgres_failed, postgres_row, sqlite_failed, sqlite_value};
use crate::{Head, Location, StoreError};

/// Events that are carried at a time; more when one batch has more.
const MOST_EVENTS: usize = 8_000;
/// Bytes of events that are carried at a time; more when one batch has more.
const MOST_BYTES: usize = 16 << 20;
/// Rows beside the log that are carried at a time.
const ROWS: usize = 2_000;
/// How long to wait for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const BATCHES: &str = "select first_position, events, recorded_at, leaves, link
     from batches
     where first_position > $1 and first_position <= $2
     order by first_position
     limit 1000";
const HEAD: &str = "select epoch, position, recorded_at, link from head";
const SCHEMA: &str = "select max(version) from schema_migrations";

/// One moment of a log.
pub(crate) struct Snapshot {
    reader: Reader,
    pub(crate) head: Head,
    pub(crate) place: String,
}

enum Reader {
    Sqlite(Arc<Mutex<File>>),
    Postgres(Box<PgConnection>),
}

/// What the log says of a batch.
struct Record {
    first: i64,
    events: usize,
    recorded_at: i64,
    leaves: Vec<Hash>,
    link: Hash,
}

impl Snapshot {
    /// A log that others may be using.
    pub(crate) async fn open(location: &Location) -> Result<Self, StoreError> {
        match location {
            Location::Sqlite(folder) => {
                let path = folder.join("log.db");
                let place = format!("SQLite in {}", folder.display());
                if !path.exists() {
                    return Err(StoreError::Setup(format!("{}: there is no log in this folder", folder.display())));
                }
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let file = File::open_with_flags(&path, flags).map_err(|e| sqlite_failed(&place, &e))?;
                Self::of_file(file, place).await
            }
            Location::Postgres(url) => Self::of_server(url).await,
        }
    }

    /// A file that nobody changes, as in a backup: nothing is written beside it, not even a lock.
    pub(crate) async fn open_still(path: &Path) -> Result<Self, StoreError> {
        let place = format!("SQLite in {}", path.display());
        let escaped = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let file = File::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
        Self::of_file(file.map_err(|e| sqlite_failed(&place, &e))?, place).await
    }

    async fn of_file(file: File, place: String) -> Result<Self, StoreError> {
        let failed = |e: rusqlite::Error| sqlite_failed(&place, &e);
        file.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        file.pragma_update(None, "query_only", true).map_err(failed)?;
        file.execute_batch("begin").map_err(failed)?;
        // The first look fixes the moment.
        let schema = file.query_row(SCHEMA, [], |row| row.get::<_, Option<i64>>(0)).map_err(failed)?;
        crate::open::check_log_schema(&place, schema.unwrap_or(0))?;
        let head = file.query_row(HEAD, [], |row| {
            Ok(Head { epoch: row.get(0)?, position: row.get(1)?, recorded_at: row.get(2)?, link: row.get(3)? })
        });
        let head = head.map_err(failed)?;
        Ok(Self { reader: Reader::Sqlite(Arc::new(Mutex::new(file))), head, place })
    }

    async fn of_server(url: &str) -> Result<Self, StoreError> {
        let (mut connection, place) = server::connect(url).await?;
        let failed = |e: sqlx::Error| postgres_failed(&place, &e);
        let found: bool = sqlx::query_scalar("select to_regclass('head') is not null")
            .fetch_one(&mut connection)
            .await
            .map_err(failed)?;
        if !found {
            return Err(StoreError::Setup(format!("{place}: there is no log in this database")));
        }
        connection.execute("begin isolation level repeatable read, read only").await.map_err(failed)?;
        let schema: Option<i64> = sqlx::query_scalar(SCHEMA).fetch_one(&mut connection).await.map_err(failed)?;
        crate::open::check_log_schema(&place, schema.unwrap_or(0))?;
        let head = server::head(&mut connection, HEAD).await.map_err(failed)?;
        Ok(Self { reader: Reader::Postgres(Box::new(connection)), head, place })
    }

    /// The next whole batches after a position where one ends; empty at the head.
    pub(crate) async fn batches(&mut self, after: i64) -> Result<Vec<Batch>, StoreError> {
        if after >= self.head.position {
            return Ok(Vec::new());
        }
        let mut records = self.records(after).await?;
        let mut wanted = 0;
        let enough = records.iter().position(|record| {
            wanted += record.events;
            wanted >= MOST_EVENTS
        });
        records.truncate(enough.map_or(records.len(), |last| last + 1));
        let Some(first) = records.first().filter(|it| it.first == after + 1) else {
            return Err(missing("the record of a batch", after + 1));
        };
        let mut events = self.events(after, wanted, MOST_BYTES).await?.events;
        if events.len() < first.events {
            // One batch larger than what is carried at a time.
            let read = events.len();
            let rest = self.events(after + read as i64, first.events - read, usize::MAX).await?;
            events.extend(rest.events);
        }
        if events.len() < first.events {
            return Err(missing("an event", after + 1 + events.len() as i64));
        }
        let mut events = events.into_iter();
        let mut batches = Vec::with_capacity(records.len());
        for record in records {
            if record.events == 0 {
                return Err(missing("the events of a batch", record.first));
            }
            if events.len() < record.events {
                break;
            }
            let events = events.by_ref().take(record.events).collect();
            batches.push(Batch { recorded_at: record.recorded_at, leaves: record.leaves, link: record.link, events });
        }
        Ok(batches)
    }

    /// The link of the batch that ends at a position, if one does.
    pub(crate) async fn link_at(&mut self, position: i64) -> Result<Option<Hash>, StoreError> {
        if position == 0 {
            return Ok(Some(crate::chain::GENESIS));
        }
        const SQL: &str = "select first_position, events, link from batches
             where first_position <= $1 order by first_position desc limit 1";
        let rows = self.query(SQL, vec![Value::Int(position)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        if row.int(0)? + row.int(1)? - 1 != position {
            return Ok(None);
        }
        hash(row.bytes(2)?).map(Some)
    }

    /// Where the batch begins that holds a position, and where it ends.
    pub(crate) async fn batch_around(&mut self, position: i64) -> Result<(i64, i64), StoreError> {
        const SQL: &str = "select first_position, events from batches
             where first_position <= $1 order by first_position desc limit 1";
        let rows = self.query(SQL, vec![Value::Int(position)]).await?;
        let row = rows.first().ok_or_else(|| missing("the record of a batch", position))?;
        Ok((row.int(0)?, row.int(0)? + row.int(1)? - 1))
    }

    /// The columns of a table; none if the log does not have it.
    pub(crate) async fn columns(&mut self, table: &str) -> Result<Vec<String>, StoreError> {
        let sql = match &self.reader {
            Reader::Sqlite(_) => super::target::COLUMNS_IN_SQLITE,
            Reader::Postgres(_) => super::target::COLUMNS_IN_POSTGRES,
        };
        let rows = self.query(sql, vec![table.into()]).await?;
        rows.into_iter().map(|mut row| row.take_text(0)).collect()
    }

    /// Sends every row of a table, in pages.
    pub(crate) async fn rows(
        &mut self,
        table: &str,
        columns: &[String],
        pages: mpsc::Sender<Vec<Row>>,
    ) -> Result<(), StoreError> {
        let sql = format!("select {} from {table}", columns.join(", "));
        let place = self.place.clone();
        match &mut self.reader {
            Reader::Sqlite(file) => {
                let file = Arc::clone(file);
                blocking(move || {
                    let failed = |e: rusqlite::Error| sqlite_failed(&place, &e);
                    let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut statement = file.prepare(&sql).map_err(failed)?;
                    let width = statement.column_count();
                    let mut rows = statement.query([]).map_err(failed)?;
                    let mut page = Vec::new();
                    while let Some(row) = rows.next().map_err(failed)? {
                        let values = (0..width).map(|at| row.get_ref(at).map(sqlite_value));
                        page.push(Row(values.collect::<rusqlite::Result<_>>().map_err(failed)?));
                        if page.len() == ROWS && pages.blocking_send(std::mem::take(&mut page)).is_err() {
                            return Ok(());
                        }
                    }
                    let _ = pages.blocking_send(page);
                    Ok(())
                })
                .await
            }
            Reader::Postgres(connection) => {
                let failed = |e: sqlx::Error| postgres_failed(&place, &e);
                let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(&mut **connection);
                let mut page = Vec::new();
                while let Some(row) = rows.try_next().await.map_err(failed)? {
                    page.push(postgres_row(&row).map_err(failed)?);
                    if page.len() == ROWS && pages.send(std::mem::take(&mut page)).await.is_err() {
                        return Ok(());
                    }
                }
                let _ = pages.send(page).await;
                Ok(())
            }
        }
    }

    async fn records(&mut self, after: i64) -> Result<Vec<Record>, StoreError> {
        let rows = self.query(BATCHES, vec![Value::Int(after), Value::Int(self.head.position)]).await?;
        rows.iter().map(record).collect()
    }

    async fn events(&mut self, after: i64, limit: usize, most_bytes: usize) -> Result<Found, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let select = Select::After { after, limit, kinds: None, most_bytes };
        let place = self.place.clone();
        match &mut self.reader {
            Reader::Sqlite(file) => {
                let file = Arc::clone(file);
                blocking(move || scan::scan_file(&file.lock().unwrap_or_else(PoisonError::into_inner), &select, &place))
                    .await
            }
            Reader::Postgres(connection) => {
                scan::scan_server(&mut **connection, &select).await.map_err(|e| e.at(&place))
            }
        }
    }

    async fn query(&mut self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let query = crate::sql::Query { sql: sql.into(), params };
        let place = self.place.clone();
        match &mut self.reader {
            Reader::Sqlite(file) => {
                let file = Arc::clone(file);
                blocking(move || {
                    let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    crate::sql::sqlite_select(&file, &query).map_err(|e| sqlite_failed(&place, &e))
                })
                .await
            }
            Reader::Postgres(connection) => {
                crate::sql::postgres_select(&mut **connection, &query).await.map_err(|e| postgres_failed(&place, &e))
            }
        }
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| StoreError::Failed(format!("work on a database did not end well: {e}")))?
}

fn record(row: &Row) -> Result<Record, StoreError> {
    let first = row.int(0)?;
    let (leaves, rest) = row.bytes(3)?.as_chunks::<32>();
    let events = usize::try_from(row.int(1)?).unwrap_or(0);
    if leaves.len() != events || !rest.is_empty() {
        return Err(StoreError::Damaged(format!("the record of the batch at position {first} does not fit")));
    }
    let (leaves, link) = (leaves.to_vec(), hash(row.bytes(4)?)?);
    Ok(Record { first, events, recorded_at: row.int(2)?, leaves, link })
}

pub(crate) fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map_err(|_| StoreError::Damaged("a link is no hash".into()))
}

fn missing(what: &str, position: i64) -> StoreError {
    StoreError::Damaged(format!("{what} is missing at position {position}"))
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("place", &self.place).field("head", &self.head).finish_non_exhaustive()
    }
}
