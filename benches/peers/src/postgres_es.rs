//! cqrs-es over postgres-es.

use anyhow::Result;
use postgres_es::{PostgresCqrs, postgres_cqrs};
use sqlx::{Executor, PgPool};
use uuid::Uuid;

use crate::cqrs::{self, Journal};
use crate::entry::Entry;
use crate::peer::{Connections, Outcome, Peer, Pool};
use crate::postgres;

pub(crate) struct PostgresEs {
    framework: PostgresCqrs<Journal>,
    pool: PgPool,
}

impl Peer for PostgresEs {
    const NAME: &'static str = "postgres-es";
    const CRATE: &'static str = "postgres-es";
    // Below 16 new streams suffer; above, more commands in flight on a hot stream only mean more conflicts.
    const POOL: Pool = Pool { new_streams: 32, hot_streams: 16 };

    async fn set_up(at: &str, connections: Connections) -> Result<Self> {
        let pool = postgres::open(at, "peer_postgres_es", connections).await?;
        pool.execute(sqlx::raw_sql(include_str!("../schema/postgres_es.sql"))).await?;
        Ok(Self { framework: postgres_cqrs(pool.clone(), vec![], ()), pool })
    }

    async fn append(&self, stream: Uuid, entries: &[Entry]) -> Result<Outcome> {
        cqrs::execute(&self.framework, stream, entries).await
    }

    async fn analyze(&self) -> Result<()> {
        self.pool.execute("analyze events").await?;
        Ok(())
    }
}
