//! Reactions in lanes: in the order of the log within a lane, side by side in different ones.
//!
//! For what is done in the world outside, where one that is slow must not hold up the others. The reactor's place in
//! the log is before whatever is not done; what comes after it and was done is met again after a restart, and does
//! nothing twice.

use std::sync::Arc;

use commands::CommandError;
use projections::Fact;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use uuid::Uuid;

use super::lanes::Lanes;
use super::means::{Means, Pauses};
use super::place::Place;
use super::{PAGE, read, wait_for_news};
use crate::LaneOf;

/// Lanes that have a reaction under way at the same time.
const AT_A_TIME: usize = 32;

/// A reactor that reacts to events of different lanes at the same time.
pub(super) struct SideBySide {
    means: Arc<Means>,
    place: Place,
    stop: watch::Receiver<bool>,
    lane_of: LaneOf,
    lanes: Lanes,
    /// Every event up to here is done, under way, or waits in its lane.
    read: i64,
    under_way: JoinSet<Ended>,
    /// Whether something is done that is not noted yet.
    is_further: bool,
}

/// A reaction that is over.
struct Ended {
    lane: Uuid,
    position: i64,
    /// Not if it was given up because the server stops.
    is_done: bool,
}

impl SideBySide {
    pub(super) fn new(means: Arc<Means>, place: Place, stop: watch::Receiver<bool>, lane_of: LaneOf) -> Self {
        let (lanes, under_way) = (Lanes::default(), JoinSet::new());
        Self { means, place, stop, lane_of, lanes, read: 0, under_way, is_further: false }
    }

    pub(super) async fn work(mut self) {
        let mut pauses = Pauses::new(&self.stop);
        let mut is_failing = true;
        while !*self.stop.borrow() {
            match self.catch_up().await {
                Ok(()) => {
                    pauses.begin_anew();
                    if std::mem::take(&mut is_failing) {
                        self.means.note(None);
                    }
                    if self.wait().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    is_failing = true;
                    self.means.note(Some(&error));
                    pauses.pause().await;
                }
            }
        }
        // What is under way comes to its end. What waits is met again at the next start.
        while let Some(ended) = self.under_way.join_next().await {
            self.end(ended);
        }
        let _ = self.place.save(self.done()).await;
    }

    /// Returns once there are no more events to queue up, or on shutdown.
    async fn catch_up(&mut self) -> Result<(), CommandError> {
        self.place.find().await?;
        self.go_on().await?;
        while self.read < self.means.log.known_head() && !*self.stop.borrow() {
            let told = self.means.engine.recent().after(self.read, PAGE).await?;
            if told.is_empty() {
                break;
            }
            for it in told {
                let fact = read(&it)?;
                if self.means.reactor.cares_about(fact) {
                    self.lanes.queue((self.lane_of)(fact), fact.position);
                }
                self.read = fact.position;
            }
            self.go_on().await?;
        }
        Ok(())
    }

    /// Begins what has its turn, and notes how far it has come.
    async fn go_on(&mut self) -> Result<(), CommandError> {
        while let Some(ended) = self.under_way.try_join_next() {
            self.end(ended);
        }
        while self.under_way.len() < AT_A_TIME {
            let Some((lane, position)) = self.lanes.begin() else { break };
            self.under_way.spawn(react(Arc::clone(&self.means), self.stop.clone(), lane, position));
        }
        if self.is_further {
            self.place.save(self.done()).await?;
            self.is_further = false;
        }
        self.place.pass(self.done()).await?;
        // Another node may have been further.
        self.read = self.read.max(self.place.done);
        Ok(())
    }

    /// Waits until there are more events, or until something that was under way is done.
    async fn wait(&mut self) -> Result<(), watch::error::RecvError> {
        tokio::select! {
            Some(ended) = self.under_way.join_next() => {
                self.end(ended);
                Ok(())
            }
            news = wait_for_news(&self.means.log, self.read, &self.stop) => news,
        }
    }

    fn end(&mut self, ended: Result<Ended, JoinError>) {
        match ended {
            Ok(Ended { lane, position, is_done: true }) => {
                self.lanes.end(lane, position);
                self.is_further = true;
            }
            Ok(Ended { is_done: false, .. }) => {}
            Err(error) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }

    /// Every event up to here has had its reactions.
    fn done(&self) -> i64 {
        self.lanes.oldest().map_or(self.read, |it| it - 1)
    }
}

/// Reacts to one event, again and again until that succeeds or the server stops.
async fn react(means: Arc<Means>, stop: watch::Receiver<bool>, lane: Uuid, position: i64) -> Ended {
    let mut pauses = Pauses::new(&stop);
    let mut has_failed = false;
    loop {
        match react_once(&means, position).await {
            Ok(()) => {
                if has_failed {
                    means.note(None);
                }
                return Ended { lane, position, is_done: true };
            }
            Err(_) if *stop.borrow() => return Ended { lane, position, is_done: false },
            Err(error) => {
                has_failed = true;
                means.note(Some(&error));
                pauses.pause().await;
            }
        }
    }
}

async fn react_once(means: &Means, position: i64) -> Result<(), CommandError> {
    let found = means.log.read_all(position - 1, 1).await?.pop();
    let event = found.ok_or_else(|| CommandError::Fault(format!("there is no event at {position}")))?;
    let fact = Fact::read(event).map_err(|poison| CommandError::Fault(poison.to_string()))?;
    means.react(&fact).await
}
