//! Building read models anew: taken up where an interrupted build stopped, and compared before they take over.
//!
//! All of them are fed from one pass over the log, first to the position that is served, where each is compared with
//! what queries see. **What differs without a reason does not take over.** The rest of the log comes last, and where a
//! server goes on folding all the while, it is made to rest for the moment of the swap.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::sql::{Database, Outcome};
use store::{EventLog, Head, StoreError};
use uuid::Uuid;

use super::{OfflineError, Progress, SUSPECTS, VerifyReport, by_key, look};
use crate::bulk::{self, Fed, Loading};
use crate::lease::{self, Lease};
use crate::registry::{self, Build, BuildState};
use crate::{Projection, compare};

/// How often a build tries to swap with what a server moves on, before that is made to rest.
const ATTEMPTS: usize = 10;
/// How long a server is made to rest at most.
const REST: Duration = Duration::from_secs(30);
/// How long a server rests when whoever asked it to has died.
const LEASE: Duration = Duration::from_secs(5);

/// What a rebuild may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Build beside a server that goes on folding; without, a live one on PostgreSQL is an error. (On SQLite whoever
    /// has the folder is the only one.)
    pub beside: bool,
    /// Take over also where rows differ from those that were served.
    pub accept_differences: bool,
    /// Begin at the first event, whatever an interrupted rebuild has left.
    pub from_start: bool,
    /// Do not look at what is served: it must differ.
    pub unseen: bool,
}

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RebuildReport {
    /// Which projection.
    pub projection: String,
    /// The version that was built.
    pub version: i64,
    /// Everything up to here is in it.
    pub position: i64,
    /// An interrupted rebuild had come so far, and this one went on from there; 0 when it began at the first event.
    pub resumed_from: i64,
    /// Whether it is served now. If not, it differs from what is served, and was thrown away.
    pub took_over: bool,
    /// How the new rows compare with those served before; none where that would mean nothing, because those were of
    /// another version or another life of the log.
    pub compared: Option<VerifyReport>,
}

/// Builds a projection anew from the whole log, also beside engines, compares it with what is served and takes over if
/// nothing differs.
pub async fn rebuild(
    log: &EventLog,
    views: &Database,
    projection: &Arc<dyn Projection>,
    progress: Progress<'_>,
) -> Result<RebuildReport, OfflineError> {
    let mut reports = rebuild_together(log, views, std::slice::from_ref(projection), progress).await?;
    reports.pop().unwrap_or_else(|| Err(OfflineError::NotServed(projection.name().to_owned())))
}

/// The same for several, from one pass over the log. One that cannot be built does not keep the others: there is a
/// report, or a reason, for each.
pub async fn rebuild_together(
    log: &EventLog,
    views: &Database,
    projections: &[Arc<dyn Projection>],
    progress: Progress<'_>,
) -> Result<Vec<Result<RebuildReport, OfflineError>>, StoreError> {
    let terms = Terms { beside: true, ..Terms::default() };
    rebuild_on(terms, log, views, projections, progress).await
}

/// The same on other terms. `progress` first hears where the work begins.
pub async fn rebuild_on(
    terms: Terms,
    log: &EventLog,
    views: &Database,
    projections: &[Arc<dyn Projection>],
    progress: Progress<'_>,
) -> Result<Vec<Result<RebuildReport, OfflineError>>, StoreError> {
    let mut ends: Vec<Option<Result<RebuildReport, OfflineError>>> = projections.iter().map(|_| None).collect();
    let mut going = Vec::with_capacity(projections.len());
    let live = if terms.beside { None } else { live(views, projections).await? };
    for (n, projection) in projections.iter().enumerate() {
        let begun = match &live {
            Some(name) => Err(OfflineError::Live(name.clone())),
            None => Rebuilding::begin(n, log, views, projection, terms).await,
        };
        match begun {
            Ok(begun) => going.push(begun),
            Err(reason) => ends[n] = Some(Err(reason)),
        }
    }
    let head = log.head().await?.position;
    let from = going.iter().map(|it| it.loading.build.checkpoint).min().unwrap_or(head);
    progress(from, head.max(from));

    // First to where all that can be compared still are, then each is compared, then to the end.
    let meet = going.iter().filter_map(|it| it.compare_at).min().unwrap_or(head);
    let fed = feed(log, &mut going, meet, &mut |at| progress(at, head.max(at))).await?;
    let mut right = Vec::with_capacity(going.len());
    for (mut it, fed) in going.into_iter().zip(fed) {
        match it.compare(log, views, fed).await {
            Ok(()) if it.differs() && !terms.accept_differences => ends[it.n] = Some(it.give_up(views).await),
            Ok(()) => right.push(it),
            Err(reason) => ends[it.n] = Some(Err(reason)),
        }
    }
    let fed = feed(log, &mut right, i64::MAX, &mut |at| progress(at, head.max(at))).await?;
    for (mut it, fed) in right.into_iter().zip(fed) {
        ends[it.n] = Some(it.take_over(log, views, fed).await);
    }
    Ok(ends.into_iter().flatten().collect())
}

