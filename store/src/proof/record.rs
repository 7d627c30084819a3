//! An event and a batch as proofs carry them: every byte that is hashed, and nothing that is not.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Refusal, written};
use crate::chain::{self, Hash};
use crate::{StoredEvent, StreamId};

/// An event with its exact bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventRecord {
    /// The place in the total order.
    pub position: i64,
    /// The kind of aggregate.
    pub aggregate_type: String,
    /// Which one of that kind.
    pub aggregate_id: String,
    /// The place within the stream.
    pub sequence: i64,
    /// The event's name.
    pub event_type: String,
    /// The version of the shape in `payload`.
    pub event_version: String,
    /// The event's id.
    pub event_id: Uuid,
    /// The tenant it belongs to, if any.
    pub workspace_id: Option<Uuid>,
    /// When its batch was committed, in microseconds since 1970.
    #[serde(with = "written::instant")]
    pub recorded_at: i64,
    /// JSON, byte for byte, in a string.
    pub payload: String,
    /// JSON, byte for byte, in a string.
    pub metadata: String,
}

/// A batch: the hashes of its events and what its link is made of besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchRecord {
    /// Which leaf of the tree it is, from 0.
    pub tree_index: u64,
    /// The position of its first event.
    pub first_position: i64,
    /// When it was committed, in microseconds since 1970.
    #[serde(with = "written::instant")]
    pub recorded_at: i64,
    /// The link of the batch before it.
    #[serde(with = "written::hex_bytes")]
    pub previous_link: Hash,
    /// The hash of each of its events, in order; those of other tenants are hashes and nothing more.
    #[serde(with = "written::hex_list")]
    pub leaves: Vec<Hash>,
}

impl BatchRecord {
    /// The link that follows from it.
    pub fn link(&self) -> Hash {
        chain::link(&self.previous_link, self.first_position, self.recorded_at, self.leaves.iter())
    }

    /// The position of its last event.
    pub fn last_position(&self) -> i64 {
        self.first_position.saturating_add_unsigned(self.leaves.len() as u64).saturating_sub(1)
    }

    /// Whether the event is the one that was written at its position.
    pub fn check(&self, event: &EventRecord) -> Result<(), Refusal> {
        let offset = event.position.checked_sub(self.first_position).and_then(|it| usize::try_from(it).ok());
        let leaf = offset.and_then(|it| self.leaves.get(it)).filter(|_| event.recorded_at == self.recorded_at);
        let leaf = leaf.ok_or(Refusal::OtherBatch(event.position))?;
        if *leaf != event.leaf() {
            return Err(Refusal::OtherEvent(event.position));
        }
        Ok(())
    }
}

impl EventRecord {
    /// Its hash, computed from what it holds.
    pub fn leaf(&self) -> Hash {
        chain::leaf_of_stored(&self.clone().into())
    }
}

impl From<StoredEvent> for EventRecord {
    fn from(it: StoredEvent) -> Self {
        Self {
            position: it.position,
            aggregate_type: it.stream.aggregate_type,
            aggregate_id: it.stream.aggregate_id,
            sequence: it.sequence,
            event_type: it.event_type,
            event_version: it.event_version,
            event_id: it.event_id,
            workspace_id: it.workspace_id,
            recorded_at: it.recorded_at,
            payload: it.payload,
            metadata: it.metadata,
        }
    }
}

impl From<EventRecord> for StoredEvent {
    fn from(it: EventRecord) -> Self {
        Self {
            position: it.position,
            stream: StreamId { aggregate_type: it.aggregate_type, aggregate_id: it.aggregate_id },
            sequence: it.sequence,
            event_type: it.event_type,
            event_version: it.event_version,
            payload: it.payload,
            metadata: it.metadata,
            event_id: it.event_id,
            workspace_id: it.workspace_id,
            recorded_at: it.recorded_at,
        }
    }
}
