//! Rebuilding and verifying from the command line: the log says again what a read model must be.

use std::collections::HashMap;
use std::sync::Arc;

use store::sql::{Database, Outcome, Query, Row};
use store::{EventLog, StoreError};

use crate::bulk::{self, Loading};
pub use crate::compare::Difference;
use crate::compare::{self, Suspects, difference};
use crate::fold::{Batch, LeftOut, OnPoison};
use crate::lease;
use crate::registry::{self, Build, BuildState};
use crate::rows::Key;
use crate::schema::{self, Tables};
use crate::{Poison, Projection};

/// Events that are folded at a time.
const BATCH: usize = 5000;
/// Differences that a report names.
const NAMED: usize = 100;
/// Suspicious rows that are looked at in one snapshot.
const SUSPECTS: usize = 256;

/// Hears how many of how many events are folded.
pub type Progress<'a> = &'a mut (dyn FnMut(i64, i64) + Send);

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RebuildReport {
    /// Which projection.
    pub projection: String,
    /// The version that is served now.
    pub version: i64,
    /// Everything up to here is in it.
    pub position: i64,
    /// How the new rows compare with those served before; none where that would mean nothing, because those were of
    /// another version or another position.
    pub compared: Option<VerifyReport>,
}

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
    /// What is served was replaced meanwhile.
    #[error("{0} was replaced by another build meanwhile; try again")]
    Replaced(String),
    /// An event cannot be applied, and a rebuild does not go past it.
    #[error("cannot be applied: {0}")]
    Poison(#[from] Poison),
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Builds a projection anew from the whole log, compares it with what is served and then takes over.
pub async fn rebuild(
    log: &EventLog,
    views: &Database,
    projection: &Arc<dyn Projection>,
    progress: Progress<'_>,
) -> Result<RebuildReport, OfflineError> {
    let mut reports = rebuild_together(log, views, std::slice::from_ref(projection), progress).await?;
    reports.pop().unwrap_or_else(|| Err(OfflineError::NotServed(projection.name().to_owned())))
}

/// Builds projections anew from one pass over the log, compares each with what is served and then lets it take over.
/// One that cannot be built does not keep the others: there is a report, or a reason, for each.
pub async fn rebuild_together(
    log: &EventLog,
    views: &Database,
    projections: &[Arc<dyn Projection>],
    progress: Progress<'_>,
) -> Result<Vec<Result<RebuildReport, OfflineError>>, StoreError> {
    let mut reports = Vec::with_capacity(projections.len());
    let mut loadings = Vec::with_capacity(projections.len());
    for (n, projection) in projections.iter().enumerate() {
        match begin(log, views, projection).await {
            Ok(loading) => loadings.push((n, loading)),
            Err(reason) => reports.push((n, Err(reason))),
        }
    }
    let head = log.head().await?.position;
    let (numbers, mut loadings): (Vec<usize>, Vec<Loading>) = loadings.into_iter().unzip();
    let fed = bulk::feed(log, &mut loadings, |at| progress(at, head.max(at))).await?;
    for ((n, loading), fed) in numbers.into_iter().zip(loadings).zip(fed) {
        reports.push((n, conclude(log, views, loading, fed).await));
    }
    reports.sort_by_key(|(n, _)| *n);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

/// Makes the tables of a new build.
async fn begin(log: &EventLog, views: &Database, shared: &Arc<dyn Projection>) -> Result<Loading, OfflineError> {
    let projection = &**shared;
    let builds = registry::builds(views, projection.name()).await?;
    let is_new = builds.iter().any(|it| it.serving && it.version != projection.version());
    if is_new && lease::owner(views, projection.name(), projection.version()).await?.is_some() {
        return Err(OfflineError::InProgress(projection.name().to_owned()));
    }
    // What an earlier rebuild left when it was interrupted.
    for old in builds.iter().filter(|it| !it.serving && it.version == projection.version()) {
        old.discard(views).await?;
    }
    let build = Build::plan(projection, &builds, log.head().await?.epoch);
    if build.create(projection, views).await? == Outcome::Unexpected {
        return Err(OfflineError::Replaced(projection.name().to_owned()));
    }
    Ok(Loading::take_up(shared.clone(), build, views).await?)
}

/// Gives a build that was fed its indexes, compares it and lets it take over.
async fn conclude(
    log: &EventLog,
    views: &Database,
    mut loading: Loading,
    mut fed: bulk::Fed,
) -> Result<RebuildReport, OfflineError> {
    let shared = loading.projection.clone();
    let projection = &*shared;
    let replaced = || OfflineError::Replaced(projection.name().to_owned());
    loop {
        if let Some(poison) = loading.poison.take() {
            loading.build.discard(views).await?;
            return Err(poison.into());
        }
        if fed? == Outcome::Unexpected {
            return Err(replaced());
        }
        let build = &mut loading.build;
        build.finish(projection, views).await?;
        let builds = registry::builds(views, projection.name()).await?;
        let old = builds.iter().find(|it| it.serving);
        let compared = match old {
            Some(old) if is_comparable(old, build) => {
                let (served, rebuilt) = (old.tables(projection, views), build.tables(projection, views));
                Some(compare_still(projection, old, &served, &rebuilt, views).await?)
            }
            Some(_) | None => None,
        };
        if build.take_over(projection, old, views).await? == Outcome::Done {
            let builds = registry::builds(views, projection.name()).await?;
            for old in builds.iter().filter(|it| it.state == BuildState::Retired) {
                old.discard(views).await?;
            }
            let (projection, version) = (build.name.clone(), build.version);
            return Ok(RebuildReport { projection, version, position: build.checkpoint, compared });
        }
        // An engine has moved on what is served: catch up with it.
        let now = registry::builds(views, projection.name()).await?;
        if !now.iter().any(|it| it.build == build.build && it.revision == build.revision) {
            return Err(replaced());
        }
        let again = bulk::feed(log, std::slice::from_mut(&mut loading), |_| {}).await?.pop();
        fed = again.unwrap_or(Ok(Outcome::Done));
    }
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

type ByKey = HashMap<Key, Row>;

/// Read models in memory, built up to any position.
struct Scratch<'a> {
    projection: &'a dyn Projection,
    tables: Tables,
    checkpoint: i64,
    left_out: LeftOut,
}

impl<'a> Scratch<'a> {
    async fn new(projection: &'a dyn Projection, left_out: LeftOut) -> Result<Self, StoreError> {
        let tables = Tables::of(projection, Database::in_memory()?, str::to_owned);
        tables.database.transact(tables.create().chain(tables.create_keys()).collect()).await?;
        Ok(Self { projection, tables, checkpoint: 0, left_out })
    }

    async fn advance(&mut self, log: &EventLog, to: i64, progress: Progress<'_>) -> Result<(), OfflineError> {
        while self.checkpoint < to {
            let limit = usize::try_from(to - self.checkpoint).unwrap_or(BATCH).min(BATCH);
            let events = log.read_all(self.checkpoint, limit).await?;
            let Some(batch) = Batch::read(self.projection, events, &self.left_out) else { break };
            let rows = self.tables.load(batch.touches(self.projection)).await?;
            let folded =
                batch.fold(self.projection, rows, OnPoison::Stop).map_err(|e| StoreError::Failed(e.to_string()))?;
            if let Some(poison) = folded.poison.into_iter().next() {
                return Err(poison.into());
            }
            self.tables.database.transact(self.tables.write(folded.changes)?).await?;
            self.checkpoint = folded.upto;
            progress(self.checkpoint, to);
        }
        Ok(())
    }
}

async fn serving(log: &EventLog, views: &Database, projection: &dyn Projection) -> Result<Build, OfflineError> {
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

fn is_comparable(old: &Build, new: &Build) -> bool {
    (old.version, old.epoch, old.checkpoint) == (new.version, new.epoch, new.checkpoint)
}

/// Compares two builds that stand at the same position.
async fn compare_still(
    projection: &dyn Projection,
    old: &Build,
    served: &Tables,
    rebuilt: &Tables,
    views: &Database,
) -> Result<VerifyReport, OfflineError> {
    let (rows_compared, suspects): (u64, Suspects) = compare::suspects_within(served, rebuilt).await?;
    let mut report = VerifyReport {
        projection: projection.name().to_owned(),
        version: old.version,
        position: old.checkpoint,
        rows_compared,
        differences_total: 0,
        differences: Vec::new(),
        parked: registry::left_out(views, old).await?.parked.len(),
    };
    for (name, keys) in suspects {
        for keys in keys.chunks(SUSPECTS) {
            let (_, rows) = look(views, old, served.table(&name)?, keys).await?;
            let table = rebuilt.table(&name)?;
            let rebuilt = by_key(&rebuilt.database, table, keys).await?;
            report.add(&name, table, keys, &rows, &rebuilt);
        }
    }
    Ok(report)
}

/// Rows that are served, and the checkpoint of that very moment.
async fn look(
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

async fn by_key(database: &Database, table: &store::sql::Table, keys: &[Key]) -> Result<ByKey, StoreError> {
    let answers = database.snapshot(schema::by_key(table, keys.to_vec())).await?;
    keyed(table, answers.into_iter().flatten())
}

fn keyed(table: &store::sql::Table, rows: impl Iterator<Item = Row>) -> Result<ByKey, StoreError> {
    rows.map(|row| Ok((schema::key_of(table, &row)?, row))).collect()
}
