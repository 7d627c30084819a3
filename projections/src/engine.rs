//! The engine: a worker for each projection, and ways to ask how far they are.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::sql::Database;
use store::{EventLog, StoreError, StreamId};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::parking::{self, Applied, ParkingError};
use crate::registry;
use crate::worker::{Progress, Worker};
use crate::{Projection, ProjectionStatus, Recent, State};

/// How often a node that does not fold looks how far the others are while somebody waits: at first, and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Names this node to the others.
    pub owner: String,
    /// How many events are folded at a time.
    pub batch: usize,
    /// How many when a projection is far behind.
    pub catch_up: usize,
    /// How long a node that has died keeps the others from its work.
    pub lease: Duration,
    /// How long it may take until other nodes see that a projection has passed events that were not for it. Noting each
    /// of them at once would make every commit of the log a commit of every projection.
    pub noted_within: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            owner: Uuid::now_v7().to_string(),
            batch: 1000,
            catch_up: 5000,
            lease: Duration::from_secs(5),
            noted_within: Duration::from_millis(20),
        }
    }
}

/// Keeps projections up to date until it is shut down or dropped.
#[derive(Debug)]
pub struct Engine {
    log: Arc<EventLog>,
    recent: Arc<Recent>,
    views: Database,
    workers: BTreeMap<String, Known>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    stop: watch::Sender<bool>,
}

struct Known {
    projection: Arc<dyn Projection>,
    progress: watch::Sender<Progress>,
}

impl Engine {
    /// Starts a worker for each projection; call it inside a tokio runtime.
    pub fn start(
        log: Arc<EventLog>,
        views: Database,
        projections: Vec<Arc<dyn Projection>>,
        settings: Settings,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let recent = Arc::new(Recent::new(log.clone()));
        let mut workers = BTreeMap::new();
        let mut tasks = Vec::new();
        for projection in projections {
            let (progress, _) = watch::channel(Progress::default());
            let known = Known { projection: projection.clone(), progress: progress.clone() };
            workers.insert(projection.name().to_owned(), known);
            let (recent, stopped) = (recent.clone(), stopped.clone());
            let worker = Worker::new(recent, log.clone(), views.clone(), projection, &settings, progress, stopped);
            tasks.push(tokio::spawn(worker.run()));
        }
        Self { log, recent, views, workers, tasks: Mutex::new(tasks), stop }
    }

    /// The newest events, which this engine reads anyway.
    pub fn recent(&self) -> &Arc<Recent> {
        &self.recent
    }

    /// How far each projection is, on whichever node it is folded.
    pub async fn status(&self) -> Result<Vec<ProjectionStatus>, StoreError> {
        let projections: Vec<_> = self.workers.values().map(|it| it.projection.clone()).collect();
        let mut all = crate::status(&self.log, &self.views, &projections).await?;
        for status in &mut all {
            let Some(worker) = self.workers.get(&status.name) else { continue };
            let progress = worker.progress.borrow();
            let served = progress.served.filter(|it| progress.leads && *it > status.checkpoint);
            if let Some(served) = served {
                // Events that are not for it are noted a little later.
                status.checkpoint = served.min(status.head);
                status.lag_events = status.head - status.checkpoint;
                status.lag_seconds = if status.lag_events == 0 { 0.0 } else { status.lag_seconds };
            }
            if let Some(trouble) = &progress.trouble {
                status.last_error = Some(trouble.to_string());
                // A database that is away comes back; anything else needs somebody to look.
                if !matches!(trouble, StoreError::Unavailable(_)) {
                    status.state = State::Halted;
                }
            }
        }
        Ok(all)
    }

    /// Waits until queries see everything up to a position in all of the named projections: of an empty log, until there
    /// are tables to look at. False when they do not in time, and for a name that is not known.
    pub async fn wait_for(&self, names: &[&str], position: i64, timeout: Duration) -> bool {
        // Mostly they do already, and then there is nothing to wait for.
        let is_there =
            |name: &&str| self.workers.get(*name).is_some_and(|it| it.progress.borrow().has_reached(position));
        if names.iter().all(is_there) {
            return true;
        }
        let all = async {
            for name in names {
                let Some(worker) = self.workers.get(*name) else { return false };
                self.reach(name, &worker.progress, position).await;
            }
            true
        };
        tokio::time::timeout(timeout, all).await.unwrap_or(false)
    }

    /// Where the named projections stand together, if this node folds all of them; whenever rows of one may have changed
    /// it is another number. What is read after asking is at least as new.
    pub fn stand(&self, names: &[&str]) -> Option<i64> {
        let stand = |name: &&str| {
            let progress = self.workers.get(*name)?.progress.borrow();
            progress.leads.then_some(progress.stirred)
        };
        // Each only rises, so their sum stays the same only if all of them do.
        names.iter().map(stand).sum()
    }

    /// Applies a parked stream again with the code of today; see [`parking::retry`].
    pub async fn retry(&self, name: &str, stream: &StreamId) -> Result<Applied, ParkingError> {
        parking::retry(&self.log, &self.views, self.projection(name)?, stream).await
    }

    /// Gives up what a parked stream cannot apply; see [`parking::skip`].
    pub async fn skip(&self, name: &str, stream: &StreamId) -> Result<Applied, ParkingError> {
        parking::skip(&self.log, &self.views, self.projection(name)?, stream).await
    }

    /// Finishes the batches in hand and gives the leases back.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a projection's worker did not end well");
            }
        }
    }

    fn projection(&self, name: &str) -> Result<&Arc<dyn Projection>, ParkingError> {
        let known = self.workers.get(name).ok_or_else(|| ParkingError::UnknownProjection(name.to_owned()))?;
        Ok(&known.projection)
    }

    async fn reach(&self, name: &str, progress: &watch::Sender<Progress>, position: i64) {
        let mut known = progress.subscribe();
        let mut pause = LOOK.0;
        loop {
            let (is_there, leads) = {
                let known = known.borrow_and_update();
                (known.has_reached(position), known.leads)
            };
            if is_there {
                return;
            }
            if leads {
                // The worker of this node says when it has moved.
                if known.changed().await.is_err() {
                    return std::future::pending().await;
                }
                continue;
            }
            // Another node folds. A look that fails is repeated until the caller's patience ends.
            if let Ok(Some(served)) = self.look(name).await {
                progress.send_if_modified(|it| {
                    let moved = !it.leads && it.served != Some(served);
                    it.served = if moved { Some(served) } else { it.served };
                    moved
                });
                if served >= position {
                    return;
                }
            }
            tokio::select! {
                _ = known.changed() => {}
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LOOK.1),
            }
        }
    }

    /// How far what is served is by the registry; `None` while that is of another life of the log.
    async fn look(&self, name: &str) -> Result<Option<i64>, StoreError> {
        let served = registry::served(&self.views, name).await?;
        let head = self.log.head().await?;
        let is_of_this_life = |(epoch, checkpoint): &(i64, i64)| *epoch == head.epoch && *checkpoint <= head.position;
        Ok(served.filter(is_of_this_life).map(|(_, checkpoint)| checkpoint))
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("progress", &*self.progress.borrow()).finish_non_exhaustive()
    }
}
