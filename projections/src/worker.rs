//! The worker: one task per projection, which takes it from where it stands to the head of the log and keeps it there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::sql::{Database, Outcome};
use store::{EventLog, StoreError};
use tokio::sync::watch;

use crate::bulk::{Feed, Loading};
use crate::engine::Settings;
use crate::fold::{Batch, Folded, LeftOut, OnPoison};
use crate::lease::{self, Lease};
use crate::recent::Recent;
use crate::registry::{self, Build, BuildState};
use crate::schema::Tables;
use crate::{Poison, Projection};

/// A worker that is this many batches behind reads larger ones.
const FAR_BEHIND: usize = 4;
/// How long a worker rests after a fault: at first, and at most.
const REST: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// What a worker lets its engine know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How far what is served is, as far as this node knows; nothing before there are tables.
    pub(crate) served: Option<i64>,
    /// Raised whenever rows of what is served may have changed.
    pub(crate) stirred: i64,
    /// Whether this node moves what is served, and so knows at once.
    pub(crate) leads: bool,
    /// Why the worker rests, if it does.
    pub(crate) trouble: Option<StoreError>,
}

impl Progress {
    /// Whether queries see everything up to a position.
    pub(crate) fn has_reached(&self, position: i64) -> bool {
        self.served.is_some_and(|it| it >= position)
    }
}

/// Takes one projection to the head of the log and keeps it there.
pub(crate) struct Worker {
    pub(crate) log: Arc<EventLog>,
    recent: Arc<Recent>,
    pub(crate) views: Database,
    pub(crate) projection: Arc<dyn Projection>,
    pub(crate) batch: usize,
    catch_up: usize,
    noted_within: Duration,
    lease: Lease,
    progress: watch::Sender<Progress>,
    head: watch::Receiver<i64>,
    stop: watch::Receiver<bool>,
}

/// A build in hand, with everything needed to move it on.
struct Work {
    build: Build,
    tables: Tables,
    left_out: LeftOut,
    /// Everything up to here is in the tables, or not for them; the registry may not say so yet.
    seen: i64,
    /// When the registry last said how far it is.
    noted: Instant,
    /// How long it may go on without saying so.
    noted_within: Duration,
}

impl Work {
    /// How long until the registry has to say how far it is; `None` when it does.
    fn note_due(&self) -> Option<Duration> {
        (self.seen > self.build.checkpoint).then(|| self.noted_within.saturating_sub(self.noted.elapsed()))
    }

    /// Has the database find out what is in tables that fill while they are read: what it guesses of new ones makes
    /// queries a hundred times slower, and it looks for itself only after a minute.
    async fn describe(&self) {
        if let Err(error) = self.tables.database.transact(self.tables.analyze().collect()).await {
            tracing::warn!(projection = self.build.name, %error, "the database does not know what is in its tables");
        }
    }

    /// Notes how far it is; `Unexpected` when another engine was first.
    async fn note(&mut self) -> Result<Outcome, StoreError> {
        self.noted = Instant::now();
        self.build.advance(&self.tables, Folded::nothing(self.seen)).await
    }
}

/// What the registry has for a worker to do.
enum Task {
    /// Move this build on.
    Work(Box<Work>),
    /// Nothing: a newer Muster has the projection.
    StandAside,
    /// The registry has changed and is to be read again.
    LookAgain,
}

/// Where a worker stands after one step.
enum Step {
    /// There may be more to do.
    Moved,
    /// Everything that there is has been applied.
    CaughtUp,
    /// The registry is not as this worker thought.
    Lost,
}

impl Worker {
    pub(crate) fn new(
        recent: Arc<Recent>,
        log: Arc<EventLog>,
        views: Database,
        projection: Arc<dyn Projection>,
        settings: &Settings,
        progress: watch::Sender<Progress>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let lease = Lease::new(views.clone(), projection.name(), projection.version(), &settings.owner, settings.lease);
        let head = log.subscribe();
        let (batch, catch_up, noted_within) = (settings.batch.max(1), settings.catch_up.max(1), settings.noted_within);
        Self { log, recent, views, projection, batch, catch_up, noted_within, lease, progress, head, stop }
    }

    /// Works until it is told to stop; then gives the lease back.
    pub(crate) async fn run(mut self) {
        let mut rest = REST.0;
        while !self.stopping() {
            match self.work().await {
                Ok(()) => rest = REST.0,
                Err(error) => {
                    let name = self.projection.name();
                    tracing::warn!(projection = name, %error, "a projection rests and tries again");
                    self.progress.send_modify(|it| {
                        it.leads = false;
                        it.trouble = Some(error);
                    });
                    self.pause(rest).await;
                    rest = (rest * 2).min(REST.1);
                }
            }
        }
        self.progress.send_modify(|it| it.leads = false);
        if let Err(error) = self.lease.give_back().await {
            tracing::warn!(projection = self.projection.name(), %error, "a lease could not be given back");
        }
    }

