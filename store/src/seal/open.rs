//! Where events are read, their text is opened: the one place that turns sealed events into readable ones.
//!
//! Keys are looked up each time and never kept for this: what was erased a moment ago, on whichever node, is erased.

use std::collections::HashMap;

use uuid::Uuid;

use super::payload::{self, Otherwise};
use super::{Lock, TextKey, sealed_under};
use crate::sql::{Query, Row};
use crate::{EventLog, StoreError, StoredEvent};

/// Sealed events that are opened on the spot; more are opened where they keep nobody waiting.
const FEW: usize = 32;
/// Keys that are looked up in one query.
const AT_ONCE: usize = 500;

/// What is known of a key by its name.
type Keys = HashMap<Uuid, Option<TextKey>>;

impl EventLog {
    /// The same events with their text to be read: as it was written, or `[erased]` where its key was destroyed, or
    /// `[sealed]` where its key is not here. Everything else is as it was.
    pub async fn opened(&self, mut events: Vec<StoredEvent>) -> Result<Vec<StoredEvent>, StoreError> {
        let sealed = events.iter().filter_map(|it| sealed_under(&it.metadata));
        let mut named: Vec<Uuid> = sealed.collect();
        if named.is_empty() {
            return Ok(events);
        }
        let many = named.len() > FEW;
        named.sort_unstable();
        named.dedup();
        let keys = self.keys_named(&named).await?;
        let open = move || {
            events.iter_mut().for_each(|event| open(event, &keys));
            events
        };
        if !many {
            return Ok(open());
        }
        let opened = tokio::task::spawn_blocking(open).await;
        opened.map_err(|e| StoreError::Failed(format!("events were not opened: {e}")))
    }

    async fn keys_named(&self, named: &[Uuid]) -> Result<Keys, StoreError> {
        let mut keys = Keys::with_capacity(named.len());
        for some in named.chunks(AT_ONCE) {
            let places: Vec<String> = (1..=some.len()).map(|at| format!("${at}")).collect();
            let sql = format!("select key_id, key from workspace_keys where key_id in ({})", places.join(", "));
            let query = some.iter().fold(Query::new(sql), |query, key_id| query.bind(*key_id));
            for row in self.database.query(query).await? {
                let key_id = row.uuid(0)?;
                let secret = row.optional(1, Row::bytes)?;
                keys.insert(key_id, secret.and_then(|it| TextKey::from_secret(key_id, it)));
            }
        }
        Ok(keys)
    }
}

fn open(event: &mut StoredEvent, keys: &Keys) {
    let (Some(key_id), Some(workspace_id)) = (sealed_under(&event.metadata), event.workspace_id) else { return };
    let (lock, otherwise) = match keys.get(&key_id) {
        Some(Some(key)) => (Lock::new(key, workspace_id, event.event_id).ok(), Otherwise::Sealed),
        Some(None) => (None, Otherwise::Erased),
        None => (None, Otherwise::Sealed),
    };
    // A payload that is no JSON is damage, which hashes show and decoding reports.
    if let Ok(payload) = payload::open(&event.payload, lock.as_ref(), otherwise) {
        event.payload = payload;
    }
}
