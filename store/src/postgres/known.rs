//! Where streams stand, as far as a node knows without looking: it wrote to them, and nobody else has written since.

use std::collections::HashMap;

use crate::batch::Prepared;
use crate::{CommitError, Guard, Receipt, StreamId};

/// Streams that are remembered before the oldest half of them is forgotten.
const MOST: usize = 32_768;

/// What a node has learned of streams since it last heard of another writer.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The link of the log's newest batch. As long as it is the newest, all that is known here is true.
    pub(super) link: Vec<u8>,
    recent: HashMap<StreamId, i64>,
    /// What was recent until that was full.
    older: HashMap<StreamId, i64>,
}

/// How sure one is that a command's streams stand where it thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// It only begins streams, and the insert finds out whether they are there.
    ByTheInsert,
    /// As long as nobody else has written.
    ByMemory,
    /// Somebody has to look.
    No,
}

impl Known {
    /// What is known of the streams of a command.
    pub(super) fn of(&self, command: &Prepared) -> Sure {
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
    pub(super) fn refusal(&self, command: &Prepared) -> Option<CommitError> {
        let first = command.commit.appends.first().filter(|_| command.commit.remember.is_none())?;
        let actual = self.stands(&first.stream).filter(|it| first.expected < *it)?;
        Some(CommitError::Conflict { stream: first.stream.clone(), expected: first.expected, actual })
    }

    /// Learns how a command ended, in the batch that is now the newest.
    pub(super) fn learn(&mut self, command: &Prepared, outcome: &Result<Receipt, CommitError>) {
        match outcome {
            Ok(_) => {
                for it in &command.commit.appends {
                    self.put(&it.stream, it.expected + it.events.len() as i64);
                }
                for guard in &command.commit.guards {
                    if let Guard::At { stream, sequence } = guard {
                        self.put(stream, *sequence);
                    }
                }
            }
            Err(CommitError::Conflict { stream, actual, .. }) => self.put(stream, *actual),
            Err(_) => {}
        }
    }

    /// Somebody else has written, or may have.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    fn stands(&self, stream: &StreamId) -> Option<i64> {
        self.recent.get(stream).or_else(|| self.older.get(stream)).copied()
    }

    fn put(&mut self, stream: &StreamId, sequence: i64) {
        if let Some(known) = self.recent.get_mut(stream) {
            *known = sequence;
            return;
        }
        if self.recent.len() >= MOST / 2 {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(stream.clone(), sequence);
    }
}
