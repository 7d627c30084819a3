//! Does what was ordered outside, on the bench of this node: one file per kind of work.
//!
//! Errands come from their read model, so that a restart takes every open one up again. An effect may happen twice
//! and does no harm; what follows from it is recorded in one commit, once.

mod hands;
mod lanes;
mod launch;
mod merge;
mod merge_epic;
mod open_epic_pull_request;
mod open_pull_request;
mod rebase;
mod stop;
mod trouble;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::{CommandError, Executor};
use domain::errand::Work;
use domain::post::Post;
use domain::{AgentId, ErrandId};
use projections::errands::{self, ErrandView};
use projections::{Engine, projects, workspaces};
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use uuid::Uuid;

use crate::bench::{Bench, state_of};
use hands::Hands;
pub use hands::{FreshKey, KeyMaker};

/// Open errands looked at in one go.
const PAGE: i64 = 1_000;
/// The shortest time between two looks, however busy the log is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// How long a look waits for the read models.
const CATCH_UP: Duration = Duration::from_secs(5);
/// After a look that failed.
const PAUSE: Duration = Duration::from_secs(1);
/// Far enough to see also what waits for its next try.
const ALL_OF_IT: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;

/// A bench at work.
pub struct Performer {
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// What the bench works with.
#[derive(Clone)]
pub struct Shop {
    /// The bench.
    pub bench: Arc<Bench>,
    /// Runs commands.
    pub executor: Arc<Executor>,
    /// The read models.
    pub views: Database,
    /// Keeps them current.
    pub engine: Arc<Engine>,
    /// Makes keys for agents that are launched.
    pub keys: KeyMaker,
}

impl Performer {
    /// Takes up every open errand of the bench, and every later one.
    pub fn start(shop: Shop) -> Self {
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(Foreman { shop, seats: HashMap::new() }.work(stopped));
        Self { stop, task: Mutex::new(Some(task)) }
    }

    /// Stops after what is in hand.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

/// Decides what is done next.
struct Foreman {
    shop: Shop,
    /// Where agents sit; that never changes.
    seats: HashMap<AgentId, Uuid>,
}

impl Foreman {
    async fn work(mut self, mut stop: watch::Receiver<bool>) {
        let mut head = self.shop.executor.log().subscribe();
        let mut jobs: JoinSet<ErrandId> = JoinSet::new();
        let mut under_way: HashMap<ErrandId, Uuid> = HashMap::new();
        while !*stop.borrow() {
            head.mark_unchanged();
            let next = match self.begin_what_can(&mut jobs, &mut under_way).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(bench = %self.shop.bench.name(), %error, "open errands cannot be looked at");
                    Some(PAUSE)
                }
            };
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let retry = async {
                match next {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = head.changed() => {}
                Some(done) = jobs.join_next() => {
                    if let Ok(errand) = done {
                        under_way.remove(&errand);
                    } else {
                        // A panic is a fault of ours; the errand is still open.
                        tracing::error!("an errand ended in a panic");
                        under_way.clear();
                    }
                }
                () = retry => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
        while jobs.join_next().await.is_some() {}
    }

    /// Begins what can begin now; says how long until the next try of something that failed.
    async fn begin_what_can(
        &mut self,
        jobs: &mut JoinSet<ErrandId>,
        under_way: &mut HashMap<ErrandId, Uuid>,
    ) -> Result<Option<Duration>, CommandError> {
        while let Some(done) = jobs.try_join_next() {
            if let Ok(errand) = done {
                under_way.remove(&errand);
            }
        }
        let log = self.shop.executor.log();
        let position = log.head().await?.position;
        // Also the end of what was in hand: nothing is begun again that is over.
        let reads = [errands::NAME, projects::NAME, workspaces::NAME];
        if !self.shop.engine.wait_for(&reads, position, CATCH_UP).await {
            return Err(CommandError::Unavailable(format!("read models have not reached {position}")));
        }
        let now = log.clock().now();
        let open = errands::open_on(&self.shop.views, self.shop.bench.name(), ALL_OF_IT, PAGE).await?;
        let mut queue = Vec::with_capacity(open.len());
        for errand in open {
            let lane = self.lane(&errand).await?;
            queue.push((lane, errand));
        }
        // Both are ordered in one commit; the dead one goes first.
        queue.sort_by_key(|(_, errand)| !matches!(errand.work, Work::Stop { .. }));
        let waiting: Vec<lanes::Waiting> = queue
            .iter()
            .map(|(lane, it)| lanes::Waiting { errand: it.id, lane: *lane, until: it.retry_at.filter(|at| *at > now) })
            .collect();
        let busy: HashSet<Uuid> = under_way.values().copied().collect();
        let room = self.shop.bench.settings().side_by_side.saturating_sub(under_way.len());
        let chosen = lanes::choose(&waiting, &busy, room);
        for (lane, errand) in queue.into_iter().filter(|(_, it)| chosen.begin.contains(&it.id)) {
            under_way.insert(errand.id, lane);
            let hands = Hands::new(self.shop.clone());
            jobs.spawn(async move {
                let id = errand.id;
                hands.perform(errand).await;
                id
            });
        }
        Ok(chosen.next.map(|at| (at - now).to_std().unwrap_or_default()))
    }

    /// What an errand is about. Errands about the same are done in their order: an agent is stopped before its
    /// successor begins in the same worktree.
    async fn lane(&mut self, errand: &ErrandView) -> Result<Uuid, CommandError> {
        match &errand.work {
            Work::Launch { agent_id } | Work::Stop { agent_id, .. } => {
                if let Some(seat) = self.seats.get(agent_id) {
                    return Ok(*seat);
                }
                let post: Post = state_of(self.shop.executor.log(), agent_id.0).await?;
                let seat = post.live().map_or(agent_id.0, |it| it.seat);
                self.seats.insert(*agent_id, seat);
                Ok(seat)
            }
            Work::OpenPullRequest { task_id, .. } | Work::Merge { task_id } | Work::Rebase { task_id } => Ok(task_id.0),
            Work::OpenEpicPullRequest { epic_id, .. } | Work::MergeEpic { epic_id, .. } => Ok(epic_id.0),
        }
    }
}
