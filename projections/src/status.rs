//! Status: how far each projection is, in which state, and what it could not apply.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use store::sql::{Database, Query, Row};
use store::{EventLog, StoreError, StreamId};

use crate::Projection;
use crate::registry::{self, Build, BuildState};

/// How far one projection is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectionStatus {
    /// Which projection.
    pub name: String,
    /// The version that this Muster knows.
    pub version: i64,
    /// The version that queries read; none before the first start.
    pub serving_version: Option<i64>,
    /// Queries see everything up to here.
    pub checkpoint: i64,
    /// The newest position of the log.
    pub head: i64,
    /// How many events queries do not see yet.
    pub lag_events: i64,
    /// How old the oldest of those is.
    pub lag_seconds: f64,
    /// What is done with it.
    pub state: State,
    /// The version that is built beside the one that is served, if any.
    pub building: Option<Building>,
    /// What went wrong last, until it is put right.
    pub last_error: Option<String>,
    /// Streams that could not be applied.
    pub parked: Vec<ParkedStream>,
    /// The node that folds it now.
    pub owner: Option<String>,
}

/// What is done with a projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It follows the log.
    Running,
    /// A new version is built beside the one that is served.
    Rebuilding,
    /// It needs somebody to look; what is served stays as it is.
    Halted,
}

/// A version on its way to take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Building {
    /// The version.
    pub version: i64,
    /// How far it is.
    pub checkpoint: i64,
}

/// A stream that a projection could not apply, with everything of it that came later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedStream {
    /// Which stream.
    pub stream: StreamId,
    /// The version of the projection that could not apply it.
    pub version: i64,
    /// The event that could not be applied, by its place in the log.
    pub position: i64,
    /// The same, by its place in the stream.
    pub sequence: i64,
    /// How many events of the stream wait, that one included.
    pub held: i64,
    /// What is wrong with it.
    pub error: String,
    /// Since when it is parked.
    pub parked_at: DateTime<Utc>,
}

/// How far each projection is. Needs no engine: everything is read from the registry and the log.
pub async fn status(
    log: &EventLog,
    views: &Database,
    projections: &[Arc<dyn Projection>],
) -> Result<Vec<ProjectionStatus>, StoreError> {
    let parked = "select name, build, aggregate_type, aggregate_id, position, sequence, held, error, parked_at
                  from parked_streams
                  order by position";
    let owners =
        Query::new("select name, version, owner from leases where expires_at >= $1").bind(views.now_micros().await?);
    let answers = views.snapshot(vec![registry::all_builds(), Query::new(parked), owners]).await?;
    let [builds, parked, owners] = answers.as_slice() else {
        return Err(StoreError::Damaged("the registry of projections does not answer".into()));
    };
    let registry = Registry {
        builds: builds.iter().map(registry::read).collect::<Result<_, _>>()?,
        parked,
        owners: owners.iter().map(owner).collect::<Result<_, _>>()?,
    };
    // After the registry, so that no checkpoint is ahead of it.
    let head = log.head().await?;
    let mut all = Vec::with_capacity(projections.len());
    for projection in projections {
        let mut status = registry.status(&**projection)?;
        status.head = head.position;
        status.lag_events = (head.position - status.checkpoint).max(0);
        if let Some(oldest) = log.read_at(status.checkpoint + 1).await? {
            status.lag_seconds = (log.clock().now_micros() - oldest.recorded_at).max(0) as f64 / 1e6;
        }
        all.push(status);
    }
    Ok(all)
}

struct Registry<'a> {
    builds: Vec<Build>,
    parked: &'a [Row],
    owners: HashMap<(String, i64), String>,
}

impl Registry<'_> {
    fn status(&self, projection: &dyn Projection) -> Result<ProjectionStatus, StoreError> {
        let (name, version) = (projection.name(), projection.version());
        let mine: Vec<&Build> = self.builds.iter().filter(|it| it.name == name).collect();
        let serving = mine.iter().find(|it| it.serving);
        let building = mine.iter().find(|it| !it.serving && it.version == version && it.state != BuildState::Retired);
        let state = match building.map(|it| it.state) {
            Some(BuildState::Halted) => State::Halted,
            Some(BuildState::Rebuilding) => State::Rebuilding,
            Some(BuildState::Running | BuildState::Retired) | None => State::Running,
        };
        let mut parked = Vec::new();
        for row in self.parked.iter().filter(|row| row.text(0) == Ok(name)) {
            let build = row.int(1)?;
            let Some(build) = mine.iter().find(|it| it.build == build) else { continue };
            parked.push(read_parked(row, build.version)?);
        }
        let owner = |version: i64| self.owners.get(&(name.to_owned(), version)).cloned();
        Ok(ProjectionStatus {
            name: name.to_owned(),
            version,
            serving_version: serving.map(|it| it.version),
            checkpoint: serving.map_or(0, |it| it.checkpoint),
            head: 0,
            lag_events: 0,
            lag_seconds: 0.0,
            state,
            building: building.map(|it| Building { version: it.version, checkpoint: it.checkpoint }),
            last_error: building.or(serving).and_then(|it| it.last_error.clone()),
            parked,
            owner: owner(version).or_else(|| serving.and_then(|it| owner(it.version))),
        })
    }
}

fn owner(row: &Row) -> Result<((String, i64), String), StoreError> {
    Ok(((row.text(0)?.to_owned(), row.int(1)?), row.text(2)?.to_owned()))
}

fn read_parked(row: &Row, version: i64) -> Result<ParkedStream, StoreError> {
    Ok(ParkedStream {
        stream: StreamId::new(row.text(2)?, row.text(3)?),
        version,
        position: row.int(4)?,
        sequence: row.int(5)?,
        held: row.int(6)?,
        error: row.text(7)?.to_owned(),
        parked_at: store::from_micros(row.int(8)?),
    })
}
