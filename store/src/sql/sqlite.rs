//! SQLite on dedicated threads: one that writes, a few that read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, params_from_iter};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::table::Dialect;
use super::{Outcome, Query, Row, Statement, Table, Value, full_text};
use crate::StoreError;

/// How many threads read at the same time.
const READERS: usize = 4;
/// Statements kept prepared per connection.
const STATEMENT_CACHE: usize = 128;
/// How long a statement waits for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// So many rows in one transaction are a bulk load. They would not fit into the cache that is enough for others, and be
/// written, read again and moved into the file by each of them.
const MANY: usize = 2_000;
/// So many pages of bulk loads are moved into the file at a time: about 64 MB.
const MANY_PAGES: u32 = 16_000;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// One SQLite file with its threads; they end when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct SqliteDatabase {
    writer: Sender<Job>,
    /// The connection of the thread that writes.
    pen: Arc<Mutex<Connection>>,
    readers: Sender<Job>,
    place: Arc<str>,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqliteSettings {
    /// `full` makes a commit survive a power cut, `normal` only a crash of the process.
    pub(crate) synchronous: &'static str,
    /// Whether what is removed is overwritten: keys and secrets must not stay in pages that nobody uses.
    pub(crate) secure_delete: bool,
    /// Whether triggers hold for us too. Those of the log keep others from changing it: they look again, for every event,
    /// for what the append has just made sure of.
    pub(crate) triggers: bool,
    /// So many pages in the write-ahead log make whoever commits next move them into the file.
    pub(crate) checkpoint_pages: u32,
}

impl SqliteDatabase {
    /// Opens or makes a file in WAL mode.
    pub(crate) fn open(path: &Path, settings: SqliteSettings) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let connect = |path: &PathBuf| connect(path, settings);
        Self::start(place, path.to_path_buf(), READERS, connect)
    }

    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        // A plain in-memory database belongs to one connection, so the writer answers queries too.
        let connection = Connection::open_in_memory().map_err(|e| failed("memory", &e))?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        let (writer, jobs) = crossbeam_channel::unbounded();
        let pen = spawn("memory", connection, jobs)?;
        Ok(Self { readers: writer.clone(), writer, pen, place: "memory".into() })
    }

    fn start(
        place: String,
        path: PathBuf,
        readers: usize,
        connect: impl Fn(&PathBuf) -> Result<Connection, StoreError>,
    ) -> Result<Self, StoreError> {
        let (writer, write_jobs) = crossbeam_channel::unbounded();
        let pen = spawn("write", connect(&path)?, write_jobs)?;
        let (reader, read_jobs) = crossbeam_channel::unbounded::<Job>();
        for _ in 0..readers {
            let connection = connect(&path)?;
            connection.pragma_update(None, "query_only", true).map_err(|e| failed(&place, &e))?;
            spawn("read", connection, read_jobs.clone())?;
        }
        Ok(Self { writer, pen, readers: reader, place: place.into() })
    }

    /// Where it is, for messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Has `work` run on the thread that writes, without waiting for it.
    pub(crate) fn post(&self, work: impl FnOnce(&mut Connection) + Send + 'static) -> Result<(), StoreError> {
        let gone = |_| StoreError::Unavailable(format!("{}: its thread has ended", self.place));
        self.writer.send(Box::new(work)).map_err(gone)
    }

    /// The connection that writes, unless somebody is writing.
    pub(crate) fn pen(&self) -> Option<MutexGuard<'_, Connection>> {
        match self.pen.try_lock() {
            Ok(pen) => Some(pen),
            // What a panic left undone was rolled back by its transaction.
            Err(TryLockError::Poisoned(pen)) => Some(pen.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Runs `work` on the thread that writes.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        run(&self.writer, &self.place, work).await
    }

    /// Runs `work` on one of the threads that read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        run(&self.readers, &self.place, work).await
    }

    pub(crate) async fn query(&self, query: Query) -> Result<Vec<Row>, StoreError> {
        let place = self.place.clone();
        self.read(move |connection| select(connection, &query).map_err(|e| failed(&place, &e))).await?
    }

    pub(crate) async fn snapshot(&self, queries: Vec<Query>) -> Result<Vec<Vec<Row>>, StoreError> {
        let place = self.place.clone();
        self.read(move |connection| {
            let transaction = connection.transaction()?;
            queries.iter().map(|query| select(&transaction, query)).collect::<rusqlite::Result<Vec<_>>>()
        })
        .await?
        .map_err(|e| failed(&place, &e))
    }

    pub(crate) async fn transact(&self, statements: Vec<Statement>) -> Result<Outcome, StoreError> {
        let place = self.place.clone();
        self.write(move |connection| run_all(connection, &statements)).await?.map_err(|e| failed(&place, &e))
    }
}

