//! Settings: JSON that its owner writes and Muster hands back.

/// A JSON object whose keys belong to whoever wrote it.
///
/// No decision reads a key of it; it is compared only to see whether a change changes anything.
pub type Settings = serde_json::Map<String, serde_json::Value>;
