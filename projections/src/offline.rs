//! Rebuilding and verifying from the command line: the log says again what a read model must be.

mod purge;
mod rebuild;

use std::collections::HashMap;
use std::sync::Arc;

use domain::WorkspaceId;
use store::sql::{Database, Query, Row};
use store::{EventLog, Page, StoreError};

pub use crate::compare::Difference;
use crate::compare::{self, difference};
use crate::fold::{Batch, Decoded, LeftOut, OnPoison};
pub use crate::offline::purge::{PurgeReport, purge};
pub use crate::offline::rebuild::{RebuildReport, Terms, rebuild, rebuild_on, rebuild_together};
use crate::registry::{self, Build};
use crate::schema::{self, Tables};
use crate::{Key, Poison, Projection};

/// Events that are folded at a time.
const BATCH: usize = 5000;
/// Differences that a report names.
const NAMED: usize = 100;
/// Suspicious rows that are looked at in one snapshot.
pub(crate) const SUSPECTS: usize = 256;

/// Hears how many of how many events are folded.
pub type Progress<'a> = &'a mut (dyn FnMut(i64, i64) + Send);

/// How what is served compares with what the log says.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// Which projection.
    pub projection: String,
    /// The version that is served.
    pub version: i64,
    /// Rows were compared as of this position.
    pub position: i64,
    /// How many rows were looked at.
    pub rows_compared: u64,
    /// How many of them differ.
    pub differences_total: u64,
    /// The first of those.
    pub differences: Vec<Difference>,
    /// How many streams are parked; both sides leave their events out.
    pub parked: usize,
}

/// Why a projection could not be rebuilt or verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfflineError {
    /// Nothing is served yet.
    #[error("{0} is not served yet: start the server, or rebuild it")]
    NotServed(String),
    /// What is served was made by another version of the code.
    #[error("{name} is served in version {served}, and this muster knows version {known}: rebuild it first")]
    OtherVersion {
        /// Which projection.
        name: String,
        /// The version that is served.
        served: i64,
        /// The version of this code.
        known: i64,
    },
    /// What is served was made from another life of the log.
    #[error("{0} was built from another life of the log: start the server, or rebuild it")]
    OtherLife(String),
    /// A server is building this version already.
    #[error("a server is building {0} already, and it will take over by itself")]
    InProgress(String),
    /// A server folds it, and nobody asked to build beside that.
    #[error("{0} is kept up to date by a running server (one that was killed counts for a few seconds more)")]
    Live(String),
    /// What is served was replaced meanwhile, or somebody else builds it too.
    #[error("{0} was replaced by another build, or is being rebuilt by somebody else; try again")]
    Replaced(String),
    /// Servers were always quicker.
    #[error("{0} moves too fast to be replaced; what was built is kept, so try again")]
    Busy(String),
    /// An event cannot be applied, and a rebuild does not go past it.
    #[error("cannot be applied: {0}")]
    Poison(#[from] Poison),
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Folds the log up to what is served into scratch space, and compares row by row. Changes nothing.
///
/// Works beside engines: a row that differs is looked at once more together with the checkpoint of that moment.
pub async fn verify(
    log: &EventLog,
    views: &Database,
    projection: &Arc<dyn Projection>,
    progress: Progress<'_>,
) -> Result<VerifyReport, OfflineError> {
    let projection = &**projection;
    let build = serving(log, views, projection).await?;
    let left_out = registry::left_out(views, &build).await?;
    let parked = left_out.parked.len();
    let mut scratch = Scratch::new(projection, left_out).await?;
    scratch.advance(log, build.checkpoint, progress).await?;
    let served = build.tables(projection, views);
    let (rows_compared, suspects) = compare::suspects(&served, &scratch.tables).await?;
    let mut report = VerifyReport {
        projection: build.name.clone(),
        version: build.version,
        position: build.checkpoint,
        rows_compared,
        differences_total: 0,
        differences: Vec::new(),
        parked,
    };
    for (name, keys) in suspects {
        for keys in keys.chunks(SUSPECTS) {
            let (checkpoint, rows) = look(views, &build, served.table(&name)?, keys).await?;
            scratch.advance(log, checkpoint, &mut |_, _| {}).await?;
            let table = scratch.tables.table(&name)?;
            let rebuilt = by_key(&scratch.tables.database, table, keys).await?;
            report.position = checkpoint;
            report.add(&name, table, keys, &rows, &rebuilt);
        }
    }
    Ok(report)
}

impl VerifyReport {
    /// Whether what is served is what the log says.
    pub fn is_clean(&self) -> bool {
        self.differences_total == 0
    }

    fn add(&mut self, name: &str, table: &store::sql::Table, keys: &[Key], served: &ByKey, rebuilt: &ByKey) {
        for key in keys {
            let Some(found) = difference(name, table, key, served.get(key), rebuilt.get(key)) else { continue };
            self.differences_total += 1;
            if self.differences.len() < NAMED {
                self.differences.push(found);
            }
        }
    }
}

pub(crate) type ByKey = HashMap<Key, Row>;

/// Read models in memory, built up to any position.
pub(crate) struct Scratch<'a> {
    projection: &'a dyn Projection,
    pub(crate) tables: Tables,
    checkpoint: i64,
    left_out: LeftOut,
    /// Whose events are folded; everybody's without one.
    workspace: Option<WorkspaceId>,
}

