//! The event as the log holds it: who wrote what into which stream, byte for byte.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The name of one stream: the kind of aggregate and which one it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StreamId {
    /// The kind of aggregate, e.g. `workspace`.
    pub aggregate_type: String,
    /// Which one of that kind.
    pub aggregate_id: String,
}

impl StreamId {
    /// Names the stream of one aggregate.
    pub fn new(aggregate_type: impl Into<String>, aggregate_id: impl fmt::Display) -> Self {
        Self { aggregate_type: aggregate_type.into(), aggregate_id: aggregate_id.to_string() }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.aggregate_type, self.aggregate_id)
    }
}

/// An event on its way into the log; its sequence follows from where it stands in the append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// A time-ordered id that outlives copies and exports of the log.
    pub event_id: Uuid,
    /// The event's name, e.g. `WorkspaceCreated`.
    pub event_type: String,
    /// The version of the shape in `payload`.
    pub event_version: String,
    /// JSON, kept byte for byte.
    pub payload: String,
    /// JSON, kept byte for byte.
    pub metadata: String,
    /// The tenant it belongs to, if any.
    pub workspace_id: Option<Uuid>,
}

/// An event as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// The place in the total order: gapless, from 1.
    pub position: i64,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The place within the stream: gapless, from 1.
    pub sequence: i64,
    /// The event's name.
    pub event_type: String,
    /// The version of the shape in `payload`.
    pub event_version: String,
    /// JSON, byte for byte as it was written, unless its text was sealed and is opened here.
    pub payload: String,
    /// JSON, byte for byte as it was written.
    pub metadata: String,
    /// A time-ordered id that outlives copies and exports of the log.
    pub event_id: Uuid,
    /// The tenant it belongs to, if any.
    pub workspace_id: Option<Uuid>,
    /// When its batch was committed: microseconds since 1970, never decreasing.
    pub recorded_at: i64,
}
