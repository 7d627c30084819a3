//! A log of some events of another, each at its own position: to be looked at, never to be appended to.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::sql::{Query, Statement};
use crate::{Access, Clock, Location, Settings, StoreError, StoredEvent, Stores, TextKey};

/// A log that is being filled, in a folder that whoever made it throws away.
#[derive(Debug)]
pub struct Excerpt {
    stores: Stores,
    folder: PathBuf,
    last: Option<StoredEvent>,
}

impl Excerpt {
    /// Begins in an empty folder.
    pub async fn begin(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { stores: open(folder).await?, folder: folder.to_path_buf(), last: None })
    }

    /// Adds the next events, whose positions rise and may have holes.
    pub async fn add(&mut self, events: Vec<StoredEvent>) -> Result<(), StoreError> {
        let mut statements: Vec<Statement> = Vec::with_capacity(events.len() * 2);
        for event in &events {
            statements.push(insert(event).into());
            // Times are looked up by batch: before the first event there is none.
            let first = if self.last.is_none() && statements.len() == 1 { 1 } else { event.position };
            let batch = Query::new(
                "insert into batches (first_position, events, recorded_at, leaves, link)
                 values ($1, $2, $3, x'', x'')",
            );
            let count = event.position - first + 1;
            statements.push(batch.bind(first).bind(count).bind(event.recorded_at).into());
        }
        self.stores.log.database.transact(statements).await?;
        self.last = events.into_iter().next_back().or(self.last.take());
        Ok(())
    }

    /// Lets the text of a workspace be read that is sealed under this key.
    pub async fn add_key(&mut self, workspace_id: Uuid, key: &TextKey) -> Result<(), StoreError> {
        let insert = Query::new(
            "insert into workspace_keys (key_id, workspace_id, key, created_at)
             values ($1, $2, $3, 0)",
        );
        let insert = insert.bind(key.key_id).bind(workspace_id).bind(key.secret().to_vec());
        self.stores.log.database.transact(vec![insert.into()]).await.map(drop)
    }

    /// Ends at the last event, in the epoch that the events are from.
    pub async fn finish(self, epoch: i64) -> Result<Stores, StoreError> {
        let (position, recorded_at) = self.last.as_ref().map_or((0, 0), |it| (it.position, it.recorded_at));
        let head = Query::new("update head set epoch = $1, position = $2, recorded_at = $3");
        let head = head.bind(epoch).bind(position).bind(recorded_at);
        self.stores.log.database.transact(vec![head.into()]).await?;
        drop(self.stores);
        // What is open knows the head from when it was opened.
        open(&self.folder).await
    }
}

async fn open(folder: &Path) -> Result<Stores, StoreError> {
    let location = Location::Sqlite(folder.to_path_buf());
    Stores::open(Settings { location, clock: Clock::default(), access: Access::Serve }).await
}

fn insert(event: &StoredEvent) -> Query {
    Query::new(
        "insert into events
            (position, aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata, event_id,
             workspace_id, recorded_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(event.position)
    .bind(&event.stream.aggregate_type)
    .bind(&event.stream.aggregate_id)
    .bind(event.sequence)
    .bind(&event.event_type)
    .bind(&event.event_version)
    .bind(&event.payload)
    .bind(&event.metadata)
    .bind(event.event_id)
    .bind(event.workspace_id)
    .bind(event.recorded_at)
}
