//! cqrs-es over sqlite-es.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use sqlite_es::{SqliteCqrs, sqlite_cqrs};
use sqlx::Executor;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use uuid::Uuid;

use crate::cqrs::{self, Journal};
use crate::entry::Entry;
use crate::peer::{Connections, Outcome, Peer, Pool};

pub(crate) struct SqliteEs {
    framework: SqliteCqrs<Journal>,
}

impl Peer for SqliteEs {
    const NAME: &'static str = "sqlite-es";
    const CRATE: &'static str = "sqlite-es";
    // One writes while the others load; any more only sleep in the busy handler.
    const POOL: Pool = Pool { new_streams: 4, hot_streams: 4 };

    async fn set_up(at: &str, connections: Connections) -> Result<Self> {
        ensure!(!Path::new(at).exists(), "{at}: is there already; name a new file");
        // The library's own default pool, but for what a commit promises: there it may be lost with the power.
        let options = SqliteConnectOptions::new()
            .filename(at)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            // Writers queue in SQLite's busy handler; with the default of 5 s some of 64 would give up.
            .busy_timeout(Duration::from_secs(60));
        let pool = SqlitePoolOptions::new()
            .max_connections(connections.count)
            .min_connections(connections.count)
            .test_before_acquire(connections.pinged)
            .connect_with(options)
            .await?;
        pool.execute(sqlx::raw_sql(include_str!("../schema/sqlite_es.sql"))).await?;
        Ok(Self { framework: sqlite_cqrs(pool, vec![], ()) })
    }

    async fn append(&self, stream: Uuid, entries: &[Entry]) -> Result<Outcome> {
        cqrs::execute(&self.framework, stream, entries).await
    }
}
