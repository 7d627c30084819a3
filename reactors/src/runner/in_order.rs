//! Reactions one after the other, in the order of the log.

use std::sync::Arc;

use commands::CommandError;
use tokio::sync::watch;

use super::means::{Means, Pauses};
use super::place::Place;
use super::{PAGE, read, wait_for_news};

/// A reactor that reacts to one event at a time.
pub(super) struct InOrder {
    pub(super) means: Arc<Means>,
    pub(super) place: Place,
    pub(super) stop: watch::Receiver<bool>,
}

impl InOrder {
    pub(super) async fn work(mut self) {
        let mut pauses = Pauses::new(&self.stop);
        while !*self.stop.borrow() {
            match self.catch_up().await {
                Ok(()) => {
                    pauses.begin_anew();
                    self.means.note(None);
                    if wait_for_news(&self.means.log, self.place.done, &self.stop).await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    self.means.note(Some(&error));
                    pauses.pause().await;
                }
            }
        }
        // Saves the next start a look at what it does not care about; no harm if it fails.
        let _ = self.place.save(self.place.done).await;
    }

    /// Returns once there are no more events, or on shutdown.
    async fn catch_up(&mut self) -> Result<(), CommandError> {
        self.place.find().await?;
        while self.place.done < self.means.log.known_head() {
            let told = self.means.engine.recent().after(self.place.done, PAGE).await?;
            if told.is_empty() {
                break;
            }
            for it in told {
                if *self.stop.borrow() {
                    return Ok(());
                }
                let fact = read(&it)?;
                if fact.position <= self.place.done {
                    // Another node was here before.
                    continue;
                }
                if self.means.reactor.cares_about(fact) {
                    self.means.react(fact).await?;
                    self.place.save(fact.position).await?;
                }
                self.place.done = self.place.done.max(fact.position);
            }
            self.place.pass(self.place.done).await?;
        }
        Ok(())
    }
}
