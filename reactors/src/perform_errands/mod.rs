//! Does what was ordered outside, on the bench of this node: one file per kind of work.
//!
//! Errands come from their read model, so that a restart takes every open one up again. An effect may happen twice
//! and does no harm; what follows from it is recorded in one commit, once. Nothing is begun but while this node holds
//! the bench.

mod hands;
mod lanes;
mod launch;
mod merge;
mod merge_epic;
mod open_epic_pull_request;
mod open_pull_request;
mod rebase;
mod resting;
mod stop;
mod trouble;
mod unrecorded;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use commands::{CommandError, Executor};
use domain::errand::Work;
use domain::post::Post;
use domain::task::Task;
use domain::{AgentId, ErrandId, TaskId};
use projections::errands::{self, ErrandView};
use projections::{Engine, projects, workspaces};
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinHandle, JoinSet};
use tokio::time::Instant;
use uuid::Uuid;

use crate::bench::{Bench, state_of};
use hands::Hands;
pub use hands::{FreshKey, KeyMaker};
use resting::Resting;

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
    leave: watch::Sender<bool>,
    tasks: Mutex<Option<(JoinHandle<()>, JoinHandle<()>)>>,
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
    /// Takes up every open errand of the bench, and every later one, as soon and as long as this node holds the bench.
    pub fn start(shop: Shop) -> Self {
        let ((stop, stopped), (leave, left)) = (watch::channel(false), watch::channel(false));
        let log = Arc::clone(shop.executor.log());
        let tenure = tokio::spawn(Arc::clone(&shop.bench).keep(log, left));
        let work = tokio::spawn(Foreman::new(shop).work(stopped));
        Self { stop, leave, tasks: Mutex::new(Some((work, tenure))) }
    }

    /// Stops after what is in hand, and gives the bench back.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((work, tenure)) = tasks {
            let _ = work.await;
            self.leave.send_replace(true);
            let _ = tenure.await;
        }
    }
}

/// Decides what is done next.
struct Foreman {
    shop: Shop,
    /// Where agents sit; that never changes.
    seats: HashMap<AgentId, Uuid>,
    /// Which epics tasks are in; that never changes either.
    epics: HashMap<TaskId, Uuid>,
    jobs: JoinSet<bool>,
    /// What each job is about, and the lanes that it keeps busy.
    under_way: HashMap<task::Id, (ErrandId, Vec<Uuid>)>,
    resting: Resting,
}

impl Foreman {
    fn new(shop: Shop) -> Self {
        let (jobs, under_way, resting) = (JoinSet::new(), HashMap::new(), Resting::default());
        Self { shop, seats: HashMap::new(), epics: HashMap::new(), jobs, under_way, resting }
    }

