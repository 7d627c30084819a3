//! The auditor: while a server runs, one workspace at a time is folded again from the log and compared with what is
//! served.
//!
//! Its cost is bounded: a look takes no more than so many events of one workspace and so many rows of each table, and
//! between two looks it rests. A row is looked at together with the checkpoint of that moment, and the fold is brought
//! there, so one that has merely moved on is no difference. What it cannot see, `projections verify` does: rows that
//! should not be there, rows of no workspace, and workspaces with more events than a look may take.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::WorkspaceId;
use store::sql::{Database, Query, Row};
use store::{EventLog, Page, StoreError, StreamId};
use uuid::Uuid;

use crate::compare::difference;
use crate::fold::Decoded;
use crate::offline::{OfflineError, SUSPECTS, Scratch, by_key, look, serving};
use crate::{Key, Projection, lineage, registry, schema};

/// Events that are read and folded at a time.
const PAGE: i64 = 500;
/// Rows of one table that one look compares.
const ROWS: usize = 1000;
/// How much an auditor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long it rests between two looks.
    pub every: Duration,
    /// How long it rests between two read models of one look.
    pub breath: Duration,
    /// The most events of a workspace that a look may take.
    pub most_events: i64,
}

/// Compares what is served with what the log says, a sample at a time, and counts what differs.
pub struct Auditor {
    log: Arc<EventLog>,
    views: Database,
    projections: Vec<Arc<dyn Projection>>,
    pace: Pace,
    /// Rows that differed when they were last looked at, by projection.
    found: BTreeMap<String, BTreeMap<Place, WorkspaceId>>,
    looks: u64,
    visited: Option<Uuid>,
}

/// A table and a key.
type Place = (String, Key);

/// What a workspace did up to a position that every read model has seen.
struct Sample {
    workspace: WorkspaceId,
    upto: i64,
    pages: Vec<Arc<Decoded>>,
    streams: HashSet<StreamId>,
}

impl Auditor {
    /// An auditor of these projections.
    pub fn new(log: Arc<EventLog>, views: Database, projections: Vec<Arc<dyn Projection>>, pace: Pace) -> Self {
        let found = projections.iter().map(|it| (it.name().to_owned(), BTreeMap::new())).collect();
        Self { log, views, projections, pace, found, looks: 0, visited: None }
    }

    /// Looks and rests until it is dropped.
    pub async fn run(mut self) {
        self.export();
        loop {
            tokio::time::sleep(self.pace.every).await;
            if let Err(error) = self.look_once().await {
                tracing::warn!(%error, "read models could not be audited; the auditor tries again");
            }
        }
    }

    /// Looks at the next workspace, and once more at one that had differences.
    pub async fn look_once(&mut self) -> Result<(), StoreError> {
        self.looks += 1;
        let mut chosen: Vec<WorkspaceId> = self.suspicious().into_iter().chain(self.choose().await?).collect();
        chosen.dedup();
        for workspace in chosen {
            self.audit(workspace).await?;
        }
        self.export();
        Ok(())
    }

    /// How many rows of a projection differed when they were last looked at.
    pub fn drift(&self, projection: &str) -> usize {
        self.found.get(projection).map_or(0, BTreeMap::len)
    }

    /// One of the workspaces that had differences; another one every time.
    fn suspicious(&self) -> Option<WorkspaceId> {
        let mut all: Vec<WorkspaceId> = self.found.values().flat_map(BTreeMap::values).copied().collect();
        all.sort_unstable_by_key(|it| it.0);
        all.dedup();
        let turn = usize::try_from(self.looks).unwrap_or(0);
        if all.is_empty() { None } else { all.get(turn % all.len()).copied() }
    }

    /// Every workspace in turn, and in between whoever an event of the log belongs to: a workspace whose row is missing
    /// is found as well.
    async fn choose(&mut self) -> Result<Option<WorkspaceId>, StoreError> {
        if self.looks.is_multiple_of(2) {
            let head = self.log.head().await?.position;
            let any = 1 + i64::try_from(at_random(head.unsigned_abs())).unwrap_or(0);
            let event = self.log.read_at(any).await?;
            return Ok(event.and_then(|it| it.workspace_id).map(WorkspaceId));
        }
        let next = Query::new("select id from workspaces where id > $1 order by id limit 1");
        let after = self.visited.map_or(String::new(), |it| it.to_string());
        self.visited = self.views.first(next.bind(after)).await?.map(|row| row.uuid(0)).transpose()?;
        Ok(self.visited.map(WorkspaceId))
    }

    async fn audit(&mut self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let Some(sample) = self.sample(workspace).await? else { return Ok(()) };
        for projection in self.projections.clone() {
            match self.compare(&sample, &*projection).await {
                Ok(()) => {}
                Err(OfflineError::Store(error)) => return Err(error),
                // It is being replaced or stopped at poison, which others report: the next look will do.
                Err(reason) => tracing::debug!(projection = projection.name(), %reason, "not audited"),
            }
            tokio::time::sleep(self.pace.breath).await;
        }
        metrics::counter!("muster_projection_audited_workspaces_total").increment(1);
        Ok(())
    }

