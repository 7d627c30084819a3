//! What is being done right now: keys in flight, and streams that commands queue for.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use store::{CommandKey, StreamId};
use tokio::sync::OwnedMutexGuard;

/// Queues that may be left over before they are swept out.
const MANY: usize = 1024;

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

/// Whose turn it is on each stream, so that commands of this node do not outrun each other.
///
/// Only saves work: whoever appends without a turn is told by the log.
#[derive(Default)]
pub(crate) struct Turns {
    by_stream: Arc<Mutex<Queues>>,
    hasher: RandomState,
}

/// A queue for every stream that somebody is appending to, by its hash: two that share one wait for each other.
type Queues = HashMap<u64, Weak<tokio::sync::Mutex<()>>>;

/// The right to append to a stream; dropping it lets the next one go.
pub(crate) struct Turn {
    of: u64,
    guard: Option<OwnedMutexGuard<()>>,
    by_stream: Arc<Mutex<Queues>>,
}

impl Turns {
    /// The turn on a stream, if nobody has it.
    pub(crate) fn take(&self, stream: &StreamId) -> Option<Turn> {
        let (of, queue) = self.queue(stream);
        let guard = queue.try_lock_owned().ok()?;
        Some(Turn { of, guard: Some(guard), by_stream: self.by_stream.clone() })
    }

    /// Waits for the turn on a stream, behind those who wait already.
    pub(crate) async fn wait(&self, stream: &StreamId) -> Turn {
        let (of, queue) = self.queue(stream);
        let guard = queue.lock_owned().await;
        Turn { of, guard: Some(guard), by_stream: self.by_stream.clone() }
    }

    /// Whether the turn is on this stream.
    pub(crate) fn is_on(&self, turn: &Turn, stream: &StreamId) -> bool {
        turn.of == self.hasher.hash_one(stream)
    }

    fn queue(&self, stream: &StreamId) -> (u64, Arc<tokio::sync::Mutex<()>>) {
        let of = self.hasher.hash_one(stream);
        let mut queues = lock(&self.by_stream);
        if let Some(queue) = queues.get(&of).and_then(Weak::upgrade) {
            return (of, queue);
        }
        // Whoever looked at a queue just as it emptied has left it behind.
        if queues.len() >= MANY && queues.len().is_power_of_two() {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        let queue = Arc::new(tokio::sync::Mutex::new(()));
        queues.insert(of, Arc::downgrade(&queue));
        (of, queue)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard = None;
        let mut queues = lock(&self.by_stream);
        if queues.get(&self.of).is_some_and(|queue| queue.strong_count() == 0) {
            queues.remove(&self.of);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
