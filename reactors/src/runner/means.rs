//! What a reactor needs to react, however its reactions follow one another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use commands::{CommandError, Executor};
use projections::{Engine, Fact};
use store::EventLog;
use store::sql::Database;
use tokio::sync::watch;

use crate::{Reaction, Reactor};

/// How long one look at the read models waits before it is tried again.
const CATCH_UP: Duration = Duration::from_secs(5);
/// The pause before a failed reaction is tried again, doubled up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// A reactor, and what it works with.
pub(super) struct Means {
    pub(super) reactor: Arc<dyn Reactor>,
    pub(super) log: Arc<EventLog>,
    pub(super) views: Database,
    pub(super) engine: Arc<Engine>,
    pub(super) executor: Arc<Executor>,
    pub(super) last_error: Arc<Mutex<Option<String>>>,
}

impl Means {
    pub(super) async fn react(&self, fact: &Fact) -> Result<(), CommandError> {
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

    /// Says that it is stuck, and why, or that it is not.
    pub(super) fn note(&self, error: Option<&CommandError>) {
        if let Some(error) = error {
            tracing::warn!(reactor = self.reactor.name(), %error, "a reaction failed and is tried again");
        }
        let failing = if error.is_some() { 1.0 } else { 0.0 };
        metrics::gauge!("muster_reactor_failing", "reactor" => self.reactor.name()).set(failing);
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error.map(ToString::to_string);
    }
}

/// The pauses of one who fails, each longer than the one before.
pub(super) struct Pauses {
    next: Duration,
    stop: watch::Receiver<bool>,
}

impl Pauses {
    pub(super) fn new(stop: &watch::Receiver<bool>) -> Self {
        Self { next: FIRST_PAUSE, stop: stop.clone() }
    }

    /// A pause, but no longer than until the server stops.
    pub(super) async fn pause(&mut self) {
        let _ = tokio::time::timeout(self.next, self.stop.wait_for(|stop| *stop)).await;
        self.next = (self.next * 2).min(LAST_PAUSE);
    }

    pub(super) fn begin_anew(&mut self) {
        self.next = FIRST_PAUSE;
    }
}