    /// Reads what a workspace did; nothing where that is more than a look may take, or not everything is served yet.
    async fn sample(&self, workspace: WorkspaceId) -> Result<Option<Sample>, StoreError> {
        let epoch = self.log.head().await?.epoch;
        let mut upto = i64::MAX;
        let lineage = lineage::Lineage;
        for name in self.projections.iter().map(|it| it.name()).chain([lineage.name()]) {
            match registry::served(&self.views, name).await? {
                Some((of, checkpoint)) if of == epoch => upto = upto.min(checkpoint),
                Some(_) | None => return Ok(None),
            }
        }
        if lineage::count_of(&self.views, &[workspace], upto).await? > self.pace.most_events {
            metrics::counter!("muster_projection_audit_too_long_total").increment(1);
            return Ok(None);
        }
        let mut sample = Sample { workspace, upto, pages: Vec::new(), streams: HashSet::new() };
        let mut at = 0;
        loop {
            let found = lineage::positions_of(&self.views, &[workspace], at, upto, PAGE).await?;
            let Some(last) = found.last().copied() else { return Ok(Some(sample)) };
            at = last;
            let events = self.log.read_positions(&found).await?;
            sample.streams.extend(events.iter().map(|it| it.stream.clone()));
            let decoded = tokio::task::spawn_blocking(move || Decoded::of(Page { events, last: Some(last) })).await;
            let decoded = decoded.map_err(|e| StoreError::Failed(format!("a page was not decoded: {e}")))?;
            sample.pages.extend(decoded.map(Arc::new));
        }
    }

    async fn compare(&mut self, sample: &Sample, projection: &dyn Projection) -> Result<(), OfflineError> {
        let build = serving(&self.log, &self.views, projection).await?;
        let left_out = registry::left_out(&self.views, &build).await?;
        let mut scratch = Scratch::of_workspace(projection, left_out, sample.workspace).await?;
        for page in &sample.pages {
            scratch.take(page.clone()).await?;
        }
        scratch.skip_to(sample.upto);
        let served = build.tables(projection, &self.views);
        let mut compared = 0;
        for name in projection.tables().into_iter().map(|it| it.name) {
            let rows =
                scratch.tables.database.query(schema::page(scratch.tables.table(&name)?, None, i64::MAX)).await?;
            let keys = self.choose_keys(projection, &name, scratch.tables.table(&name)?, &rows, sample.workspace)?;
            for keys in keys.chunks(SUSPECTS) {
                let (checkpoint, rows) = look(&self.views, &build, served.table(&name)?, keys).await?;
                scratch.advance(&self.log, checkpoint, &mut |_, _| {}).await?;
                let table = scratch.tables.table(&name)?;
                let right = by_key(&scratch.tables.database, table, keys).await?;
                compared += keys.len() as u64;
                for key in keys {
                    let differs = difference(&name, table, key, rows.get(key), right.get(key)).is_some();
                    let differs = differs && self.is_of(sample, key).await?;
                    self.note(projection.name(), (name.clone(), key.clone()), sample.workspace, checkpoint, differs);
                }
            }
        }
        let name = projection.name().to_owned();
        metrics::counter!("muster_projection_audited_rows_total", "projection" => name).increment(compared);
        Ok(())
    }

    /// The keys to look at: some of the rows that the log makes, and those that differed before.
    fn choose_keys(
        &self,
        projection: &dyn Projection,
        name: &str,
        table: &store::sql::Table,
        rows: &[Row],
        workspace: WorkspaceId,
    ) -> Result<Vec<Key>, StoreError> {
        let from = at_random(rows.len().saturating_sub(ROWS) as u64 + 1);
        let some = rows.iter().skip(usize::try_from(from).unwrap_or(0)).take(ROWS);
        let mut keys: Vec<Key> = some.map(|row| schema::key_of(table, row)).collect::<Result<_, _>>()?;
        let chosen: HashSet<Key> = keys.iter().cloned().collect();
        let before = self.found.get(projection.name()).into_iter().flatten();
        let before = before.filter(|((of, key), whose)| of == name && **whose == workspace && !chosen.contains(key));
        keys.extend(before.map(|((_, key), _)| key.clone()));
        Ok(keys)
    }

    /// Whether a row is made by one workspace alone: a repository and its pull requests can move to another.
    async fn is_of(&self, sample: &Sample, key: &Key) -> Result<bool, StoreError> {
        let key = key.to_string();
        for stream in sample.streams.iter().filter(|it| key.split('/').any(|part| part == it.aggregate_id)) {
            let events = self.log.read_stream(stream, 1, None).await?;
            if events.iter().any(|it| it.workspace_id != Some(sample.workspace.0)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Remembers a row that differs, and forgets one that is right again; says so once.
    fn note(&mut self, projection: &str, place: Place, workspace: WorkspaceId, checkpoint: i64, differs: bool) {
        let found = self.found.entry(projection.to_owned()).or_default();
        let (table, key) = (place.0.clone(), place.1.to_string());
        if differs {
            if found.insert(place, workspace).is_none() {
                tracing::error!(projection, table, key, checkpoint, "a served row is not what the log says");
            }
        } else if found.remove(&place).is_some() {
            tracing::info!(projection, table, key, checkpoint, "a served row is what the log says again");
        }
    }

    fn export(&self) {
        for (projection, found) in &self.found {
            metrics::gauge!("muster_projection_drift", "projection" => projection.clone()).set(found.len() as f64);
        }
    }
}

/// A number below another, from the random part of a new id.
fn at_random(below: u64) -> u64 {
    let (_, random) = Uuid::now_v7().as_u64_pair();
    (random & 0xFFFF_FFFF_FFFF) % below.max(1)
}
