//! The limit of everything that goes through the whole log: its rows read past Muster, in order, by one connection.

use std::time::Instant;

use anyhow::{Result, anyhow};
use futures_util::TryStreamExt;
use muster_tests::postgres;
use projections::Fact;
use sqlx::Row as _;
use store::{Location, StoredEvent, StreamId};
use uuid::Uuid;

use crate::measure::Sample;
use crate::rig::Rig;

const EVENTS: &str = "select position, aggregate_type, aggregate_id, sequence, event_type, event_version,
    cast(payload as text), cast(metadata as text), event_id, workspace_id, recorded_at from events order by position";

/// What is done with a row once it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing.
    Drop,
    /// Its JSON is parsed into the event that it is.
    Parse,
}

/// Events a second, over the whole log.
pub(super) async fn read(rig: &Rig, then: Then) -> Result<Sample> {
    let started = Instant::now();
    let events = match &rig.location {
        Location::Sqlite(folder) => {
            let file = folder.join("log.db");
            tokio::task::spawn_blocking(move || read_file(&file, then)).await??
        }
        Location::Postgres(url) => read_server(url, then).await?,
    };
    Ok(Sample::of(events as f64 / started.elapsed().as_secs_f64()))
}

fn read_file(file: &std::path::Path, then: Then) -> Result<usize> {
    let connection = rusqlite::Connection::open(file)?;
    let mut statement = connection.prepare(EVENTS)?;
    let mut rows = statement.query([])?;
    let mut events = 0;
    while let Some(row) = rows.next()? {
        let text = |at| row.get::<_, String>(at);
        let workspace_id: Option<String> = row.get(9)?;
        let event = StoredEvent {
            position: row.get(0)?,
            stream: StreamId { aggregate_type: text(1)?, aggregate_id: text(2)? },
            sequence: row.get(3)?,
            event_type: text(4)?,
            event_version: text(5)?,
            payload: text(6)?,
            metadata: text(7)?,
            event_id: Uuid::try_parse(&text(8)?)?,
            workspace_id: workspace_id.map(|it| Uuid::try_parse(&it)).transpose()?,
            recorded_at: row.get(10)?,
        };
        finish(event, then)?;
        events += 1;
    }
    Ok(events)
}

async fn read_server(url: &str, then: Then) -> Result<usize> {
    let mut connection = postgres::connect(url).await?;
    sqlx::query("set search_path to log").execute(&mut connection).await?;
    let mut rows = sqlx::query(EVENTS).fetch(&mut connection);
    let mut events = 0;
    while let Some(row) = rows.try_next().await? {
        let text = |at| row.try_get::<String, usize>(at);
        let workspace_id: Option<&str> = row.try_get(9)?;
        let event = StoredEvent {
            position: row.try_get(0)?,
            stream: StreamId { aggregate_type: text(1)?, aggregate_id: text(2)? },
            sequence: row.try_get(3)?,
            event_type: text(4)?,
            event_version: text(5)?,
            payload: text(6)?,
            metadata: text(7)?,
            event_id: Uuid::try_parse(row.try_get(8)?)?,
            workspace_id: workspace_id.map(Uuid::try_parse).transpose()?,
            recorded_at: row.try_get(10)?,
        };
        finish(event, then)?;
        events += 1;
    }
    Ok(events)
}

fn finish(event: StoredEvent, then: Then) -> Result<()> {
    match then {
        Then::Drop => drop(std::hint::black_box(event)),
        Then::Parse => drop(std::hint::black_box(Fact::read(event).map_err(|e| anyhow!(e))?)),
    }
    Ok(())
}
