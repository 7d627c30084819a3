//! Pasts that were asked for: built once, kept for whoever pages through them, bounded in count, bytes, time and work.
//!
//! What it costs: the events of the workspaces up to the moment are read and folded, once for each set of read models;
//! after that a past answers like a small database. Two moments with nothing of the workspaces between them are one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::WorkspaceId;
use projections::past::{self, OfWorkspaces, PastError};
use projections::{Projection, lineage};
use store::sql::Database;
use store::{EventLog, StoreError};
use tokio::sync::{OnceCell, Semaphore};

use crate::App;
use crate::code::Code;
use crate::error::ApiError;

/// Pasts that are kept, and bytes of all of them: one that is larger is kept until the next.
const MOST: usize = 16;
const MOST_BYTES: i64 = 256 * 1024 * 1024;
/// How long one is kept: what was erased since must not stay for ever, nor memory be held for nobody.
const KEPT: Duration = Duration::from_secs(5 * 60);
/// Pasts that are built at the same time.
const AT_ONCE: usize = 2;

/// Pasts that were asked for.
#[derive(Clone)]
pub(crate) struct Pasts {
    /// The one that was asked for last comes last.
    kept: Arc<Mutex<Vec<Kept>>>,
    turns: Arc<Semaphore>,
}

/// Which past it is. The number of events of the workspaces says up to which they count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    workspaces: Vec<WorkspaceId>,
    events: i64,
    read_models: Vec<&'static str>,
}

struct Kept {
    key: Key,
    since: Instant,
    past: Arc<OnceCell<Past>>,
}

#[derive(Clone)]
struct Past {
    views: Database,
    bytes: i64,
}

impl Default for Pasts {
    fn default() -> Self {
        Self { kept: Arc::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Pasts {
    /// Read models of some workspaces as they were at a position.
    pub(super) async fn of(
        &self,
        app: &App,
        workspaces: Vec<WorkspaceId>,
        position: i64,
        read_models: &[&'static str],
    ) -> Result<Database, ApiError> {
        let events = lineage::count_of(&app.views, &workspaces, position).await?;
        let most = app.settings.as_of_events;
        if events > most {
            let text = format!(
                "the answer takes {events} events, and at most {most} are read for one: \
                 `muster serve --as-of {position}` serves that moment whole"
            );
            return Err(ApiError::new(Code::PastTooLong, text));
        }
        let mut read_models = read_models.to_vec();
        read_models.sort_unstable();
        let past = self.place(Key { workspaces: workspaces.clone(), events, read_models: read_models.clone() });
        if let Some(known) = past.get() {
            return Ok(known.views.clone());
        }
        let (pasts, log, served) = (self.clone(), app.log.clone(), app.views.clone());
        // In a task of its own: a client whose time runs out finds it when it asks again.
        let built = tokio::spawn(async move {
            let build = || pasts.build(log, served, workspaces, position, &read_models);
            let built = past.get_or_try_init(build).await.cloned();
            pasts.make_room();
            built
        });
        match built.await.map_err(ApiError::fault)? {
            Ok(past) => Ok(past.views),
            Err(PastError::Store(error)) => Err(error.into()),
            Err(error @ PastError::Poison(_)) => Err(ApiError::fault(error)),
        }
    }

    /// Forgets every past. One that is being built is not found by whoever asks from now on.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    async fn build(
        &self,
        log: Arc<EventLog>,
        served: Database,
        workspaces: Vec<WorkspaceId>,
        position: i64,
        read_models: &[&'static str],
    ) -> Result<Past, PastError> {
        let _turn = self.turns.acquire().await.map_err(|e| StoreError::Failed(e.to_string()))?;
        let views = store::scratch_views(None).await?;
        let wanted: Vec<Arc<dyn Projection>> =
            projections::all().into_iter().filter(|it| read_models.contains(&it.name())).collect();
        let pages = OfWorkspaces::up_to(log, served.clone(), workspaces, position);
        past::build(pages, &wanted, &views, Some(&served), |_| {}).await?;
        let bytes = past::size_of(&views).await?;
        Ok(Past { views, bytes })
    }

    /// Where a past is or is to be.
    fn place(&self, key: Key) -> Arc<OnceCell<Past>> {
        let mut kept = self.lock();
        kept.retain(|it| it.since.elapsed() < KEPT);
        let known = kept.iter().position(|it| it.key == key).map(|at| kept.remove(at));
        let last = known.unwrap_or_else(|| Kept { key, since: Instant::now(), past: Arc::default() });
        let past = last.past.clone();
        kept.push(last);
        if kept.len() > MOST {
            kept.remove(0);
        }
        past
    }

    /// Forgets the pasts that nobody has asked for the longest, until the others fit.
    fn make_room(&self) {
        let mut kept = self.lock();
        let bytes = |it: &Kept| it.past.get().map_or(0, |past| past.bytes);
        while kept.len() > 1 && kept.iter().map(bytes).sum::<i64>() > MOST_BYTES {
            kept.remove(0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        // No code that can panic runs under this lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(events: i64) -> Key {
        Key { workspaces: vec![], events, read_models: vec!["tasks"] }
    }

    async fn built(pasts: &Pasts, events: i64, bytes: i64) {
        let views = Database::in_memory().expect("memory");
        pasts.place(key(events)).set(Past { views, bytes }).ok().expect("it is built once");
        pasts.make_room();
    }

    fn kept(pasts: &Pasts) -> Vec<i64> {
        pasts.lock().iter().map(|it| it.key.events).collect()
    }

    #[tokio::test]
    async fn the_pasts_that_nobody_asked_for_the_longest_are_forgotten_first() {
        let pasts = Pasts::default();
        for events in 0..MOST as i64 {
            built(&pasts, events, 1).await;
        }
        assert!(pasts.place(key(0)).get().is_some(), "it is still there, and was asked for last");
        built(&pasts, 100, 1).await;
        assert_eq!(kept(&pasts).len(), MOST);
        assert!(!kept(&pasts).contains(&1) && kept(&pasts).contains(&0));
    }

    #[tokio::test]
    async fn only_so_many_bytes_are_kept_but_always_the_last_past() {
        let pasts = Pasts::default();
        built(&pasts, 1, MOST_BYTES / 2).await;
        built(&pasts, 2, MOST_BYTES / 2).await;
        assert_eq!(kept(&pasts), [1, 2]);
        built(&pasts, 3, MOST_BYTES + 1).await;
        assert_eq!(kept(&pasts), [3]);
    }
}