    /// One stretch of work, until the registry has to be read anew.
    async fn work(&mut self) -> Result<(), StoreError> {
        if !self.lease.hold().await? {
            self.progress.send_modify(|it| it.leads = false);
            self.pause(self.lease.interval()).await;
            return Ok(());
        }
        let mut work = match self.take_up().await? {
            Task::Work(work) => work,
            Task::LookAgain => return Ok(()),
            Task::StandAside => {
                self.progress.send_modify(|it| it.leads = false);
                self.pause(self.lease.interval()).await;
                return Ok(());
            }
        };
        if !work.build.serving && work.build.state != BuildState::Halted {
            return self.fill(work.build).await;
        }
        // Others may have changed the rows until now.
        self.publish(&work.build, work.seen, true);
        while !self.stopping() && self.lease.hold().await? {
            if work.build.state == BuildState::Halted {
                // An operator decides, maybe on another node or from the command line.
                self.pause(self.lease.interval()).await;
                return Ok(());
            }
            match self.step(&mut work).await? {
                Step::Moved => {}
                Step::Lost => return Ok(()),
                Step::CaughtUp => self.wait_for_events(work.note_due()).await,
            }
            if work.note_due() == Some(Duration::ZERO) {
                if work.note().await? == Outcome::Unexpected {
                    return Ok(());
                }
                if !self.stopping() && work.seen >= *self.head.borrow() {
                    self.wait_for_events(None).await;
                }
            }
        }
        if work.note_due().is_some() {
            work.note().await?;
        }
        Ok(())
    }

    /// Finds or makes the build that this worker moves on.
    async fn take_up(&mut self) -> Result<Task, StoreError> {
        // The head is read after the builds, so a build that is ahead of it is of another life of the log.
        let builds = registry::builds(&self.views, self.projection.name()).await?;
        let head = self.log.head().await?;
        let nothing_served = builds.iter().all(|it| !it.serving);
        for build in &builds {
            let other_life = build.epoch != head.epoch || build.checkpoint > head.position;
            if other_life || nothing_served || self.is_abandoned(build).await? {
                tracing::info!(projection = build.name, version = build.version, "a build is thrown away");
                build.discard(&self.views).await?;
                return Ok(Task::LookAgain);
            }
        }
        let version = self.projection.version();
        let build = match builds.iter().find(|it| it.serving) {
            Some(build) if build.version == version => build.clone(),
            Some(newer) if newer.version > version && self.has_owner(newer.version).await? => {
                return Ok(Task::StandAside);
            }
            serving => match builds.iter().find(|it| !it.serving && it.version == version) {
                Some(begun) => begun.clone(),
                None => {
                    let mut build = Build::plan(&*self.projection, &builds, head.epoch);
                    if serving.is_none() {
                        // Nothing is served that could be kept: what there is, is shown while it grows.
                        build.serving = true;
                        build.state = BuildState::Running;
                    }
                    if build.create(&*self.projection, &self.views).await? == Outcome::Unexpected {
                        return Ok(Task::LookAgain);
                    }
                    build
                }
            },
        };
        let left_out = registry::left_out(&self.views, &build).await?;
        let tables = build.tables(&*self.projection, &self.views);
        let (seen, noted, noted_within) = (build.checkpoint, Instant::now(), self.noted_within);
        Ok(Task::Work(Box::new(Work { build, tables, left_out, seen, noted, noted_within })))
    }

    /// Whether a build will never be served: it was replaced, or its Muster is gone.
    async fn is_abandoned(&self, build: &Build) -> Result<bool, StoreError> {
        if build.serving || build.version == self.projection.version() {
            return Ok(build.state == BuildState::Retired);
        }
        Ok(build.state == BuildState::Retired || !self.has_owner(build.version).await?)
    }

    async fn has_owner(&self, version: i64) -> Result<bool, StoreError> {
        Ok(lease::owner(&self.views, self.projection.name(), version).await?.is_some())
    }

    /// Takes a build that nobody reads yet to the head of the log, and lets it take over.
    async fn fill(&mut self, build: Build) -> Result<(), StoreError> {
        let log = self.log.clone();
        let mut loading = Loading::take_up(self.projection.clone(), build, &self.views).await?;
        let mut feed = Feed::after(&log, loading.build.checkpoint, [&self.projection]);
        let mut page = feed.next().await?;
        while let Some(current) = page {
            self.publish(&loading.build, loading.build.checkpoint, true);
            if self.stopping() || !self.lease.hold().await? {
                return loading.settle().await.map(drop);
            }
            let (next, taken) = tokio::join!(feed.next(), loading.take(current));
            if taken? == Outcome::Unexpected {
                return Ok(());
            }
            if let Some(poison) = loading.poison.take() {
                report(&loading.build, &[poison]);
                return loading.settle().await.map(drop);
            }
            page = next?;
        }
        if loading.settle().await? == Outcome::Done {
            self.take_over(&mut loading.build).await?;
        }
        Ok(())
    }

