//! Holds up whoever writes to a log, so that what is handed over meanwhile is there at once when it goes on.

use sqlx::PgConnection;
use store::{Location, Stores};

use crate::postgres;
use crate::stores::Bench;

/// A transaction of a stranger that keeps the log from being written; it ends with the gate.
pub enum Gate {
    /// Has the file.
    Sqlite(rusqlite::Connection),
    /// Has the head row.
    Postgres(PgConnection),
}

impl Gate {
    /// Shuts it. Whoever writes waits, and by the contract of a busy file not for longer than ten seconds.
    pub async fn shut(bench: &Bench) -> anyhow::Result<Self> {
        match bench.location() {
            Location::Sqlite(_) => {
                let connection = rusqlite::Connection::open(bench.log_file())?;
                connection.execute_batch("begin immediate")?;
                Ok(Self::Sqlite(connection))
            }
            Location::Postgres(url) => {
                let mut connection = postgres::connect(url).await?;
                sqlx::raw_sql("begin; select 1 from log.head for update").execute(&mut connection).await?;
                Ok(Self::Postgres(connection))
            }
        }
    }

    /// Lets everybody go on.
    pub async fn open(self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch("rollback")?),
            Self::Postgres(mut connection) => {
                sqlx::raw_sql("rollback").execute(&mut connection).await?;
                Ok(())
            }
        }
    }
}

/// How many transactions a log has.
pub async fn batches(stores: &Stores) -> i64 {
    stores.log.stats().await.expect("the log can be counted").batches
}
