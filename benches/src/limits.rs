//! What the machine can do: the same rows written past Muster, in the ways that cost least.

use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use muster_tests::postgres;
use rusqlite::Connection;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::measure::Sample;
use crate::rig::{cluster, folder};

/// The columns and indexes of Muster's events, without what makes them a log.
const POSTGRES_TABLE: &str = "create table rows (
    position bigint generated always as identity primary key, aggregate_type text collate \"C\" not null,
    aggregate_id text collate \"C\" not null, sequence bigint not null, event_type text collate \"C\" not null,
    event_version text not null, payload json not null, metadata json not null, event_id text collate \"C\" not null,
    workspace_id text collate \"C\", recorded_at bigint not null, unique (aggregate_type, aggregate_id, sequence))";
const SQLITE_TABLE: &str = "create table rows (
    position integer primary key, aggregate_type text not null, aggregate_id text not null, sequence integer not null,
    event_type text not null, event_version text not null, payload text not null, metadata text not null,
    event_id text not null, workspace_id text, recorded_at integer not null) strict;
    create unique index one_row_per_sequence on rows (aggregate_type, aggregate_id, sequence)";
const INTO: &str = "insert into rows (aggregate_type, aggregate_id, sequence, event_type, event_version, payload,
    metadata, event_id, workspace_id, recorded_at)";

const UNNEST: &str = "insert into rows (aggregate_type, aggregate_id, sequence, event_type, event_version, payload,
    metadata, event_id, workspace_id, recorded_at)
    select 'task', it.id, 1, 'TaskCreated', '1.0', it.payload::json, it.metadata::json, it.id, null, 0
    from unnest($1::text[], $2::text[], $3::text[]) as it (id, payload, metadata)";

/// Bytes like those of an event of the benchmark: 300 of payload, and metadata as Muster writes it.
fn payload() -> String {
    serde_json::json!({ "TaskCreated": { "text": "x".repeat(276) } }).to_string()
}

fn metadata(id: Uuid) -> String {
    serde_json::json!({"actor_type": "user", "actor_id": id, "command_id": id, "correlation_id": id}).to_string()
}

/// One connection that writes rows as fast as PostgreSQL takes them.
pub(crate) struct PostgresRows {
    connection: PgConnection,
    url: String,
}

impl PostgresRows {
    pub(crate) async fn open() -> Result<Self> {
        let url = cluster().create_database().await?;
        let mut connection = postgres::connect(&url).await?;
        sqlx::query(POSTGRES_TABLE).execute(&mut connection).await?;
        Ok(Self { connection, url })
    }

    /// Rows a second in transactions of so many, each one statement.
    pub(crate) async fn rows_a_second(&mut self, rows: usize, lasts: Duration) -> Result<Sample> {
        let started = Instant::now();
        let mut written = 0;
        while started.elapsed() < lasts {
            self.insert(rows).await?;
            written += rows;
        }
        Ok(Sample::of(written as f64 / started.elapsed().as_secs_f64()))
    }

    /// One transaction of so many rows.
    pub(crate) async fn insert(&mut self, rows: usize) -> Result<()> {
        let ids: Vec<Uuid> = (0..rows).map(|_| Uuid::now_v7()).collect();
        let texts: Vec<String> = ids.iter().map(Uuid::to_string).collect();
        let payloads = vec![payload(); rows];
        let metadata: Vec<String> = ids.iter().map(|id| metadata(*id)).collect();
        sqlx::query(UNNEST).bind(&texts).bind(&payloads).bind(&metadata).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Rows a second by so many clients, one row per transaction, as pgbench counts them.
    pub(crate) fn pgbench(&self, clients: usize, lasts: Duration) -> Result<Sample> {
        let folder = folder()?;
        let script = folder.path().join("insert.sql");
        let insert = format!(
            "{INTO} values ('task', gen_random_uuid()::text, 1, 'TaskCreated', '1.0', '{}', '{}', \
             gen_random_uuid()::text, null, 0);",
            payload(),
            metadata(Uuid::nil()),
        );
        std::fs::write(&script, insert)?;
        let output = Command::new("pgbench")
            .args(["-n", "-M", "prepared", "-j", "2", "-c", &clients.to_string()])
            .args(["-T", &lasts.as_secs().max(1).to_string(), "-f"])
            .arg(&script)
            .arg(&self.url)
            .output()
            .context("pgbench is needed: it comes with PostgreSQL")?;
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.lines().find_map(|it| it.strip_prefix("tps = ")).and_then(|it| it.split(' ').next());
        Ok(Sample::of(rate.context("pgbench gave no rate")?.parse()?))
    }
}

/// One connection that writes rows as fast as SQLite takes them.
pub(crate) struct SqliteRows {
    connection: Connection,
    _folder: tempfile::TempDir,
}

impl SqliteRows {
    pub(crate) fn open() -> Result<Self> {
        let folder = folder()?;
        let connection = Connection::open(folder.path().join("rows.db"))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.execute_batch(SQLITE_TABLE)?;
        Ok(Self { connection, _folder: folder })
    }

    /// Rows a second in transactions of so many.
    pub(crate) fn rows_a_second(&mut self, rows: usize, lasts: Duration) -> Result<Sample> {
        let started = Instant::now();
        let mut written = 0;
        while started.elapsed() < lasts {
            self.insert(rows)?;
            written += rows;
        }
        Ok(Sample::of(written as f64 / started.elapsed().as_secs_f64()))
    }

    /// One transaction of so many rows.
    pub(crate) fn insert(&mut self, rows: usize) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction
                .prepare_cached(&format!("{INTO} values ('task', ?1, 1, 'TaskCreated', '1.0', ?2, ?3, ?1, null, 0)"))?;
            for _ in 0..rows {
                let id = Uuid::now_v7();
                insert.execute((id.to_string(), payload(), metadata(id)))?;
            }
        }
        Ok(transaction.commit()?)
    }
}

/// How often a second this disk confirms 4 kB.
pub(crate) fn syncs_a_second(lasts: Duration) -> Result<Sample> {
    let folder = folder()?;
    let mut file = File::create(folder.path().join("synced"))?;
    let started = Instant::now();
    let mut syncs = 0;
    while started.elapsed() < lasts {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(Sample::of(f64::from(syncs) / started.elapsed().as_secs_f64()))
}