    async fn work(mut self, mut stop: watch::Receiver<bool>) {
        let mut head = self.shop.executor.log().subscribe();
        while !*stop.borrow() {
            tokio::select! {
                () = self.shop.bench.held() => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
            head.mark_unchanged();
            let next = match self.begin_what_can().await {
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
                Some(done) = self.jobs.join_next_with_id() => self.ended(done),
                () = retry => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
        while self.jobs.join_next().await.is_some() {}
    }

    /// Makes room for what comes next. Whatever could not be recorded is still open, and rests.
    fn ended(&mut self, done: Result<(task::Id, bool), JoinError>) {
        let (job, is_recorded) = match done {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "an errand ended in a panic");
                (error.id(), false)
            }
        };
        let Some((errand, _)) = self.under_way.remove(&job) else { return };
        if is_recorded {
            self.resting.end(errand);
        } else {
            self.resting.begin(errand, Instant::now());
        }
    }

    /// Begins what can begin now; says how long until the next try of something that failed.
    async fn begin_what_can(&mut self) -> Result<Option<Duration>, CommandError> {
        while let Some(done) = self.jobs.try_join_next_with_id() {
            self.ended(done);
        }
        let log = Arc::clone(self.shop.executor.log());
        let position = log.head().await?.position;
        // Also the end of what was in hand: nothing is begun again that is over.
        let reads = [errands::NAME, projects::NAME, workspaces::NAME];
        if !self.shop.engine.wait_for(&reads, position, CATCH_UP).await {
            return Err(CommandError::Unavailable(format!("read models have not reached {position}")));
        }
        let now = log.clock().now();
        let open = errands::open_on(&self.shop.views, self.shop.bench.name(), ALL_OF_IT, PAGE).await?;
        self.resting.keep(&open.iter().map(|it| it.id).collect());
        let (mut queue, mut is_all) = (Vec::with_capacity(open.len()), true);
        for errand in open {
            match self.lanes(&errand).await {
                Ok(lanes) => queue.push((lanes, errand)),
                // The others need not wait for it.
                Err(error) => {
                    is_all = false;
                    if self.resting.left(errand.id, Instant::now()).is_none() {
                        tracing::warn!(errand = %errand.id, %error, "nobody knows what an errand is about");
                        self.resting.begin(errand.id, Instant::now());
                    }
                }
            }
        }
        // Both are ordered in one commit; the dead one goes first.
        queue.sort_by_key(|(_, errand)| !matches!(errand.work, Work::Stop { .. }));
        let waiting: Vec<lanes::Waiting> = queue
            .iter()
            .map(|((lane, _), it)| lanes::Waiting {
                errand: it.id,
                lane: *lane,
                until: self.rests_until(it, now),
                // Done before a merge that waits, it would have to be done again after it.
                gives_way: matches!(it.work, Work::Rebase { .. }),
            })
            .collect();
        let busy: HashSet<Uuid> = self.under_way.values().flat_map(|(_, lanes)| lanes).copied().collect();
        let room = self.shop.bench.settings().side_by_side.saturating_sub(self.under_way.len());
        let chosen = lanes::choose(&waiting, &busy, room);
        if !self.shop.bench.is_held() {
            // It was lost while all this was looked up.
            return Ok(Some(PAUSE));
        }
        for ((lane, also), errand) in queue.into_iter().filter(|(_, it)| chosen.begin.contains(&it.id)) {
            let (id, hands) = (errand.id, Hands::new(self.shop.clone()));
            let job = self.jobs.spawn(async move { hands.perform(errand).await });
            self.under_way.insert(job.id(), (id, [lane].into_iter().chain(also).collect()));
        }
        let next = chosen.next.map(|at| (at - now).to_std().unwrap_or_default());
        Ok(if is_all { next } else { Some(next.map_or(PAUSE, |it| it.min(PAUSE))) })
    }

    /// When an errand may be tried again, if that is not yet: as the log has it, or longer if it rests.
    fn rests_until(&self, errand: &ErrandView, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let rest = self
            .resting
            .left(errand.id, Instant::now())
            .and_then(|it| now.checked_add_signed(TimeDelta::from_std(it).ok()?));
        errand.retry_at.filter(|at| *at > now).max(rest)
    }

    /// What an errand is about, and what else waits while it is done. Errands about the same are done in their order: an
    /// agent is stopped before its successor begins in the same worktree. A merge that was called off may still be in
    /// hand; a supervisor begins in its epic's worktree when that is over.
    async fn lanes(&mut self, errand: &ErrandView) -> Result<(Uuid, Option<Uuid>), CommandError> {
        Ok(match &errand.work {
            Work::Launch { agent_id } | Work::Stop { agent_id, .. } => (self.seat(*agent_id).await?, None),
            Work::Merge { task_id } => (task_id.0, self.epic(*task_id).await?),
            Work::OpenPullRequest { task_id, .. } | Work::Rebase { task_id } => (task_id.0, None),
            Work::OpenEpicPullRequest { epic_id, .. } | Work::MergeEpic { epic_id, .. } => (epic_id.0, None),
        })
    }

    async fn seat(&mut self, agent: AgentId) -> Result<Uuid, CommandError> {
        if let Some(seat) = self.seats.get(&agent) {
            return Ok(*seat);
        }
        let post: Post = state_of(self.shop.executor.log(), agent.0).await?;
        let seat = post.live().map_or(agent.0, |it| it.seat);
        self.seats.insert(agent, seat);
        Ok(seat)
    }

    /// The epic that a task is in, which is also where its supervisors sit.
    async fn epic(&mut self, task: TaskId) -> Result<Option<Uuid>, CommandError> {
        if let Some(epic) = self.epics.get(&task) {
            return Ok(Some(*epic));
        }
        let state: Task = state_of(self.shop.executor.log(), task.0).await?;
        let epic = state.live().ok().and_then(|it| it.factory.as_ref()).map(|it| it.epic_id.0);
        self.epics.extend(epic.map(|it| (task, it)));
        Ok(epic)
    }
}
