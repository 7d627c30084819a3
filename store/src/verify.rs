//! Recomputes the hash chain and says where the log is not what was written.

use crate::chain::{self, GENESIS, Hash};
use crate::sql::{Query, Row};
use crate::{EventLog, StoreError, StoredEvent};

/// Events read at a time.
const PAGE: i64 = 2_000;

/// Something in the log that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The first position that cannot be trusted.
    pub position: i64,
    /// What is wrong there.
    pub what: String,
}

/// What verification came to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// Events checked before the end or the first finding.
    pub events: i64,
    /// The last link that was proven right, in hex.
    pub link: String,
    /// The first thing found wrong, if any.
    pub finding: Option<Finding>,
}

struct BatchRow {
    first: i64,
    events: i64,
    recorded_at: i64,
    leaves: Vec<u8>,
    link: Hash,
}

impl EventLog {
    /// Reads the whole log, recomputes every leaf and link, and stops at the first that differs.
    pub async fn verify(&self, mut progress: impl FnMut(i64)) -> Result<VerifyReport, StoreError> {
        let head = self.head().await?;
        let (mut link, mut done) = (GENESIS, 0);
        let report = |events, link: &Hash, finding| VerifyReport { events, link: hex::encode(link), finding };
        while done < head.position {
            let batches = self.batches_after(done, head.position).await?;
            if batches.is_empty() {
                let finding =
                    Finding { position: done + 1, what: "the log ends before its head: events are missing".into() };
                return Ok(report(done, &link, Some(finding)));
            }
            for batch in batches {
                if let Some(finding) = self.check_batch(done, &link, &batch).await? {
                    return Ok(report(done, &link, Some(finding)));
                }
                link = batch.link;
                done += batch.events;
                progress(done);
            }
        }
        let finding = if link != head.link {
            Some(Finding { position: done, what: "the head's link is not that of the last batch".into() })
        } else {
            self.beyond(head.position).await?
        };
        Ok(report(done, &link, finding))
    }

    async fn check_batch(&self, before: i64, previous: &Hash, batch: &BatchRow) -> Result<Option<Finding>, StoreError> {
        let found = |position, what: &str| Ok(Some(Finding { position, what: what.to_owned() }));
        let (leaves, rest) = batch.leaves.as_chunks::<32>();
        if batch.first != before + 1 || leaves.len() as i64 != batch.events || !rest.is_empty() {
            return found(before + 1, "the record of a batch is missing or does not fit");
        }
        let mut position = batch.first;
        while position < batch.first + batch.events {
            let wanted = PAGE.min(batch.first + batch.events - position);
            let events = match self.read_all(position - 1, wanted as usize).await {
                Ok(events) => events,
                // Damage is what verification is for; say where, not only that there is some.
                Err(StoreError::Damaged(what)) => return found(self.first_damage(position).await?, &what),
                Err(other) => return Err(other),
            };
            if (events.len() as i64) < wanted {
                return found(position + events.len() as i64, "an event is missing");
            }
            for event in &events {
                if let Some(what) = differs(event, batch, &leaves[(event.position - batch.first) as usize]) {
                    return found(event.position, what);
                }
            }
            position += wanted;
        }
        if chain::link(previous, batch.first, batch.recorded_at, leaves.iter()) != batch.link {
            return found(batch.first, "the batch's link does not follow from the link before it");
        }
        Ok(None)
    }

    async fn batches_after(&self, done: i64, head: i64) -> Result<Vec<BatchRow>, StoreError> {
        let query = Query::new(
            "select first_position, events, recorded_at, leaves, link
             from batches
             where first_position > $1 and first_position <= $2
             order by first_position
             limit 1000",
        );
        self.database.query(query.bind(done).bind(head)).await?.iter().map(batch_row).collect()
    }

    /// The first position that is missing or cannot be read, at or after one.
    async fn first_damage(&self, from: i64) -> Result<i64, StoreError> {
        let mut position = from;
        loop {
            match self.read_at(position).await {
                Ok(Some(_)) => position += 1,
                Ok(None) | Err(StoreError::Damaged(_)) => return Ok(position),
                Err(other) => return Err(other),
            }
        }
    }

    /// Events past the head were not put there by a commit.
    async fn beyond(&self, head: i64) -> Result<Option<Finding>, StoreError> {
        let query = Query::new("select min(position) from events where position > $1").bind(head);
        let row = self.database.first(query).await?;
        let position = row.map(|row| row.optional(0, Row::int)).transpose()?.flatten();
        Ok(position.map(|position| Finding { position, what: "an event stands past the log's head".into() }))
    }
}

fn differs(event: &StoredEvent, batch: &BatchRow, leaf: &Hash) -> Option<&'static str> {
    if event.recorded_at != batch.recorded_at {
        return Some("the event's time is not that of its batch");
    }
    (chain::leaf_of_stored(event) != *leaf).then_some("the event is not the one that was written")
}

fn batch_row(row: &Row) -> Result<BatchRow, StoreError> {
    Ok(BatchRow {
        first: row.int(0)?,
        events: row.int(1)?,
        recorded_at: row.int(2)?,
        leaves: row.bytes(3)?.to_vec(),
        link: row.bytes(4)?.try_into().map_err(|_| StoreError::Damaged("a link is no hash".into()))?,
    })
}
