//! What an operator does about a parked stream: apply it again, or give up what cannot be applied. Both on record.
//!
//! A stream that is applied late sees the rows of other streams as they are now. A fold that reads only rows of its
//! own stream comes out as if nothing had happened; for any other, `projections verify` tells.

use std::sync::Arc;

use store::sql::{Database, Outcome, Query, Statement};
use store::{EventLog, StoreError, StreamId};

use crate::fold::{Batch, LeftOut, OnPoison};
use crate::registry::{self, Build, BuildState};
use crate::{Poison, Projection};

/// How often a decision is tried against an engine that is busy with the same projection.
const ATTEMPTS: usize = 50;

/// What became of a parked stream.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Applied {
    /// How many of its events were applied.
    pub applied: usize,
    /// The positions of those that were given up.
    pub skipped: Vec<i64>,
}

/// Why a parked stream stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParkingError {
    /// No projection has this name.
    #[error("there is no projection {0}")]
    UnknownProjection(String),
    /// The stream is not parked in this projection.
    #[error("{1} is not parked in {0}")]
    NotParked(String, StreamId),
    /// It still cannot be applied.
    #[error("still cannot be applied: {0}")]
    StillPoison(Poison),
    /// Engines were always quicker.
    #[error("{0} moves too fast to change what is parked; try again")]
    Busy(String),
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Applies a parked stream from its first parked event on, with the code of today: all of it, or nothing.
pub async fn retry(
    log: &EventLog,
    views: &Database,
    projection: &Arc<dyn Projection>,
    stream: &StreamId,
) -> Result<Applied, ParkingError> {
    decide(log, views, &**projection, stream, OnPoison::Stop).await
}

/// Gives up every event of a parked stream that cannot be applied, and applies the rest.
pub async fn skip(
    log: &EventLog,
    views: &Database,
    projection: &Arc<dyn Projection>,
    stream: &StreamId,
) -> Result<Applied, ParkingError> {
    decide(log, views, &**projection, stream, OnPoison::Skip).await
}

async fn decide(
    log: &EventLog,
    views: &Database,
    projection: &dyn Projection,
    stream: &StreamId,
    on_poison: OnPoison,
) -> Result<Applied, ParkingError> {
    for _ in 0..ATTEMPTS {
        let (mut build, parked) = find(views, projection, stream).await?;
        let (applied, statements) = if build.state == BuildState::Halted {
            // A rebuild stands before the event and goes on from there by itself.
            let skipped = if on_poison == OnPoison::Skip { vec![parked.position] } else { vec![] };
            (Applied { applied: 0, skipped }, vec![])
        } else {
            apply(log, views, projection, &build, stream, parked.sequence, on_poison).await?
        };
        let now = views.now_micros().await?;
        let mut all = statements;
        all.extend(on_record(&build, stream, &parked, &applied, now));
        all.push(unpark(&build, stream));
        let mut next = Build { last_error: parked.other_error, ..build.clone() };
        if next.state == BuildState::Halted {
            next.state = BuildState::Rebuilding;
        }
        if build.replace(next, all, views).await? == Outcome::Done {
            return Ok(applied);
        }
    }
    Err(ParkingError::Busy(projection.name().to_owned()))
}

struct Parked {
    position: i64,
    sequence: i64,
    error: String,
    /// What is wrong with another parked stream, if there is one.
    other_error: Option<String>,
}

/// The build of this code's version that has the stream parked.
async fn find(
    views: &Database,
    projection: &dyn Projection,
    stream: &StreamId,
) -> Result<(Build, Parked), ParkingError> {
    let builds = registry::builds(views, projection.name()).await?;
    for build in builds.into_iter().filter(|it| it.version == projection.version()) {
        let query = Query::new(
            "select aggregate_type, aggregate_id, position, sequence, error
             from parked_streams
             where name = $1 and build = $2
             order by position",
        )
        .bind(&build.name)
        .bind(build.build);
        let rows = views.query(query).await?;
        let is_it = |row: &&store::sql::Row| {
            row.text(0) == Ok(stream.aggregate_type.as_str()) && row.text(1) == Ok(stream.aggregate_id.as_str())
        };
        let Some(row) = rows.iter().find(is_it) else { continue };
        let other = rows.iter().rfind(|row| !is_it(row));
        let other_error = other.map(|row| row.text(4).map(str::to_owned)).transpose()?;
        let (position, sequence, error) = (row.int(2)?, row.int(3)?, row.text(4)?.to_owned());
        return Ok((build, Parked { position, sequence, error, other_error }));
    }
    Err(ParkingError::NotParked(projection.name().to_owned(), stream.clone()))
}

/// What applying the waiting events of one stream writes.
async fn apply(
    log: &EventLog,
    views: &Database,
    projection: &dyn Projection,
    build: &Build,
    stream: &StreamId,
    sequence: i64,
    on_poison: OnPoison,
) -> Result<(Applied, Vec<Statement>), ParkingError> {
    let mut events = log.read_stream(stream, sequence, None).await?;
    // What comes after the checkpoint is for the engine.
    events.retain(|event| event.position <= build.checkpoint);
    let left_out = LeftOut { skipped: registry::left_out(views, build).await?.skipped, ..LeftOut::default() };
    let Some(batch) = Batch::read(projection, events, &left_out) else {
        return Ok((Applied { applied: 0, skipped: vec![] }, vec![]));
    };
    let tables = build.tables(projection, views);
    let rows = tables.load(batch.touches(projection)).await?;
    let folded = batch.fold(projection, rows, on_poison).map_err(|e| StoreError::Failed(e.to_string()))?;
    if on_poison == OnPoison::Stop
        && let Some(poison) = folded.poison.first()
    {
        return Err(ParkingError::StillPoison(poison.clone()));
    }
    let skipped = folded.poison.iter().map(|it| it.position).collect();
    Ok((Applied { applied: folded.applied, skipped }, tables.write(folded.changes)?))
}

fn on_record(build: &Build, stream: &StreamId, parked: &Parked, applied: &Applied, now: i64) -> Vec<Statement> {
    let record = |position: i64, decision: &str| {
        let query = Query::new(
            "insert into parking_decisions
                (name, version, position, decision, aggregate_type, aggregate_id, error, decided_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (name, version, position, decision) do update
             set error = excluded.error, decided_at = excluded.decided_at",
        );
        let query = query.bind(&build.name).bind(build.version).bind(position).bind(decision);
        let query = query.bind(&stream.aggregate_type).bind(&stream.aggregate_id).bind(&parked.error).bind(now);
        Statement::Run(query)
    };
    match applied.skipped.as_slice() {
        [] => vec![record(parked.position, "retried")],
        skipped => skipped.iter().map(|position| record(*position, "skipped")).collect(),
    }
}

fn unpark(build: &Build, stream: &StreamId) -> Statement {
    let query = Query::new(
        "delete from parked_streams
         where name = $1 and build = $2 and aggregate_type = $3 and aggregate_id = $4",
    )
    .bind(&build.name)
    .bind(build.build)
    .bind(&stream.aggregate_type)
    .bind(&stream.aggregate_id);
    Statement::Expect { query, rows: 1 }
}
