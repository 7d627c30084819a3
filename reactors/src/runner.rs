//! Feeds every reactor every event and remembers how far each has come.

mod in_order;
mod lanes;
mod means;
mod place;
mod side_by_side;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use commands::{CommandError, Executor};
use projections::{Engine, Fact, Told};
use store::EventLog;
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::in_order::InOrder;
use self::means::Means;
use self::place::Place;
use self::side_by_side::SideBySide;
use crate::Reactor;

/// Events read at a time.
const PAGE: usize = 500;

/// How far a reactor is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReactorStatus {
    /// Which one.
    pub name: &'static str,
    /// Every event up to here has had its reactions.
    pub checkpoint: i64,
    /// Why it is stuck, if it is.
    pub last_error: Option<String>,
}

/// The reactors at work.
pub struct Runner {
    running: Vec<Running>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    stop: watch::Sender<bool>,
}

struct Running {
    name: &'static str,
    checkpoint: watch::Receiver<i64>,
    last_error: Arc<Mutex<Option<String>>>,
}

impl Runner {
    /// Starts all reactors where they left off.
    pub fn start(
        reactors: Vec<Arc<dyn Reactor>>,
        executor: Arc<Executor>,
        views: Database,
        engine: Arc<Engine>,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (running, tasks) = reactors
            .into_iter()
            .map(|reactor| {
                let (checkpoint, checkpoint_seen) = watch::channel(0);
                let last_error = Arc::new(Mutex::new(None));
                let (name, lanes) = (reactor.name(), reactor.lanes());
                let means = Arc::new(Means {
                    reactor,
                    log: Arc::clone(executor.log()),
                    views: views.clone(),
                    engine: Arc::clone(&engine),
                    executor: Arc::clone(&executor),
                    last_error: Arc::clone(&last_error),
                });
                let (place, stop) = (Place::new(name, executor.log(), checkpoint), stopped.clone());
                let task = match lanes {
                    None => tokio::spawn(InOrder { means, place, stop }.work()),
                    Some(lane_of) => tokio::spawn(SideBySide::new(means, place, stop, lane_of).work()),
                };
                (Running { name, checkpoint: checkpoint_seen, last_error }, task)
            })
            .unzip();
        Self { running, tasks: Mutex::new(tasks), stop }
    }

    /// How far each reactor is.
    pub fn status(&self) -> Vec<ReactorStatus> {
        let error = |it: &Running| it.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.running
            .iter()
            .map(|it| ReactorStatus { name: it.name, checkpoint: *it.checkpoint.borrow(), last_error: error(it) })
            .collect()
    }

    /// Waits until a reactor has dealt with everything up to a position; false when time runs out first.
    pub async fn wait_for(&self, name: &str, position: i64, timeout: Duration) -> bool {
        let Some(running) = self.running.iter().find(|it| it.name == name) else { return false };
        let mut checkpoint = running.checkpoint.clone();
        let reached = checkpoint.wait_for(|at| *at >= position);
        matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)))
    }

    /// Stops after what is in hand.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            let _ = task.await;
        }
    }
}

/// An event that cannot be read stops the reactor, on record: what follows from it must not be lost, and a newer muster
/// on another node may well read it.
fn read(told: &Told) -> Result<&Fact, CommandError> {
    (**told).as_ref().map_err(|poison| CommandError::Fault(poison.to_string()))
}

/// Waits until there are events after a position, or until the server stops.
async fn wait_for_news(
    log: &EventLog,
    position: i64,
    stop: &watch::Receiver<bool>,
) -> Result<(), watch::error::RecvError> {
    let (mut head, mut stop) = (log.subscribe(), stop.clone());
    tokio::select! {
        news = head.wait_for(|head| *head > position) => news.map(drop),
        stopped = stop.wait_for(|stop| *stop) => stopped.map(drop),
    }
}
