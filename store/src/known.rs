//! Where streams stand, as far as a node knows without looking: it wrote to them, and nobody else has written since.

use std::collections::HashMap;

use crate::batch::Prepared;
use crate::{CommitError, Guard, Receipt, StreamId};

/// Streams that are remembered because they were written to.
const MOST_WRITTEN: usize = 32_768;
/// Streams that are remembered because a command came too late for them: others may, whatever is written meanwhile.
const MOST_MISSED: usize = 8_192;

/// What a node has learned of streams since it last heard of another writer.
#[derive(Debug)]
pub(crate) struct Known {
    /// The link of the log's newest batch. As long as it is the newest, all that is known here is true.
    pub(crate) link: Vec<u8>,
    written: Memory,
    missed: Memory,
}

/// Where some streams stand; half of them, those not put in lately, are forgotten when there are too many.
#[derive(Debug)]
struct Memory {
    most: usize,
    recent: Standings,
    /// What was recent until that was full.
    older: Standings,
}

/// Looked into several times for every command, while others wait.
type Standings = HashMap<StreamId, i64, ahash::RandomState>;

impl Default for Known {
    fn default() -> Self {
        Self { link: vec![], written: Memory::of(MOST_WRITTEN), missed: Memory::of(MOST_MISSED) }
    }
}

/// How sure one is that a command's streams stand where it thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sure {
    /// It only begins streams, and the insert finds out whether they are there.
    ByTheInsert,
    /// As long as nobody else has written.
    ByMemory,
    /// Somebody has to look.
    No,
}

impl Known {
    /// What is known of the streams of a command.
    pub(crate) fn of(&self, command: &Prepared) -> Sure {
        let commit = &command.commit;
        let begins = |expected: i64| if expected == 0 { Sure::ByTheInsert } else { Sure::No };
        let appends = commit.appends.iter().map(|it| match self.stands(&it.stream) {
            Some(sequence) if sequence == it.expected => Sure::ByMemory,
            Some(_) => Sure::No,
            None => begins(it.expected),
        });
        let guards = commit.guards.iter().map(|it| match it {
            Guard::At { stream, sequence } if self.stands(stream) == Some(*sequence) => Sure::ByMemory,
            Guard::At { .. } => Sure::No,
            Guard::Held { .. } | Guard::Empty { .. } => Sure::ByTheInsert,
        });
        appends.chain(guards).fold(Sure::ByTheInsert, |least, it| match (least, it) {
            (Sure::No, _) | (_, Sure::No) => Sure::No,
            (Sure::ByMemory, _) | (_, Sure::ByMemory) => Sure::ByMemory,
            (Sure::ByTheInsert, Sure::ByTheInsert) => Sure::ByTheInsert,
        })
    }

    /// The refusal of a command that comes too late for its first stream. A stream never goes back, so this is sure
    /// whoever has written since. One with a key may have landed before, and the log has to be asked.
    pub(crate) fn refusal(&mut self, command: &Prepared) -> Option<CommitError> {
        let first = command.commit.appends.first().filter(|_| command.commit.remember.is_none())?;
        let actual = self.stands(&first.stream).filter(|it| first.expected < *it)?;
        self.missed.put(&first.stream, actual);
        Some(CommitError::Conflict { stream: first.stream.clone(), expected: first.expected, actual })
    }

    /// Learns how a command ended, in the batch that is now the newest.
    pub(crate) fn learn(&mut self, command: &Prepared, outcome: &Result<Receipt, CommitError>) {
        match outcome {
            Ok(_) => {
                // What it relied on is where it stood before it wrote there itself.
                for guard in &command.commit.guards {
                    if let Guard::At { stream, sequence } = guard {
                        self.wrote(stream, *sequence);
                    }
                }
                for it in &command.commit.appends {
                    self.wrote(&it.stream, it.expected + it.events.len() as i64);
                }
            }
            Err(CommitError::Conflict { stream, actual, .. }) => self.missed.put(stream, *actual),
            Err(_) => {}
        }
    }

    /// Somebody else has written, or may have.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Where a stream stands, if that is known.
    pub(crate) fn stands(&self, stream: &StreamId) -> Option<i64> {
        // Where both know it, both know the same.
        self.written.get(stream).or_else(|| self.missed.get(stream))
    }

    fn wrote(&mut self, stream: &StreamId, sequence: i64) {
        self.written.put(stream, sequence);
        if self.missed.get(stream).is_some() {
            self.missed.put(stream, sequence);
        }
    }
}

impl Memory {
    fn of(most: usize) -> Self {
        Self { most, recent: Standings::default(), older: Standings::default() }
    }

    fn get(&self, stream: &StreamId) -> Option<i64> {
        self.recent.get(stream).or_else(|| self.older.get(stream)).copied()
    }

    fn put(&mut self, stream: &StreamId, sequence: i64) {
        if let Some(known) = self.recent.get_mut(stream) {
            *known = sequence;
            return;
        }
        if self.recent.len() >= self.most / 2 {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(stream.clone(), sequence);
    }
}
