//! A PostgreSQL pool in a schema that only this run uses.

use std::str::FromStr;

use anyhow::Result;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Executor};

use crate::peer::Connections;

/// Opens a pool on an empty schema. Durability is left to the server, whose defaults are fsync and synchronous commit.
pub(crate) async fn open(at: &str, schema: &str, connections: Connections) -> Result<PgPool> {
    let options = PgConnectOptions::from_str(at)?;
    let mut first = options.connect().await?;
    first.execute(&*format!("drop schema if exists {schema} cascade; create schema {schema}")).await?;
    let pool = pool(options, schema, connections).await?;
    fill(&pool, connections.count).await?;
    Ok(pool)
}

/// A pool whose connections see the one schema.
pub(crate) async fn pool(options: PgConnectOptions, schema: &str, connections: Connections) -> Result<PgPool> {
    let pool = PgPoolOptions::new()
        .max_connections(connections.count)
        .min_connections(connections.count)
        // By default sqlx pings the server each time a connection is taken: a round trip more per statement.
        .test_before_acquire(connections.pinged)
        .connect_with(options.options([("search_path", schema)]))
        .await?;
    Ok(pool)
}

/// Connects them all, so that no round pays for it.
async fn fill(pool: &PgPool, connections: u32) -> Result<()> {
    let mut held = Vec::new();
    for _ in 0..connections {
        held.push(pool.acquire().await?);
    }
    Ok(())
}
