//! One test for both stores: a [`Bench`] is a fresh log on one of them, and [`both_stores!`] runs a rule on each.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::AssertSqlSafe;
use store::{
    Access, Clock, Commit, CommitError, EventLog, Location, Receipt, Settings, StoreError, StoredEvent, Stores,
    StreamId,
};
use tempfile::TempDir;

use crate::postgres;
use crate::templates::{self, Past};

const MORE_THAN_ANY_TEST_WRITES: usize = 1_000_000;

/// Which of the two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Files in a folder.
    Sqlite,
    /// A schema of a server.
    Postgres,
}

/// Makes a test of each rule on each store. A rule is an `async fn(Bench)`; its name is a sentence.
#[macro_export]
macro_rules! both_stores {
    ($($rule:ident),+ $(,)?) => {
        $crate::both_stores! { @as open: $($rule),+ }
    };
    (@as $how:ident: $($rule:ident),+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule($crate::stores::Bench::$how($crate::stores::Kind::Sqlite).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule($crate::stores::Bench::$how($crate::stores::Kind::Postgres).await).await;
            })+
        }
    };
}

/// The same for rules that need a server: one has been here before, so that theirs need not make the tables.
#[macro_export]
macro_rules! both_served_stores {
    ($($rule:ident),+ $(,)?) => {
        $crate::both_stores! { @as open_after_a_server: $($rule),+ }
    };
}

/// A log of one test's own, with a clock that the test sets.
pub struct Bench {
    /// Which store this is.
    pub kind: Kind,
    /// Stands still unless the test moves it.
    pub clock: Clock,
    location: Location,
    stores: Option<Stores>,
    folder: TempDir,
}

impl Bench {
    /// A fresh log, opened.
    pub async fn open(kind: Kind) -> Self {
        Self::opened(kind, Past::OpenedOnce).await
    }

    /// A fresh log, opened, with the empty tables of every read model, where there is something to gain by it.
    pub async fn open_after_a_server(kind: Kind) -> Self {
        Self::opened(kind, Past::ServedOnce).await
    }

    /// A place for a log that nobody has opened yet.
    pub async fn closed(kind: Kind) -> Self {
        Self::at(kind, None).await
    }

    async fn opened(kind: Kind, past: Past) -> Self {
        let mut bench = Self::at(kind, Some(past)).await;
        bench.reopen().await;
        bench
    }

    async fn at(kind: Kind, past: Option<Past>) -> Self {
        let folder = tempfile::Builder::new().prefix("muster-log-").tempdir().expect("a folder for the test");
        let location = match kind {
            Kind::Sqlite => Location::Sqlite(folder.path().to_path_buf()),
            Kind::Postgres => Location::Postgres(templates::database(past).await.expect("a database")),
        };
        Self { kind, clock: Clock::fixed(noon()), location, stores: None, folder }
    }

    /// The log.
    pub fn log(&self) -> Arc<EventLog> {
        self.stores().log.clone()
    }

    /// Both databases of the open store.
    pub fn stores(&self) -> &Stores {
        self.stores.as_ref().expect("the bench is open")
    }

    /// Where the log is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The folder of the files, on SQLite.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    /// The file of the log, on SQLite.
    pub fn log_file(&self) -> PathBuf {
        self.folder.path().join("log.db")
    }

    /// Opens the same place once more, as another process would.
    pub async fn open_another(&self) -> Result<Stores, StoreError> {
        Stores::open(self.settings()).await
    }

    /// How the bench opens its log: as a server does.
    pub fn settings(&self) -> Settings {
        Settings { location: self.location.clone(), clock: self.clock.clone(), access: Access::Serve }
    }

    /// Closes the log; handles that the test still has keep it open.
    pub fn close(&mut self) {
        self.stores = None;
    }

    /// Closes the log, if it is open, and opens it anew.
    pub async fn reopen(&mut self) {
        self.close();
        self.stores = Some(self.open_another().await.expect("the log opens"));
    }

    /// Commits to the log.
    pub async fn commit(&self, commit: Commit) -> Result<Receipt, CommitError> {
        self.stores().log.commit(commit).await
    }

    /// Every event of one stream.
    pub async fn stream(&self, stream: &StreamId) -> Vec<StoredEvent> {
        self.stores().log.read_stream(stream, 1, None).await.expect("the stream is read")
    }

    /// Every event of the log.
    pub async fn everything(&self) -> Vec<StoredEvent> {
        self.stores().log.read_all(0, MORE_THAN_ANY_TEST_WRITES).await.expect("the log is read")
    }

    /// Runs SQL on the log's database past the store, as an operator with a shell could.
    pub async fn run_raw(&self, sql: &str) -> anyhow::Result<()> {
        match &self.location {
            Location::Sqlite(_) => Ok(self.raw_file()?.execute_batch(sql)?),
            Location::Postgres(url) => run_on_postgres(url, sql).await,
        }
    }

    /// Makes a log's database with SQL alone, where there is none yet.
    pub async fn make_raw(&self, sql: &str) -> anyhow::Result<()> {
        match &self.location {
            Location::Sqlite(_) => Ok(self.raw_file()?.execute_batch(sql)?),
            Location::Postgres(url) => {
                let sql = format!("create schema log; set search_path to log; {sql}");
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut postgres::connect(url).await?).await?;
                Ok(())
            }
        }
    }

    /// Runs SQL on the log's database with its triggers out of the way, as someone who hides a crime would.
    pub async fn tamper(&self, sql: &str) {
        let done = match &self.location {
            Location::Sqlite(_) => self.drop_triggers_and_run(sql),
            Location::Postgres(url) => {
                run_on_postgres(url, &format!("set session_replication_role = replica; {sql}")).await
            }
        };
        done.expect("the log is tampered with");
    }

    fn raw_file(&self) -> anyhow::Result<rusqlite::Connection> {
        Ok(rusqlite::Connection::open(self.log_file())?)
    }

    fn drop_triggers_and_run(&self, sql: &str) -> anyhow::Result<()> {
        let connection = self.raw_file()?;
        let triggers: Vec<String> = connection
            .prepare("select name from sqlite_master where type = 'trigger'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for trigger in triggers {
            connection.execute_batch(&format!("drop trigger {trigger}"))?;
        }
        Ok(connection.execute_batch(sql)?)
    }
}

/// The time at which every bench begins.
pub fn noon() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().expect("a time")
}

async fn run_on_postgres(url: &str, sql: &str) -> anyhow::Result<()> {
    let mut connection = postgres::connect(url).await?;
    let schema: String =
        sqlx::query_scalar("select table_schema::text from information_schema.tables where table_name = 'events'")
            .fetch_one(&mut connection)
            .await?;
    let sql = format!("set search_path to {schema}; {sql}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
    Ok(())
}