/// The first projection that a server keeps up to date, if there is one.
async fn live(views: &Database, projections: &[Arc<dyn Projection>]) -> Result<Option<String>, StoreError> {
    // On SQLite the folder is the lease: what a killed server has left there says nothing.
    if let Database::Sqlite(_) = views {
        return Ok(None);
    }
    for projection in projections {
        if lease::any_owner(views, projection.name()).await?.is_some() {
            return Ok(Some(projection.name().to_owned()));
        }
    }
    Ok(None)
}

async fn feed(
    log: &EventLog,
    going: &mut [Rebuilding],
    up_to: i64,
    progress: &mut (dyn FnMut(i64) + Send),
) -> Result<Vec<Fed>, StoreError> {
    bulk::feed(log, going.iter_mut().map(|it| &mut it.loading).collect(), up_to, progress).await
}

/// One projection on its way.
struct Rebuilding {
    /// Which of those that were asked for.
    n: usize,
    loading: Loading,
    resumed_from: i64,
    /// Where what is served stood, if it can be compared.
    compare_at: Option<i64>,
    compared: Option<VerifyReport>,
}

impl Rebuilding {
    /// Takes up what an interrupted rebuild has left, or makes the tables of a new build.
    async fn begin(
        n: usize,
        log: &EventLog,
        views: &Database,
        shared: &Arc<dyn Projection>,
        terms: Terms,
    ) -> Result<Self, OfflineError> {
        let projection = &**shared;
        let builds = registry::builds(views, projection.name()).await?;
        let head = log.head().await?;
        let serving = builds.iter().find(|it| it.serving);
        let is_new = serving.is_some_and(|it| it.version != projection.version());
        if is_new && lease::owner(views, projection.name(), projection.version()).await?.is_some() {
            return Err(OfflineError::InProgress(projection.name().to_owned()));
        }
        let compare_at =
            serving.filter(|it| !terms.unseen && is_comparable(it, projection, &head)).map(|it| it.checkpoint);
        let mut begun = None;
        for old in builds.iter().filter(|it| !it.serving && it.version == projection.version()) {
            let fits = begun.is_none() && !terms.from_start && old.epoch == head.epoch;
            if fits && is_prefix(old, compare_at.unwrap_or(head.position), projection, views).await? {
                begun = Some(old.clone());
            } else {
                old.discard(views).await?;
            }
        }
        let build = match begun {
            Some(begun) => begun,
            None => {
                let build = Build::plan(projection, &builds, head.epoch);
                if build.create(projection, views).await? == Outcome::Unexpected {
                    return Err(OfflineError::Replaced(projection.name().to_owned()));
                }
                build
            }
        };
        let resumed_from = build.checkpoint;
        let loading = Loading::take_up(shared.clone(), build, views).await?;
        Ok(Self { n, loading, resumed_from, compare_at, compared: None })
    }

    /// Compares the build with what is served, which may be moving on: a row that differs is looked at once more
    /// together with the checkpoint of that moment, and the build is brought there.
    async fn compare(&mut self, log: &EventLog, views: &Database, fed: Fed) -> Result<(), OfflineError> {
        self.check(views, fed).await?;
        if self.compare_at.is_none() {
            return Ok(());
        }
        let projection = self.loading.projection.clone();
        let projection = &*projection;
        self.loading.build.finish(projection, views).await?;
        let builds = registry::builds(views, projection.name()).await?;
        let old = builds.iter().find(|it| it.serving).ok_or_else(|| self.replaced())?;
        if old.version != projection.version() || old.checkpoint < self.loading.build.checkpoint {
            return Err(self.replaced());
        }
        let (served, rebuilt) = (old.tables(projection, views), self.loading.build.tables(projection, views));
        let (rows_compared, suspects) = compare::suspects_within(&served, &rebuilt).await?;
        let mut report = VerifyReport {
            projection: projection.name().to_owned(),
            version: old.version,
            position: self.loading.build.checkpoint,
            rows_compared,
            differences_total: 0,
            differences: Vec::new(),
            parked: registry::left_out(views, old).await?.parked.len(),
        };
        for (name, keys) in suspects {
            for keys in keys.chunks(SUSPECTS) {
                let (checkpoint, rows) = look(views, old, served.table(&name)?, keys).await?;
                self.bring(log, views, checkpoint).await?;
                let table = rebuilt.table(&name)?;
                let rebuilt = by_key(&rebuilt.database, table, keys).await?;
                report.position = checkpoint;
                report.add(&name, table, keys, &rows, &rebuilt);
            }
        }
        self.compared = Some(report);
        Ok(())
    }

