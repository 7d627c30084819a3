//! Whole batches on their way from one log to another, and the rules that each of them must keep to be let in.

use std::collections::HashMap;

use crate::chain::{self, GENESIS, Hash};
use crate::{StoredEvent, StreamId};

/// One group commit: what was recorded together stays together.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) recorded_at: i64,
    /// What the place it comes from says of each event.
    pub(crate) leaves: Vec<Hash>,
    pub(crate) link: Hash,
    pub(crate) events: Vec<StoredEvent>,
}

/// How far a log has proven right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) position: i64,
    pub(crate) recorded_at: i64,
    pub(crate) link: Hash,
}

/// What does not fit, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) position: i64,
    pub(crate) what: &'static str,
}

impl Chain {
    /// Before the first event.
    pub(crate) const START: Self = Self { position: 0, recorded_at: i64::MIN, link: GENESIS };

    /// The chain with one more batch, if every event of it is what was written and its link follows from ours.
    pub(crate) fn follow(self, batch: &Batch) -> Result<Self, Broken> {
        let first = self.position + 1;
        let broken = |position, what| Err(Broken { position, what });
        if batch.events.is_empty() || batch.leaves.len() != batch.events.len() {
            return broken(first, "the record of a batch does not fit its events");
        }
        if batch.recorded_at < self.recorded_at {
            return broken(first, "the batch was recorded before the one before it");
        }
        for (position, (event, leaf)) in (first..).zip(batch.events.iter().zip(&batch.leaves)) {
            if event.position != position {
                return broken(position, "another event stands where this one belongs");
            }
            if event.recorded_at != batch.recorded_at {
                return broken(position, "the event's time is not that of its batch");
            }
            if chain::leaf_of_stored(event) != *leaf {
                return broken(position, "the event is not the one that was written");
            }
        }
        if chain::link(&self.link, first, batch.recorded_at, batch.leaves.iter()) != batch.link {
            return broken(first, "the batch's link does not follow from the link before it");
        }
        let position = self.position + batch.events.len() as i64;
        Ok(Self { position, recorded_at: batch.recorded_at, link: batch.link })
    }

    /// The chain with all of these batches.
    pub(crate) fn follow_all(self, batches: &[Batch]) -> Result<Self, Broken> {
        batches.iter().try_fold(self, Self::follow)
    }
}

/// Where a stream must stand before some batches, and the first event that says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    pub(crate) sequence: i64,
    pub(crate) position: i64,
    last: i64,
}

/// Where every stream of these batches must stand before them; none may have a gap within them.
pub(crate) fn streams(batches: &[Batch]) -> Result<HashMap<&StreamId, Before>, Broken> {
    let mut all: HashMap<&StreamId, Before> = HashMap::new();
    for event in batches.iter().flat_map(|batch| &batch.events) {
        let begins = Before { sequence: event.sequence - 1, position: event.position, last: event.sequence - 1 };
        let stream = all.entry(&event.stream).or_insert(begins);
        if event.sequence < 1 || event.sequence != stream.last + 1 {
            return Err(gap(event.position));
        }
        stream.last = event.sequence;
    }
    Ok(all)
}

/// An event whose stream does not stand right before it.
pub(crate) fn gap(position: i64) -> Broken {
    Broken { position, what: "the event does not follow the one before it in its stream" }
}
