//! Feeds every reactor every event, in order, and remembers how far each has come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use commands::{CommandError, Executor};
use projections::{Engine, Fact};
use store::sql::Database;
use store::{EventLog, StoreError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Reaction, Reactor};

/// Events read at a time.
const PAGE: usize = 500;
/// So many events that it does not care about may be looked at again after a crash.
const SAVE_EVERY: i64 = 1_000;
/// How long one look at the read models waits before it is tried again.
const CATCH_UP: Duration = Duration::from_secs(5);
/// The pause before a failed reaction is tried again, doubled up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);

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

struct Worker {
    reactor: Arc<dyn Reactor>,
    log: Arc<EventLog>,
    views: Database,
    engine: Arc<Engine>,
    executor: Arc<Executor>,
    /// How far it has come.
    done: i64,
    /// How far it has noted that it has come; behind `done` by events it does not care about, so that not every
    /// commit of the log causes a commit of every reactor.
    saved: i64,
    checkpoint: watch::Sender<i64>,
    last_error: Arc<Mutex<Option<String>>>,
    stop: watch::Receiver<bool>,
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
                let name = reactor.name();
                let worker = Worker {
                    reactor,
                    log: Arc::clone(executor.log()),
                    views: views.clone(),
                    engine: Arc::clone(&engine),
                    executor: Arc::clone(&executor),
                    done: 0,
                    saved: 0,
                    checkpoint,
                    last_error: Arc::clone(&last_error),
                    stop: stopped.clone(),
                };
                (Running { name, checkpoint: checkpoint_seen, last_error }, tokio::spawn(worker.work()))
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

    /// Stops after the event in hand.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            let _ = task.await;
        }
    }
}

impl Worker {
    async fn work(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut found = false;
        while !*self.stop.borrow() {
            let worked = async {
                if !found {
                    self.saved = self.log.reactor_checkpoint(self.reactor.name()).await?;
                    self.done = self.saved;
                    self.checkpoint.send_replace(self.done);
                    found = true;
                }
                self.catch_up().await
            };
            match worked.await {
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    self.note(None);
                    if self.wait_for_news().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(reactor = self.reactor.name(), %error, "a reaction failed and is tried again");
                    self.note(Some(error.to_string()));
                    let mut stop = self.stop.clone();
                    // A pause, but no longer than until the server stops.
                    let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                }
            }
        }
        // Saves the next start a look at what it does not care about; no harm if it fails.
        let _ = self.save(self.done).await;
    }

    /// Returns once there are no more events, or on shutdown.
    async fn catch_up(&mut self) -> Result<(), CommandError> {
        loop {
            let events = self.log.read_all(self.done, PAGE).await?;
            if events.is_empty() {
                return Ok(());
            }
            for event in events {
                if *self.stop.borrow() {
                    return Ok(());
                }
                if event.position <= self.done {
                    // Another node was here before.
                    continue;
                }
                // An event that cannot be read stops the reactor, on record: what follows from it must not be lost,
                // and a newer muster on another node may well read it.
                let fact = Fact::read(event).map_err(|poison| CommandError::Fault(poison.to_string()))?;
                if self.reactor.cares_about(&fact) {
                    self.react(&fact).await?;
                    self.save(fact.position).await?;
                }
                self.done = self.done.max(fact.position);
            }
            if self.done - self.saved >= SAVE_EVERY {
                self.save(self.done).await?;
            }
            self.checkpoint.send_replace(self.done);
        }
    }

    async fn react(&self, fact: &Fact) -> Result<(), CommandError> {
        if !self.engine.wait_for(self.reactor.reads(), fact.position, CATCH_UP).await {
            return Err(CommandError::Unavailable(format!("read models have not reached {}", fact.position)));
        }
        let reaction = Reaction { reactor: self.reactor.name(), fact, views: &self.views, executor: &self.executor };
        match self.reactor.react(reaction).await {
            // A rule that says no is an answer, and it will say no again.
            Err(CommandError::Refused(refusal)) => {
                tracing::info!(reactor = self.reactor.name(), position = fact.position, %refusal, "a reaction was refused");
                Ok(())
            }
            ended => ended,
        }
    }

    /// Notes how far it has come, unless another node is further: then goes on from there.
    async fn save(&mut self, position: i64) -> Result<(), StoreError> {
        if position > self.saved {
            let moved = self.log.move_reactor_checkpoint(self.reactor.name(), self.saved, position).await?;
            self.saved = if moved { position } else { self.log.reactor_checkpoint(self.reactor.name()).await? };
        }
        self.done = self.done.max(self.saved);
        self.checkpoint.send_replace(self.done);
        Ok(())
    }

    async fn wait_for_news(&mut self) -> Result<(), watch::error::RecvError> {
        let mut head = self.log.subscribe();
        let done = self.done;
        let mut stop = self.stop.clone();
        tokio::select! {
            news = head.wait_for(|head| *head > done) => news.map(drop),
            stopped = stop.wait_for(|stop| *stop) => stopped.map(drop),
        }
    }

    fn note(&self, error: Option<String>) {
        let failing = if error.is_some() { 1.0 } else { 0.0 };
        metrics::gauge!("muster_reactor_failing", "reactor" => self.reactor.name()).set(failing);
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}
