//! How far a reactor has come in the log, and how far it has noted that it has.

use std::sync::Arc;

use store::{EventLog, StoreError};
use tokio::sync::watch;

/// So many events that it does not care about may be looked at again after a crash.
const SAVE_EVERY: i64 = 1_000;

/// A reactor's place in the log.
pub(super) struct Place {
    name: &'static str,
    log: Arc<EventLog>,
    /// Every event up to here has had its reactions.
    pub(super) done: i64,
    /// Behind `done` by events that it does not care about, so that not every commit of the log causes a commit of
    /// every reactor.
    saved: i64,
    is_found: bool,
    seen: watch::Sender<i64>,
}

impl Place {
    pub(super) fn new(name: &'static str, log: &Arc<EventLog>, seen: watch::Sender<i64>) -> Self {
        Self { name, log: Arc::clone(log), done: 0, saved: 0, is_found: false, seen }
    }

    /// Looks up where it left off, once.
    pub(super) async fn find(&mut self) -> Result<(), StoreError> {
        if !self.is_found {
            self.saved = self.log.reactor_checkpoint(self.name).await?;
            self.done = self.saved;
            self.seen.send_replace(self.done);
            self.is_found = true;
        }
        Ok(())
    }

    /// Moves past events that it does not care about, and notes it now and then.
    pub(super) async fn pass(&mut self, position: i64) -> Result<(), StoreError> {
        self.done = self.done.max(position);
        if self.done - self.saved >= SAVE_EVERY {
            self.save(self.done).await?;
        }
        self.seen.send_replace(self.done);
        Ok(())
    }

    /// Notes how far it has come, unless another node is further: then goes on from there.
    pub(super) async fn save(&mut self, position: i64) -> Result<(), StoreError> {
        if position > self.saved {
            let moved = self.log.move_reactor_checkpoint(self.name, self.saved, position).await?;
            self.saved = if moved { position } else { self.log.reactor_checkpoint(self.name).await? };
        }
        self.done = self.done.max(self.saved);
        self.seen.send_replace(self.done);
        Ok(())
    }
}
