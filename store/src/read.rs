//! Reading the log: one stream, everything after a position, and where the head is.

use crate::chain::Hash;
use crate::scan::{self, Select};
use crate::sql::{Database, Query, Row};
use crate::{Claim, EventLog, StoreError, StoredEvent, StreamId};

/// Where the log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Which life of the log this is; raised by every restore.
    pub epoch: i64,
    /// The position of the newest event; 0 in an empty log.
    pub position: i64,
    /// When the newest batch was committed.
    pub recorded_at: i64,
    /// The link of the newest batch.
    pub link: Hash,
}

/// What is in the log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogStats {
    /// Events in all.
    pub events: i64,
    /// Streams in all.
    pub streams: i64,
    /// Group commits in all.
    pub batches: i64,
    /// Bytes of payload and metadata.
    pub bytes: i64,
    /// Events by aggregate and event type, most frequent first.
    pub by_type: Vec<TypeCount>,
}

/// How many events of one type there are.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeCount {
    /// The kind of aggregate.
    pub aggregate_type: String,
    /// The event's name.
    pub event_type: String,
    /// How many.
    pub events: i64,
}

/// A stretch of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The events of the kinds that were asked for, oldest first.
    pub events: Vec<StoredEvent>,
    /// The position up to which the log was read; `None` when there is nothing more.
    pub last: Option<i64>,
}

/// The most bytes of events in a page, apart from the one that goes beyond.
const PAGE_BYTES: usize = 16 << 20;

/// Events come with their text opened, as far as there is a key for it; only what says so leaves it as it was written.
impl EventLog {
    /// A stream's events from one sequence to another, both included; to the end without `to`.
    pub async fn read_stream(
        &self,
        stream: &StreamId,
        from: i64,
        to: Option<i64>,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let select = Select::Stream { stream: stream.clone(), from, to: to.unwrap_or(i64::MAX) };
        self.opened(scan::read(&self.database, select).await?.events).await
    }

    /// How many events a stream has; 0 if there is no such stream.
    pub async fn stream_length(&self, stream: &StreamId) -> Result<i64, StoreError> {
        let query = Query::new(
            "select sequence
             from events
             where aggregate_type = $1 and aggregate_id = $2
             order by sequence desc
             limit 1",
        );
        let row = self.database.first(query.bind(&stream.aggregate_type).bind(&stream.aggregate_id)).await?;
        row.map_or(Ok(0), |row| row.int(0))
    }

    /// Events after a position, oldest first. What comes back has no hole: a hole is damage, never a late commit.
    pub async fn read_all(&self, after: i64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.opened(self.read_as_written(after, limit).await?).await
    }

    /// The same, byte for byte as they were written: sealed text stays sealed.
    pub async fn read_as_written(&self, after: i64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let select = Select::After { after, limit, kinds: None, most_bytes: usize::MAX };
        Ok(scan::read(&self.database, select).await?.events)
    }

    /// The next stretch of the log, for whoever goes through all of it: bounded in events and in bytes, with the
    /// events of other kinds of aggregates left out. They are counted all the same: a hole is damage here too.
    pub async fn read_page(
        &self,
        after: i64,
        limit: usize,
        kinds: Option<&[&'static str]>,
    ) -> Result<Page, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let kinds = kinds.map(<[_]>::to_vec);
        let found = scan::read(&self.database, Select::After { after, limit, kinds, most_bytes: PAGE_BYTES }).await?;
        Ok(Page { events: self.opened(found.events).await?, last: found.last })
    }

    /// The events at these positions, which must rise. One that is not there is an error.
    pub async fn read_positions(&self, positions: &[i64]) -> Result<Vec<StoredEvent>, StoreError> {
        self.opened(self.read_positions_as_written(positions).await?).await
    }

    /// The same, byte for byte as they were written: sealed text stays sealed.
    pub async fn read_positions_as_written(&self, positions: &[i64]) -> Result<Vec<StoredEvent>, StoreError> {
        let found = scan::read(&self.database, Select::At { positions: positions.to_vec() }).await?.events;
        match positions.get(found.len()) {
            None => Ok(found),
            Some(missing) => Err(StoreError::Damaged(format!("there is no event at {missing}"))),
        }
    }

    /// The event at a position.
    pub async fn read_at(&self, position: i64) -> Result<Option<StoredEvent>, StoreError> {
        Ok(self.read_all(position - 1, 1).await?.into_iter().next())
    }

    /// The stream that holds a claim now. Only a guard makes a commit depend on it.
    pub async fn holder(&self, claim: &Claim) -> Result<Option<StreamId>, StoreError> {
        let query = Query::new(
            "select holder_type, holder_id
             from claims
             where scope = $1 and key = $2",
        );
        let row = self.database.first(query.bind(&claim.scope).bind(&claim.key)).await?;
        let holder = |mut row: Row| Ok(StreamId { aggregate_type: row.take_text(0)?, aggregate_id: row.take_text(1)? });
        row.map(holder).transpose()
    }

    /// Where the log stands.
    pub async fn head(&self) -> Result<Head, StoreError> {
        head(&self.database).await
    }

    /// Counts what is in the log; reads all of it.
    pub async fn stats(&self) -> Result<LogStats, StoreError> {
        let by_type = "select aggregate_type, event_type, count(*),
                cast(sum(octet_length(cast(payload as text)) + octet_length(cast(metadata as text))) as bigint)
             from events
             group by aggregate_type, event_type
             order by count(*) desc, aggregate_type, event_type";
        let answers = self
            .database
            .snapshot(vec![
                Query::new(by_type),
                Query::new("select count(*) from events where sequence = 1"),
                Query::new("select count(*) from batches"),
            ])
            .await?;
        let [types, streams, batches] = answers.as_slice() else { return Err(no_answer()) };
        let mut bytes = 0;
        let mut by_type = Vec::with_capacity(types.len());
        for row in types {
            bytes += row.int(3)?;
            by_type.push(TypeCount {
                aggregate_type: row.text(0)?.to_owned(),
                event_type: row.text(1)?.to_owned(),
                events: row.int(2)?,
            });
        }
        Ok(LogStats {
            events: by_type.iter().map(|it| it.events).sum(),
            streams: first_int(streams)?,
            batches: first_int(batches)?,
            bytes,
            by_type,
        })
    }
}

pub(crate) async fn head(database: &Database) -> Result<Head, StoreError> {
    let query = Query::new("select epoch, position, recorded_at, link from head");
    let row = database.first(query).await?.ok_or_else(|| StoreError::Damaged("the log has no head row".into()))?;
    let link = row.bytes(3)?.try_into().map_err(|_| StoreError::Damaged("the head's link is no hash".into()))?;
    Ok(Head { epoch: row.int(0)?, position: row.int(1)?, recorded_at: row.int(2)?, link })
}

fn first_int(rows: &[Row]) -> Result<i64, StoreError> {
    rows.first().ok_or_else(no_answer)?.int(0)
}

fn no_answer() -> StoreError {
    StoreError::Damaged("a count has no answer".into())
}
