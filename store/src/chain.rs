//! Tamper evidence: a hash per event and a link per batch, each link over the one before it.

use sha2::{Digest, Sha256};

use crate::{NewEvent, StreamId};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The link before the first batch.
pub const GENESIS: Hash = [0; 32];

// RFC 6962's prefixes keep a leaf from ever passing for a node.
const LEAF: u8 = 0;
const LINK: u8 = 1;

/// The hash of one event: its envelope and exact bytes, without position and time, so that it is known before the lock.
pub fn leaf(stream: &StreamId, sequence: i64, event: &NewEvent) -> Hash {
    leaf_of(LeafParts {
        aggregate_type: &stream.aggregate_type,
        aggregate_id: &stream.aggregate_id,
        sequence,
        event_type: &event.event_type,
        event_version: &event.event_version,
        payload: &event.payload,
        metadata: &event.metadata,
        event_id: event.event_id,
        workspace_id: event.workspace_id,
    })
}

/// The hash of an event read back from the log.
pub fn leaf_of_stored(event: &crate::StoredEvent) -> Hash {
    leaf_of(LeafParts {
        aggregate_type: &event.stream.aggregate_type,
        aggregate_id: &event.stream.aggregate_id,
        sequence: event.sequence,
        event_type: &event.event_type,
        event_version: &event.event_version,
        payload: &event.payload,
        metadata: &event.metadata,
        event_id: event.event_id,
        workspace_id: event.workspace_id,
    })
}

/// The link of one batch. PostgreSQL computes the same as it appends.
pub fn link<'a>(
    previous: &Hash,
    first_position: i64,
    recorded_at: i64,
    leaves: impl ExactSizeIterator<Item = &'a Hash>,
) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([LINK]);
    hasher.update(previous);
    hasher.update(first_position.to_be_bytes());
    hasher.update((leaves.len() as i64).to_be_bytes());
    hasher.update(recorded_at.to_be_bytes());
    for leaf in leaves {
        hasher.update(leaf);
    }
    hasher.finalize().into()
}

struct LeafParts<'a> {
    aggregate_type: &'a str,
    aggregate_id: &'a str,
    sequence: i64,
    event_type: &'a str,
    event_version: &'a str,
    payload: &'a str,
    metadata: &'a str,
    event_id: uuid::Uuid,
    workspace_id: Option<uuid::Uuid>,
}

fn leaf_of(parts: LeafParts<'_>) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([LEAF]);
    hasher.update(parts.sequence.to_be_bytes());
    hasher.update(parts.event_id.as_bytes());
    // The nil id is never a workspace, so "none" cannot pass for one.
    hasher.update(parts.workspace_id.unwrap_or_default().as_bytes());
    // Lengths first: moving a byte from one field to the next changes the hash.
    for text in
        [parts.aggregate_type, parts.aggregate_id, parts.event_type, parts.event_version, parts.payload, parts.metadata]
    {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text);
    }
    hasher.finalize().into()
}