impl<'a> Scratch<'a> {
    async fn new(projection: &'a dyn Projection, left_out: LeftOut) -> Result<Self, StoreError> {
        let tables = Tables::of(projection, Database::in_memory()?, str::to_owned);
        tables.database.transact(tables.create().chain(tables.create_keys()).collect()).await?;
        Ok(Self { projection, tables, checkpoint: 0, left_out, workspace: None })
    }

    /// What one workspace did, and nothing else.
    pub(crate) async fn of_workspace(
        projection: &'a dyn Projection,
        left_out: LeftOut,
        workspace: WorkspaceId,
    ) -> Result<Self, StoreError> {
        Ok(Self { workspace: Some(workspace), ..Self::new(projection, left_out).await? })
    }

    /// Reads the log up to a position and folds it.
    pub(crate) async fn advance(
        &mut self,
        log: &EventLog,
        to: i64,
        progress: Progress<'_>,
    ) -> Result<(), OfflineError> {
        while self.checkpoint < to {
            let limit = usize::try_from(to - self.checkpoint).unwrap_or(BATCH).min(BATCH);
            let mut events = log.read_all(self.checkpoint, limit).await?;
            let last = events.last().map(|event| event.position);
            let reads = self.projection.reads();
            events.retain(|event| {
                reads.includes(&event.stream.aggregate_type)
                    && self.workspace.is_none_or(|it| event.workspace_id == Some(it.0))
            });
            let Some(decoded) = Decoded::of(Page { events, last }) else { break };
            self.take(Arc::new(decoded)).await?;
            progress(self.checkpoint, to);
        }
        Ok(())
    }

    /// Folds a page.
    pub(crate) async fn take(&mut self, page: Arc<Decoded>) -> Result<(), OfflineError> {
        let batch = Batch::of(self.projection, page, &self.left_out);
        let rows = self.tables.load(batch.touches(self.projection)).await?;
        let folded =
            batch.fold(self.projection, rows, OnPoison::Stop).map_err(|e| StoreError::Failed(e.to_string()))?;
        if let Some(poison) = folded.poison.into_iter().next() {
            return Err(poison.into());
        }
        self.tables.database.transact(self.tables.write(folded.changes)?).await?;
        self.checkpoint = folded.upto;
        Ok(())
    }

    /// Nothing up to here is still to come.
    pub(crate) fn skip_to(&mut self, position: i64) {
        self.checkpoint = self.checkpoint.max(position);
    }
}

pub(crate) async fn serving(
    log: &EventLog,
    views: &Database,
    projection: &dyn Projection,
) -> Result<Build, OfflineError> {
    let name = projection.name().to_owned();
    let builds = registry::builds(views, &name).await?;
    let build = builds.into_iter().find(|it| it.serving).ok_or(OfflineError::NotServed(name.clone()))?;
    let head = log.head().await?;
    if build.version != projection.version() {
        return Err(OfflineError::OtherVersion { name, served: build.version, known: projection.version() });
    }
    if build.epoch != head.epoch || build.checkpoint > head.position {
        return Err(OfflineError::OtherLife(name));
    }
    Ok(build)
}

/// Rows that are served, and the checkpoint of that very moment.
pub(crate) async fn look(
    views: &Database,
    build: &Build,
    table: &store::sql::Table,
    keys: &[Key],
) -> Result<(i64, ByKey), OfflineError> {
    let checkpoint = Query::new("select checkpoint from projections where name = $1 and build = $2 and serving = 1")
        .bind(&build.name)
        .bind(build.build);
    let mut queries = vec![checkpoint];
    queries.extend(schema::by_key(table, keys.to_vec()));
    let mut answers = views.snapshot(queries).await?.into_iter();
    let checkpoint = answers.next().unwrap_or_default();
    let checkpoint = checkpoint.first().ok_or_else(|| OfflineError::Replaced(build.name.clone()))?.int(0)?;
    Ok((checkpoint, keyed(table, answers.flatten())?))
}

pub(crate) async fn by_key(database: &Database, table: &store::sql::Table, keys: &[Key]) -> Result<ByKey, StoreError> {
    let answers = database.snapshot(schema::by_key(table, keys.to_vec())).await?;
    keyed(table, answers.into_iter().flatten())
}

fn keyed(table: &store::sql::Table, rows: impl Iterator<Item = Row>) -> Result<ByKey, StoreError> {
    rows.map(|row| Ok((schema::key_of(table, &row)?, row))).collect()
}