async fn run<T: Send + 'static>(
    threads: &Sender<Job>,
    place: &str,
    work: impl FnOnce(&mut Connection) -> T + Send + 'static,
) -> Result<T, StoreError> {
    let (answer, answered) = oneshot::channel();
    let job: Job = Box::new(move |connection| {
        let _ = answer.send(work(connection));
    });
    let gone = || StoreError::Unavailable(format!("{place}: its thread has ended"));
    threads.send(job).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())
}

fn spawn(role: &str, connection: Connection, jobs: Receiver<Job>) -> Result<Arc<Mutex<Connection>>, StoreError> {
    let connection = Arc::new(Mutex::new(connection));
    let its_own = connection.clone();
    std::thread::Builder::new()
        .name(format!("sqlite-{role}"))
        .spawn(move || {
            while let Ok(job) = jobs.recv() {
                job(&mut its_own.lock().unwrap_or_else(PoisonError::into_inner));
            }
        })
        .map_err(|e| StoreError::Setup(format!("cannot start a database thread: {e}")))?;
    Ok(connection)
}

pub(crate) fn connect(path: &Path, settings: SqliteSettings) -> Result<Connection, StoreError> {
    let place = path.display().to_string();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| failed(&place, &e))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|e| failed(&place, &e))?;
    let mode: String =
        connection.query_row("pragma journal_mode = wal", [], |row| row.get(0)).map_err(|e| failed(&place, &e))?;
    if mode != "wal" {
        return Err(StoreError::Setup(format!("{place}: this folder does not support write-ahead logging")));
    }
    connection.pragma_update(None, "synchronous", settings.synchronous).map_err(|e| failed(&place, &e))?;
    connection.pragma_update(None, "secure_delete", settings.secure_delete).map_err(|e| failed(&place, &e))?;
    connection.pragma_update(None, "wal_autocheckpoint", settings.checkpoint_pages).map_err(|e| failed(&place, &e))?;
    connection.pragma_update(None, "foreign_keys", true).map_err(|e| failed(&place, &e))?;
    let triggers = DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
    connection.set_db_config(triggers, settings.triggers).map_err(|e| failed(&place, &e))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Says what failed and where, in words that help whoever runs the server.
pub(crate) fn failed(place: &str, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let text = format!("{place}: {error}");
    match error.sqlite_error_code() {
        Some(Code::NotADatabase | Code::DatabaseCorrupt) => StoreError::Damaged(text),
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => {
            StoreError::Setup(format!("{text}: the folder must exist and be writable"))
        }
        Some(Code::DiskFull) => StoreError::Setup(format!("{text}: the disk is full")),
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => StoreError::Unavailable(text),
        _ => StoreError::Failed(text),
    }
}

/// Runs all statements, with room for many rows if they have many.
fn run_all(connection: &mut Connection, statements: &[Statement]) -> rusqlite::Result<Outcome> {
    let rows = |statement: &Statement| match statement {
        Statement::Insert { rows, .. } | Statement::Upsert { rows, .. } => rows.len(),
        _ => 0,
    };
    if statements.iter().map(rows).sum::<usize>() < MANY {
        return run_each(connection, statements);
    }
    let before: u32 = connection.pragma_query_value(None, "wal_autocheckpoint", |row| row.get(0))?;
    connection.execute_batch(&format!("pragma cache_size = -32768; pragma wal_autocheckpoint = {MANY_PAGES}"))?;
    let outcome = run_each(connection, statements);
    connection.execute_batch(&format!("pragma cache_size = -2000; pragma wal_autocheckpoint = {before}"))?;
    outcome
}

fn run_each(connection: &mut Connection, statements: &[Statement]) -> rusqlite::Result<Outcome> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for statement in statements {
        match statement {
            Statement::Run(query) => {
                execute(&transaction, query)?;
            }
            Statement::Expect { query, rows } => {
                if execute(&transaction, query)? as u64 != *rows {
                    return Ok(Outcome::Unexpected);
                }
            }
            Statement::Insert { table, rows } => each(&transaction, &insert(table), rows)?,
            Statement::Upsert { table, rows } => each(&transaction, &upsert(table), rows)?,
            Statement::Delete { table, keys } => each(&transaction, &delete(table), keys)?,
            Statement::CreateTable(table) => transaction.execute_batch(&table.create(Dialect::Sqlite))?,
            Statement::CreateKey(table) => {
                if let Some(key) = table.create_key(Dialect::Sqlite) {
                    sorted(&transaction, &key)?;
                }
            }
            Statement::CreateIndexes(table) => {
                for index in table.create_indexes().into_iter().chain(full_text::index_on_sqlite(table)) {
                    sorted(&transaction, &index)?;
                }
            }
            // What it would find out is not needed: every look-up has an index made for it.
            Statement::Analyze(_) => {}
            Statement::DropTable(name) => {
                let words = full_text::shadow(name);
                transaction.execute_batch(&format!("drop table if exists {words}; drop table if exists {name}"))?;
            }
            Statement::CreateView { table, name } => {
                transaction.execute_batch(&table.create_view(name))?;
                if let Some(words) = full_text::view_on_sqlite(table, name) {
                    transaction.execute_batch(&words)?;
                }
            }
            Statement::DropView(name) => {
                let words = full_text::shadow(name);
                transaction.execute_batch(&format!("drop view if exists {words}; drop view if exists {name}"))?;
            }
        }
    }
    transaction.commit()?;
    Ok(Outcome::Done)
}

