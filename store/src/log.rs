//! The event log: one door in, two doors out.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit, oneshot, watch};
use tokio::task::JoinHandle;

use crate::batch::{Pending, Prepared};
use crate::fate::{Answer, Fate};
use crate::postgres::{PostgresAppender, PostgresWriter};
use crate::seal::KeyRing;
use crate::sql::{Database, Query};
use crate::sqlite::SqliteWriter;
use crate::writer::Heads;
use crate::{Accounts, Clock, CommandKey, Commit, CommitError, Receipt, Remembered, StoreError};

/// Commands that may wait for the writer before others have to wait for room.
const QUEUE: usize = 8192;

/// The log. Appending goes through one writer, so that commands share fsyncs; reading goes to the database.
pub struct EventLog {
    pub(crate) database: Database,
    writer: Writer,
    room: Semaphore,
    head: watch::Sender<i64>,
    row_changes: AtomicU64,
    pub(crate) keys: KeyRing,
    clock: Clock,
    tasks: Vec<JoinHandle<()>>,
    /// A data folder stays taken as long as something can be written to it.
    _folder: Option<File>,
}

/// What takes commits in.
enum Writer {
    Sqlite(Arc<SqliteWriter>),
    Postgres(PostgresWriter),
}

impl EventLog {
    /// Starts the writer over a database whose schema is up to date.
    pub(crate) async fn start(database: Database, clock: Clock, folder: Option<File>) -> Result<Self, StoreError> {
        let position = crate::read::head(&database).await?.position;
        let (head, _) = watch::channel(position);
        // Other nodes are told of what this node wrote, not of what it heard from them.
        let (written, _) = watch::channel(position);
        let mut tasks = Vec::new();
        let writer = match &database {
            Database::Sqlite(it) => {
                Writer::Sqlite(SqliteWriter::new(it.clone(), clock.clone(), Heads { known: head.clone(), written }))
            }
            Database::Postgres(it) => {
                tasks.push(tokio::spawn(crate::postgres::listen(it.clone(), head.clone())));
                tasks.push(tokio::spawn(crate::postgres::notify(it.clone(), written.subscribe())));
                let appender = PostgresAppender::new(it.clone(), clock.clone());
                Writer::Postgres(PostgresWriter::start(appender, Heads { known: head.clone(), written })?)
            }
        };
        let (room, row_changes) = (Semaphore::new(QUEUE), AtomicU64::new(0));
        let keys = KeyRing::read(&database).await?;
        Ok(Self { database, writer, room, head, row_changes, keys, clock, tasks, _folder: folder })
    }

    /// Appends all of a commit or nothing, durably.
    pub async fn commit(&self, commit: Commit) -> Result<Receipt, CommitError> {
        self.submit(commit).await?.ended().await
    }

    /// Hands a commit over. What is handed over later is decided later, so it may follow this one.
    pub async fn submit(&self, commit: Commit) -> Result<Underway<'_>, CommitError> {
        let raised = (!commit.rows.is_empty()).then(|| RaisedAtTheEnd(&self.row_changes));
        let prepared = Prepared::new(commit)?;
        let (answer, answered) = oneshot::channel();
        let answer = Answer::new(answer);
        let fate = answer.fate().clone();
        // Held until the answer: what waits for the writer is bounded.
        let room = self.room.acquire().await.map_err(|_| gone())?;
        let pending = Pending { prepared, answer, followers: Vec::new() };
        match &self.writer {
            Writer::Sqlite(it) => it.submit(pending).map_err(|_| gone())?,
            Writer::Postgres(it) => it.submit(pending).map_err(|_| gone())?,
        }
        Ok(Underway { fate, answered, _room: room, _raised: raised })
    }

    /// How many commits were handed over and have no answer yet.
    pub fn waiting(&self) -> usize {
        QUEUE - self.room.available_permits()
    }

    /// Shows the newest position known here, and wakes on every commit: at once on this node, soon on others.
    pub fn subscribe(&self) -> watch::Receiver<i64> {
        self.head.subscribe()
    }

    /// The newest position known here.
    pub fn known_head(&self) -> i64 {
        *self.head.borrow()
    }

    /// How often rows beside the log may have changed through this handle: raised before such a commit is acknowledged.
    /// So whoever finds it as it was knows that no change that somebody here was told of has come since.
    pub fn row_changes(&self) -> u64 {
        self.row_changes.load(Ordering::SeqCst)
    }

    /// What is remembered of a command, if it has landed and is not forgotten.
    pub async fn remembered(&self, key: &CommandKey) -> Result<Option<Remembered>, StoreError> {
        let query = Query::new(
            "select fingerprint, outcome, position
             from remembered_commands
             where principal = $1 and route = $2 and key = $3
               and (expires_at is null or expires_at > $4)",
        )
        .bind(&key.principal)
        .bind(&key.route)
        .bind(&key.key)
        .bind(self.clock.now_micros());
        let Some(mut row) = self.database.first(query).await? else { return Ok(None) };
        let outcome = row.take_text(1)?;
        Ok(Some(Remembered { fingerprint: row.bytes(0)?.to_vec(), outcome, position: row.int(2)? }))
    }

    /// Drops what may be forgotten: expired command keys and signed-in sessions.
    pub async fn forget_expired(&self) -> Result<(), StoreError> {
        let now = self.clock.now_micros();
        let keys = Query::new("delete from remembered_commands where expires_at <= $1").bind(now);
        let sessions = Query::new("delete from sign_in_sessions where expires_at <= $1").bind(now);
        self.database.transact(vec![keys.into(), sessions.into()]).await.map(drop)
    }

    /// Accounts and secrets, which are rows beside the log.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts(&self.database)
    }

    /// The clock that stamps batches.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The database beside the log, for what must survive with it but is no event.
    pub fn database(&self) -> &Database {
        &self.database
    }
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLog")
            .field("database", &self.database)
            .field("head", &*self.head.borrow())
            .finish_non_exhaustive()
    }
}

/// A commit that the writer has.
pub struct Underway<'a> {
    /// What becomes of it, for others to follow.
    pub fate: Fate,
    answered: oneshot::Receiver<Result<Receipt, CommitError>>,
    _room: SemaphorePermit<'a>,
    _raised: Option<RaisedAtTheEnd<'a>>,
}

impl Underway<'_> {
    /// Waits until it is durable or refused.
    pub async fn ended(self) -> Result<Receipt, CommitError> {
        self.answered.await.map_err(|_| gone())?
    }
}

fn gone() -> CommitError {
    CommitError::Unavailable("the writer has stopped".into())
}

/// Counts a change of rows when its commit has ended, however it has.
struct RaisedAtTheEnd<'a>(&'a AtomicU64);

impl Drop for RaisedAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
