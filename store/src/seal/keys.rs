//! The keys that text is sealed under now, as this process knows them.
//!
//! What is known may be behind another node; the log refuses a commit that was decided by other knowledge than the
//! head has (`Commit::known_keys`). So nothing is ever sealed under a key that is gone, and nothing is left unsealed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use uuid::Uuid;

use super::TextKey;
use crate::sql::{Database, Query};
use crate::{EventLog, StoreError};

/// Which workspaces seal their text, and under what.
#[derive(Debug, Default)]
pub struct KnownKeys {
    /// Which knowledge this is; raised whenever a key is made or destroyed.
    pub version: i64,
    /// How many keys were destroyed so far: whatever was made of text before the last of them must not be used.
    pub erasures: i64,
    current: HashMap<Uuid, TextKey>,
}

impl KnownKeys {
    /// The key of a workspace, if it seals its text.
    pub fn of(&self, workspace_id: Uuid) -> Option<&TextKey> {
        self.current.get(&workspace_id)
    }

    /// Whether no workspace seals its text.
    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
    }
}

/// Where a log keeps what it knows of keys.
pub(crate) struct KeyRing(RwLock<Arc<KnownKeys>>);

impl KeyRing {
    pub(crate) async fn read(log: &Database) -> Result<Self, StoreError> {
        Ok(Self(RwLock::new(Arc::new(known(log).await?))))
    }
}

impl EventLog {
    /// The keys that text is sealed under, as far as this process knows.
    pub fn known_keys(&self) -> Arc<KnownKeys> {
        self.keys.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks whether keys were made or destroyed, here or on another node, and answers with what is known then.
    pub async fn look_at_keys(&self) -> Result<Arc<KnownKeys>, StoreError> {
        let row = self.database.first(Query::new("select keys from head")).await?;
        let version = row.map_or(Ok(0), |row| row.int(0))?;
        if version == self.known_keys().version {
            return Ok(self.known_keys());
        }
        let known = Arc::new(known(&self.database).await?);
        let mut kept = self.keys.0.write().unwrap_or_else(PoisonError::into_inner);
        // Two may have looked at once.
        if known.version > kept.version {
            *kept = known;
        }
        Ok(kept.clone())
    }
}

async fn known(log: &Database) -> Result<KnownKeys, StoreError> {
    let answers = log
        .snapshot(vec![
            Query::new("select keys from head"),
            Query::new("select count(*) from workspace_keys where destroyed_at is not null"),
            Query::new("select workspace_id, key_id, key from workspace_keys where destroyed_at is null"),
        ])
        .await?;
    let [version, erasures, keys] = answers.as_slice() else {
        return Err(StoreError::Damaged("the keys have no answer".to_owned()));
    };
    let number = |rows: &[crate::sql::Row]| rows.first().map_or(Ok(0), |row| row.int(0));
    let mut current = HashMap::with_capacity(keys.len());
    for row in keys {
        let (workspace_id, key_id) = (row.uuid(0)?, row.uuid(1)?);
        let key = TextKey::from_secret(key_id, row.bytes(2)?);
        let key = key.ok_or_else(|| StoreError::Damaged(format!("the key {key_id} has another length")))?;
        current.insert(workspace_id, key);
    }
    Ok(KnownKeys { version: number(version)?, erasures: number(erasures)?, current })
}
