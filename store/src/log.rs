//! The event log: one door in, two doors out.

use std::fs::File;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::batch::{Pending, Prepared};
use crate::postgres::PostgresAppender;
use crate::sql::{Database, Query};
use crate::sqlite::SqliteAppender;
use crate::writer::{self, Appender, Heads};
use crate::{Accounts, Clock, CommandKey, Commit, CommitError, Receipt, Remembered, StoreError};

/// Commands that may wait for the writer before a sender has to wait too.
const QUEUE: usize = 8192;

/// The log. Appending goes through one writer task, so that commands share fsyncs; reading goes to the database.
#[derive(Debug)]
pub struct EventLog {
    pub(crate) database: Database,
    commits: mpsc::Sender<Pending>,
    head: watch::Sender<i64>,
    clock: Clock,
    tasks: Vec<JoinHandle<()>>,
    /// A data folder stays taken as long as something can be written to it.
    _folder: Option<File>,
}

impl EventLog {
    /// Starts the writer over a database whose schema is up to date.
    pub(crate) async fn start(database: Database, clock: Clock, folder: Option<File>) -> Result<Self, StoreError> {
        let position = crate::read::head(&database).await?.position;
        let (head, _) = watch::channel(position);
        // Other nodes are told of what this node wrote, not of what it heard from them.
        let (written, _) = watch::channel(position);
        let (commits, waiting) = mpsc::channel(QUEUE);
        let mut tasks = Vec::new();
        let appender = match &database {
            Database::Sqlite(it) => Appender::Sqlite(SqliteAppender::new(it.clone(), clock.clone())),
            Database::Postgres(it) => {
                tasks.push(tokio::spawn(crate::postgres::listen(it.clone(), head.clone())));
                tasks.push(tokio::spawn(crate::postgres::notify(it.clone(), written.subscribe())));
                Appender::Postgres(PostgresAppender::new(it.clone(), clock.clone()))
            }
        };
        // Not among `tasks`: it ends by itself once it has answered everyone.
        tokio::spawn(writer::write(appender, waiting, Heads { known: head.clone(), written }));
        Ok(Self { database, commits, head, clock, tasks, _folder: folder })
    }

    /// Appends all of a commit or nothing, durably.
    pub async fn commit(&self, commit: Commit) -> Result<Receipt, CommitError> {
        let prepared = Prepared::new(commit)?;
        let (answer, answered) = oneshot::channel();
        let gone = || CommitError::Unavailable("the writer has stopped".into());
        self.commits.send(Pending { prepared, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// Shows the newest position known here, and wakes on every commit: at once on this node, soon on others.
    pub fn subscribe(&self) -> watch::Receiver<i64> {
        self.head.subscribe()
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

impl Drop for EventLog {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