fn each(connection: &Connection, sql: &str, rows: &[Vec<Value>]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    for row in rows {
        statement.execute(params_from_iter(row))?;
    }
    Ok(())
}

/// Makes an index with room to sort in, and a thread that helps; both only while it is made.
fn sorted(connection: &Connection, index: &str) -> rusqlite::Result<()> {
    // The whole table is read for each index, which is a fifth cheaper where the file lies in memory anyway. What fills
    // the cache is handed to the thread that helps: one that held all of it would leave that thread nothing to do.
    connection.execute_batch("pragma cache_size = -8192; pragma threads = 2; pragma mmap_size = 2147418112")?;
    let made = connection.execute_batch(index);
    // SQLite's own values.
    connection.execute_batch("pragma cache_size = -2000; pragma threads = 0; pragma mmap_size = 0")?;
    made
}

fn insert(table: &Table) -> String {
    format!("insert {}", into(table))
}

fn into(table: &Table) -> String {
    let columns: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
    let places: Vec<String> = (1..=columns.len()).map(|it| format!("?{it}")).collect();
    format!("into {} ({}) values ({})", table.name, columns.join(", "), places.join(", "))
}

fn upsert(table: &Table) -> String {
    let insert = into(table);
    if table.full_text.is_none() {
        return format!("insert or replace {insert}");
    }
    // A row that is replaced goes without its triggers, and its words would stay.
    let key: Vec<&str> = table.key().iter().map(|it| it.name.as_str()).collect();
    let sets: Vec<String> = table.values().iter().map(|it| format!("{0} = excluded.{0}", it.name)).collect();
    format!("insert {insert} on conflict ({}) do update set {}", key.join(", "), sets.join(", "))
}

fn delete(table: &Table) -> String {
    let key: Vec<String> =
        table.key().iter().enumerate().map(|(n, column)| format!("{} = ?{}", column.name, n + 1)).collect();
    format!("delete from {} where {}", table.name, key.join(" and "))
}

pub(crate) fn select(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(&numbered(&query.sql))?;
    let width = statement.column_count();
    let mut rows = statement.query(params_from_iter(&query.params))?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..width).map(|column| row.get_ref(column).map(own)).collect::<rusqlite::Result<_>>()?;
        answer.push(Row(values));
    }
    Ok(answer)
}

fn execute(connection: &Connection, query: &Query) -> rusqlite::Result<usize> {
    connection.prepare_cached(&numbered(&query.sql))?.execute(params_from_iter(&query.params))
}

/// SQLite takes `$2` for a name and numbers names as they appear; only `?2` is the second parameter.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

pub(crate) fn own(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(it) => Value::Int(it),
        ValueRef::Real(it) => Value::Real(it),
        // Twice as fast as reading it leniently at once, and it nearly always fits.
        ValueRef::Text(it) => Value::Text(match std::str::from_utf8(it) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(it).into_owned(),
        }),
        ValueRef::Blob(it) => Uuid::from_slice(it).map_or_else(|_| Value::Bytes(it.to_vec()), Value::Id),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(it) => ValueRef::Integer(*it),
            Value::Real(it) => ValueRef::Real(*it),
            Value::Text(it) => ValueRef::Text(it.as_bytes()),
            Value::Id(it) => ValueRef::Blob(it.as_bytes()),
            Value::Bytes(it) => ValueRef::Blob(it),
        }))
    }
}

/// Refuses a SQLite that can corrupt a WAL database.
pub(crate) fn check_version(version: &str) -> Result<(), StoreError> {
    const OLDEST: [u32; 3] = [3, 51, 3];
    let numbers: Vec<u32> = version.split('.').map_while(|it| it.parse().ok()).collect();
    if numbers.as_slice() >= OLDEST.as_slice() {
        return Ok(());
    }
    Err(StoreError::Setup(format!("SQLite {version} can corrupt a log in WAL mode; 3.51.3 or newer is needed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_that_can_corrupt_the_log_is_refused() {
        assert!(check_version("3.51.3").is_ok());
        assert!(check_version("3.52.0").is_ok());
        assert!(check_version("4.0").is_ok());
        assert!(check_version("3.51.2").is_err());
        assert!(check_version("3.9.9").is_err());
        assert!(check_version("unknown").is_err());
        assert!(check_version(rusqlite::version()).is_ok());
    }
}
