//! What an erasure leaves to do once the key is destroyed: nothing that was made of the text may stay beside the log.

use uuid::Uuid;

use super::TextKey;
use crate::sql::{Database, Query, SqliteDatabase, postgres_failed, sqlite_failed};
use crate::{EventLog, StoreError};

/// An erasure that was recorded and whose traces are not all gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpurged {
    /// How many keys were destroyed.
    pub keys: i64,
}

impl EventLog {
    /// The erasure of a workspace that did not come to its end, if there is one.
    pub async fn unpurged(&self, workspace_id: Uuid) -> Result<Option<Unpurged>, StoreError> {
        let query = Query::new(
            "select count(*)
             from workspace_keys
             where workspace_id = $1 and destroyed_at is not null and purged_at is null",
        );
        let keys = self.database.first(query.bind(workspace_id)).await?.map_or(Ok(0), |row| row.int(0))?;
        Ok((keys > 0).then_some(Unpurged { keys }))
    }

    /// The key that a workspace's text is sealed under now, as the store has it.
    pub async fn text_key_of(&self, workspace_id: Uuid) -> Result<Option<TextKey>, StoreError> {
        let query = Query::new(
            "select key_id, key
             from workspace_keys
             where workspace_id = $1 and destroyed_at is null",
        );
        let row = self.database.first(query.bind(workspace_id)).await?;
        row.map_or(Ok(None), |row| Ok(TextKey::from_secret(row.uuid(0)?, row.bytes(1)?)))
    }

    /// Forgets what people and agents of a workspace were answered, and what they asked. What Muster itself and GitHub
    /// did is remembered, so that nothing is done twice; it holds ids only.
    pub async fn forget_answers_of(&self, workspace_id: Uuid) -> Result<(), StoreError> {
        let query = Query::new(
            "delete from remembered_commands
             where (principal like 'user:%' or principal like 'agent:%')
               and (exists (
                   select 1 from events
                   where events.position = remembered_commands.position and events.workspace_id = $1)
                 or principal in (select 'agent:' || agent_id from credentials where workspace_id = $1))",
        );
        self.database.transact(vec![query.bind(workspace_id).into()]).await.map(drop)
    }

    /// Sees to it that what is no longer in the log's tables is no longer in its files either.
    pub async fn scrub(&self) -> Result<(), StoreError> {
        match &self.database {
            // What is overwritten or removed is zeroed at once; what is left is in the write-ahead log.
            Database::Sqlite(it) => empty_wal(it, "").await,
            Database::Postgres(it) => {
                // The old form of a row stays in its page until then.
                let done = sqlx::query("vacuum full workspace_keys").execute(it.pool()).await;
                done.map(drop).map_err(|e| postgres_failed(it.place(), &e))
            }
        }
    }

    /// Notes that nothing is left of what was erased.
    pub async fn note_purged(&self, workspace_id: Uuid) -> Result<(), StoreError> {
        let query = Query::new(
            "update workspace_keys
             set purged_at = $2
             where workspace_id = $1 and destroyed_at is not null and purged_at is null",
        );
        self.database.transact(vec![query.bind(workspace_id).bind(self.clock().now_micros()).into()]).await.map(drop)
    }
}

impl Database {
    /// Sees to it that what was removed from read models is not in their files either.
    pub async fn compact(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(it) => empty_wal(it, "vacuum").await,
            // The files of a table go with it.
            Self::Postgres(_) => Ok(()),
        }
    }
}

/// Runs a statement that no transaction may be around, then brings the write-ahead log into the file and empties it.
async fn empty_wal(database: &SqliteDatabase, first: &'static str) -> Result<(), StoreError> {
    let place = database.place().to_owned();
    let busy = database
        .write(move |connection| {
            connection.execute_batch(first)?;
            connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0))
        })
        .await?
        .map_err(|e| sqlite_failed(&place, &e))?;
    match busy {
        0 => Ok(()),
        _ => {
            Err(StoreError::Unavailable(format!("{place}: somebody is reading it, so old pages could not be removed")))
        }
    }
}