    /// Reads, folds and writes one batch of what is served.
    async fn step(&mut self, work: &mut Work) -> Result<Step, StoreError> {
        let begun = Instant::now();
        let known_head = *self.head.borrow_and_update();
        let behind = usize::try_from(known_head - work.seen).unwrap_or(0);
        let limit = if behind > FAR_BEHIND * self.batch { self.catch_up } else { self.batch };
        let page = self.recent.page(work.seen, limit, self.projection.reads()).await?;
        let Some(decoded) = page else { return Ok(Step::CaughtUp) };
        let batch = Batch::of(&*self.projection, Arc::new(decoded), &work.left_out);
        let rows = work.tables.load(batch.touches(&*self.projection)).await?;
        let folded =
            batch.fold(&*self.projection, rows, OnPoison::Park).map_err(|e| StoreError::Failed(e.to_string()))?;
        work.seen = folded.upto;
        let stirred = !folded.is_idle();
        if stirred {
            let (poison, before) = (folded.poison.clone(), work.build.checkpoint);
            if work.build.advance(&work.tables, folded).await? == Outcome::Unexpected {
                return Ok(Step::Lost);
            }
            work.noted = Instant::now();
            if has_outgrown(before, work.build.checkpoint) {
                work.describe().await;
            }
            report(&work.build, &poison);
            work.left_out.parked.extend(poison.into_iter().map(|it| (it.stream, it.position)));
            metrics::histogram!("muster_projection_batch_seconds", "projection" => work.build.name.clone())
                .record(begun.elapsed().as_secs_f64());
        }
        self.publish(&work.build, work.seen, stirred);
        // Without another look at the log, which says by itself when there is more.
        Ok(if work.seen >= *self.head.borrow() { Step::CaughtUp } else { Step::Moved })
    }

    /// Makes a build that has caught up the one that queries read.
    async fn take_over(&mut self, build: &mut Build) -> Result<(), StoreError> {
        build.finish(&*self.projection, &self.views).await?;
        let builds = registry::builds(&self.views, &build.name).await?;
        let old = builds.iter().find(|it| it.serving);
        if build.take_over(&*self.projection, old, &self.views).await? == Outcome::Done {
            tracing::info!(projection = build.name, version = build.version, "a new version is served");
            self.publish(build, build.checkpoint, true);
        }
        // The tables of the old one are dropped when the registry is read anew: queries may be reading them.
        Ok(())
    }

    /// Tells waiting queries and the metrics how far the projection is, and whether its rows may have changed.
    fn publish(&self, build: &Build, seen: i64, stirred: bool) {
        let lag = (*self.head.borrow() - seen).max(0);
        metrics::gauge!("muster_projection_lag_events", "projection" => build.name.clone()).set(lag as f64);
        self.progress.send_if_modified(|it| {
            let next = Progress {
                served: if build.serving { Some(seen) } else { it.served },
                stirred: it.stirred + i64::from(stirred),
                leads: build.serving,
                trouble: None,
            };
            let modified = *it != next;
            *it = next;
            modified
        });
    }

    fn stopping(&self) -> bool {
        // An engine that is dropped stops its workers too.
        *self.stop.borrow() || self.stop.has_changed().is_err()
    }

    /// Returns when there are events since the last step, when the registry or the lease is due, or when it is time to
    /// stop.
    async fn wait_for_events(&mut self, note_due: Option<Duration>) {
        let due = note_due.unwrap_or_else(|| self.lease.interval());
        tokio::select! {
            _ = self.head.changed() => {}
            _ = self.stop.changed() => {}
            () = tokio::time::sleep(due) => {}
        }
    }

    async fn pause(&mut self, time: Duration) {
        tokio::select! {
            _ = self.stop.changed() => {}
            () = tokio::time::sleep(time) => {}
        }
    }
}

fn report(build: &Build, poison: &[Poison]) {
    for it in poison {
        let (projection, version) = (build.name.as_str(), build.version);
        let (position, stream) = (it.position, it.stream.to_string());
        if build.serving {
            tracing::error!(projection, version, position, stream, error = it.reason, "a stream is parked");
        } else {
            tracing::error!(projection, version, position, stream, error = it.reason, "a rebuild stops");
        }
    }
}

/// Whether what was known of tables of the one size says little of the other: from a thousand events on, tenfold growth.
fn has_outgrown(before: i64, after: i64) -> bool {
    let size = |events: i64| (events / 1_000).checked_ilog10();
    size(before) != size(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_described_whenever_they_have_grown_tenfold() {
        assert!(!has_outgrown(0, 999) && !has_outgrown(1_000, 9_999) && !has_outgrown(10_000, 99_999));
        assert!(has_outgrown(999, 1_000) && has_outgrown(9_000, 10_000) && has_outgrown(0, 5_000_000));
    }
}
