//! Reading the log: one stream, everything after a position, and where the head is.

use crate::chain::Hash;
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

macro_rules! events_where {
    ($rest:literal) => {
        concat!(
            "select position, aggregate_type, aggregate_id, sequence, event_type, event_version,
                    cast(payload as text), cast(metadata as text), event_id, workspace_id, recorded_at
             from events ",
            $rest
        )
    };
}

impl EventLog {
    /// A stream's events from one sequence to another, both included; to the end without `to`.
    pub async fn read_stream(
        &self,
        stream: &StreamId,
        from: i64,
        to: Option<i64>,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let query = Query::new(events_where!(
            "where aggregate_type = $1 and aggregate_id = $2 and sequence between $3 and $4 order by sequence"
        ))
        .bind(&stream.aggregate_type)
        .bind(&stream.aggregate_id)
        .bind(from)
        .bind(to.unwrap_or(i64::MAX));
        let events = self.events(query).await?;
        contiguous(events.iter().map(|event| event.sequence), from.max(1), || stream.to_string())?;
        Ok(events)
    }

    /// Events after a position, oldest first. What comes back has no hole: a hole is damage, never a late commit.
    pub async fn read_all(&self, after: i64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let query = Query::new(events_where!("where position > $1 order by position limit $2"))
            .bind(after)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX));
        let events = self.events(query).await?;
        contiguous(events.iter().map(|event| event.position), after.max(0) + 1, || "the log".into())?;
        Ok(events)
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

    async fn events(&self, query: Query) -> Result<Vec<StoredEvent>, StoreError> {
        self.database.query(query).await?.into_iter().map(event).collect()
    }
}

pub(crate) async fn head(database: &Database) -> Result<Head, StoreError> {
    let query = Query::new("select epoch, position, recorded_at, link from head");
    let row = database.first(query).await?.ok_or_else(|| StoreError::Damaged("the log has no head row".into()))?;
    let link = row.bytes(3)?.try_into().map_err(|_| StoreError::Damaged("the head's link is no hash".into()))?;
    Ok(Head { epoch: row.int(0)?, position: row.int(1)?, recorded_at: row.int(2)?, link })
}

fn event(mut row: Row) -> Result<StoredEvent, StoreError> {
    Ok(StoredEvent {
        position: row.int(0)?,
        stream: StreamId { aggregate_type: row.take_text(1)?, aggregate_id: row.take_text(2)? },
        sequence: row.int(3)?,
        event_type: row.take_text(4)?,
        event_version: row.take_text(5)?,
        payload: row.take_text(6)?,
        metadata: row.take_text(7)?,
        event_id: row.uuid(8)?,
        workspace_id: row.optional(9, Row::uuid)?,
        recorded_at: row.int(10)?,
    })
}

fn contiguous(found: impl Iterator<Item = i64>, from: i64, of: impl Fn() -> String) -> Result<(), StoreError> {
    for (wanted, found) in (from..).zip(found) {
        if found != wanted {
            return Err(StoreError::Damaged(format!("{} has a hole at {wanted}: next comes {found}", of())));
        }
    }
    Ok(())
}

fn first_int(rows: &[Row]) -> Result<i64, StoreError> {
    rows.first().ok_or_else(no_answer)?.int(0)
}

fn no_answer() -> StoreError {
    StoreError::Damaged("a count has no answer".into())
}