    fn differs(&self) -> bool {
        self.compared.as_ref().is_some_and(|it| !it.is_clean())
    }

    /// Leaves what is served as it is.
    async fn give_up(&self, views: &Database) -> Result<RebuildReport, OfflineError> {
        self.loading.build.discard(views).await?;
        Ok(self.report(false))
    }

    /// Lets the build be served.
    async fn take_over(&mut self, log: &EventLog, views: &Database, fed: Fed) -> Result<RebuildReport, OfflineError> {
        self.check(views, fed).await?;
        self.loading.build.finish(&*self.loading.projection, views).await?;
        for _ in 0..ATTEMPTS {
            if self.swap(views).await? {
                return Ok(self.report(true));
            }
            self.bring(log, views, i64::MAX).await?;
        }
        // Under steady writes an engine is always a little ahead: it rests while this build catches up.
        let name = self.loading.build.name.clone();
        let builds = registry::builds(views, &name).await?;
        let version = builds.iter().find(|it| it.serving).map_or(self.loading.build.version, |it| it.version);
        let owner = format!("rebuild-{}", Uuid::now_v7());
        let mut lease = Lease::by_force(views.clone(), &name, version, &owner, LEASE);
        let swapped = self.swap_at_rest(log, views, &mut lease).await;
        lease.give_back().await?;
        if swapped? { Ok(self.report(true)) } else { Err(OfflineError::Busy(name)) }
    }

    async fn swap_at_rest(
        &mut self,
        log: &EventLog,
        views: &Database,
        lease: &mut Lease,
    ) -> Result<bool, OfflineError> {
        let begun = Instant::now();
        while begun.elapsed() < REST {
            lease.hold().await?;
            self.bring(log, views, i64::MAX).await?;
            if self.swap(views).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes over if what is served is not ahead.
    async fn swap(&mut self, views: &Database) -> Result<bool, OfflineError> {
        let projection = self.loading.projection.clone();
        let build = &mut self.loading.build;
        let builds = registry::builds(views, projection.name()).await?;
        let old = builds.iter().find(|it| it.serving);
        if build.take_over(&*projection, old, views).await? == Outcome::Done {
            let builds = registry::builds(views, projection.name()).await?;
            for old in builds.iter().filter(|it| it.state == BuildState::Retired) {
                old.discard(views).await?;
            }
            return Ok(true);
        }
        let now = registry::builds(views, projection.name()).await?;
        match now.iter().any(|it| it.build == build.build && it.revision == build.revision) {
            true => Ok(false),
            false => Err(self.replaced()),
        }
    }

    async fn bring(&mut self, log: &EventLog, views: &Database, up_to: i64) -> Result<(), OfflineError> {
        let fed = bulk::feed(log, vec![&mut self.loading], up_to, |_| {}).await?.pop();
        self.check(views, fed.unwrap_or(Ok(Outcome::Done))).await
    }

    /// Whether everything that was fed is in the build.
    async fn check(&mut self, views: &Database, fed: Fed) -> Result<(), OfflineError> {
        if let Some(poison) = self.loading.poison.take() {
            self.loading.build.discard(views).await?;
            return Err(poison.into());
        }
        match fed? {
            Outcome::Done => Ok(()),
            Outcome::Unexpected => Err(self.replaced()),
        }
    }

    fn replaced(&self) -> OfflineError {
        OfflineError::Replaced(self.loading.build.name.clone())
    }

    fn report(&self, took_over: bool) -> RebuildReport {
        let build = &self.loading.build;
        RebuildReport {
            projection: build.name.clone(),
            version: build.version,
            position: build.checkpoint,
            resumed_from: self.resumed_from,
            took_over,
            compared: self.compared.clone(),
        }
    }
}

/// Whether what is served can be compared with what this code makes of the log. Another version is no difference.
fn is_comparable(serving: &Build, projection: &dyn Projection, head: &Head) -> bool {
    serving.version == projection.version() && serving.epoch == head.epoch && serving.checkpoint <= head.position
}

/// Whether an unfinished build is what a new one would be on its way: rows and checkpoint moved together, it has not
/// gone past where it is to be compared, and no event that is in it was given up since.
async fn is_prefix(
    build: &Build,
    compare_at: i64,
    projection: &dyn Projection,
    views: &Database,
) -> Result<bool, StoreError> {
    let tables: Vec<String> = projection.tables().into_iter().map(|it| it.name).collect();
    let is_on_its_way = build.state == BuildState::Rebuilding && (1..=compare_at).contains(&build.checkpoint);
    let left_out = registry::left_out(views, build).await?;
    let was_given_up = left_out.skipped.iter().any(|position| *position <= build.checkpoint);
    Ok(is_on_its_way && build.tables == tables && left_out.parked.is_empty() && !was_given_up)
}
