//! What is being done right now: keys in flight, and streams that commands queue for.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use store::{CommandKey, StreamId};
use tokio::sync::OwnedMutexGuard;

/// The keys of commands that are being run on this node.
#[derive(Default)]
pub(crate) struct Flights(Arc<Mutex<HashSet<CommandKey>>>);

/// One key in flight; landing is dropping it.
pub(crate) struct Flight {
    key: CommandKey,
    flights: Arc<Mutex<HashSet<CommandKey>>>,
}

impl Flights {
    /// Takes off, unless a command with the same key is in the air.
    pub(crate) fn take_off(&self, key: &CommandKey) -> Option<Flight> {
        let taken_off = lock(&self.0).insert(key.clone());
        taken_off.then(|| Flight { key: key.clone(), flights: self.0.clone() })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        lock(&self.flights).remove(&self.key);
    }
}

/// A queue per contended stream, so that commands on it take turns and do not outrun each other for ever.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<StreamId, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Whether commands queue for the stream.
    pub(crate) fn has_queue(&self, stream: &StreamId) -> bool {
        lock(&self.0).get(stream).is_some_and(|turn| turn.strong_count() > 0)
    }

    /// Waits for this command's turn on the stream.
    pub(crate) async fn wait(&self, stream: &StreamId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = lock(&self.0);
            turns.retain(|_, turn| turn.strong_count() > 0);
            match turns.get(stream).and_then(Weak::upgrade) {
                Some(turn) => turn,
                None => {
                    let turn = Arc::new(tokio::sync::Mutex::new(()));
                    turns.insert(stream.clone(), Arc::downgrade(&turn));
                    turn
                }
            }
        };
        turn.lock_owned().await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
