//! Recomputes the hash chain and says where the log is not what was written.

use std::collections::VecDeque;

use crate::chain::{self, GENESIS, Hash};
use crate::sql::{Query, Row};
use crate::{EventLog, StoreError, StoredEvent};

/// Events that are read while the ones before them are hashed; more when one batch has more.
const STRETCH: usize = 4_000;

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

#[derive(Debug)]
struct BatchRow {
    first: i64,
    events: i64,
    recorded_at: i64,
    leaves: Vec<u8>,
    link: Hash,
}

/// Some batches in a row, with the events that are in the log where theirs should be.
struct Stretch {
    batches: Vec<BatchRow>,
    events: Result<Vec<StoredEvent>, StoreError>,
}

/// How far everything has proven right.
#[derive(Debug, Clone, Copy)]
struct Proven {
    events: i64,
    link: Hash,
}

impl BatchRow {
    /// How many events to read for it: a size that its leaves contradict is not believed.
    fn size(&self) -> usize {
        usize::try_from(self.events).unwrap_or(0).min(self.leaves.len() / 32)
    }
}

impl EventLog {
    /// Reads the whole log, recomputes every leaf and link, and stops at the first that differs.
    pub async fn verify(&self, mut progress: impl FnMut(i64)) -> Result<VerifyReport, StoreError> {
        let head = self.head().await?;
        let mut proven = Proven { events: 0, link: GENESIS };
        let report = |proven: Proven, finding| {
            Ok(VerifyReport { events: proven.events, link: hex::encode(proven.link), finding })
        };
        let mut reading = Reading { log: self, head: head.position, at: 0, batches: VecDeque::new() };
        let mut next = reading.stretch().await?;
        while let Some(stretch) = next {
            // One stretch is read while the one before it is hashed.
            let (following, checked) = tokio::join!(reading.stretch(), self.check(proven, stretch));
            let (checked, finding) = checked?;
            proven = checked;
            if finding.is_some() {
                return report(proven, finding);
            }
            progress(proven.events);
            next = following?;
        }
        if proven.events < head.position {
            let what = "the log ends before its head: events are missing".to_owned();
            return report(proven, Some(Finding { position: proven.events + 1, what }));
        }
        let finding = if proven.link != head.link {
            let what = "the head's link is not that of the last batch".to_owned();
            Some(Finding { position: proven.events, what })
        } else {
            self.beyond_the_head().await?
        };
        report(proven, finding)
    }

    /// Checks a stretch off the threads that answer others. How far it is right, and what is wrong with the rest.
    async fn check(&self, proven: Proven, stretch: Stretch) -> Result<(Proven, Option<Finding>), StoreError> {
        let Stretch { batches, events } = stretch;
        match events {
            Ok(events) => {
                let check = move || check_all(proven, &batches, &events);
                let checked = tokio::task::spawn_blocking(check).await;
                checked.map_err(|e| StoreError::Failed(format!("verification did not end well: {e}")))
            }
            // Damage is what verification is for: batch by batch, to say where it begins.
            Err(StoreError::Damaged(_)) => {
                let mut proven = proven;
                for batch in batches.iter() {
                    let finding = match self.read_as_written(batch.first - 1, batch.size()).await {
                        Ok(events) => {
                            let (checked, finding) = check_all(proven, std::slice::from_ref(batch), &events);
                            proven = checked;
                            finding
                        }
                        Err(StoreError::Damaged(what)) => {
                            Some(Finding { position: self.first_damage(batch.first).await?, what })
                        }
                        Err(other) => return Err(other),
                    };
                    if finding.is_some() {
                        return Ok((proven, finding));
                    }
                }
                Ok((proven, None))
            }
            Err(other) => Err(other),
        }
    }

    /// The first position that is missing or cannot be read, at or after one.
    async fn first_damage(&self, from: i64) -> Result<i64, StoreError> {
        let mut position = from;
        loop {
            match self.read_as_written(position - 1, 1).await {
                Ok(found) if !found.is_empty() => position += 1,
                Ok(_) | Err(StoreError::Damaged(_)) => return Ok(position),
                Err(other) => return Err(other),
            }
        }
    }

    /// Events past the head were not put there by a commit. The head is the one of the same look: commits go on meanwhile.
    async fn beyond_the_head(&self) -> Result<Option<Finding>, StoreError> {
        let query = Query::new("select min(position) from events where position > (select position from head)");
        let row = self.database.first(query).await?;
        let position = row.map(|row| row.optional(0, Row::int)).transpose()?.flatten();
        Ok(position.map(|position| Finding { position, what: "an event stands past the log's head".into() }))
    }
}

/// The log on its way to being checked, stretch by stretch.
struct Reading<'a> {
    log: &'a EventLog,
    head: i64,
    /// Batches up to here have been read.
    at: i64,
    /// Of those, the ones whose events have not.
    batches: VecDeque<BatchRow>,
}

impl Reading<'_> {
    /// The next batches and what stands in the log where their events should be; `None` at the end.
    async fn stretch(&mut self) -> Result<Option<Stretch>, StoreError> {
        let (mut batches, mut wanted) = (vec![], 0);
        while wanted < STRETCH {
            if self.batches.is_empty() {
                self.more_batches().await?;
            }
            let Some(batch) = self.batches.pop_front() else { break };
            wanted += batch.size();
            batches.push(batch);
        }
        let Some(first) = batches.first() else { return Ok(None) };
        let events = self.log.read_as_written(first.first - 1, wanted).await;
        Ok(Some(Stretch { batches, events }))
    }

    async fn more_batches(&mut self) -> Result<(), StoreError> {
        let query = Query::new(
            "select first_position, events, recorded_at, leaves, link
             from batches
             where first_position > $1 and first_position <= $2
             order by first_position
             limit 200",
        );
        let rows = self.log.database.query(query.bind(self.at).bind(self.head)).await?;
        self.batches = rows.iter().map(batch_row).collect::<Result<_, _>>()?;
        self.at = self.batches.back().map_or(self.at, |it| it.first);
        Ok(())
    }
}

/// Checks batches against the events in the log, which begin with the first one's.
fn check_all(mut proven: Proven, batches: &[BatchRow], mut events: &[StoredEvent]) -> (Proven, Option<Finding>) {
    for batch in batches {
        let (own, rest) = events.split_at(batch.size().min(events.len()));
        if let Some(finding) = check_batch(&proven, batch, own) {
            return (proven, Some(finding));
        }
        events = rest;
        proven = Proven { events: proven.events + batch.events, link: batch.link };
    }
    (proven, None)
}

fn check_batch(proven: &Proven, batch: &BatchRow, events: &[StoredEvent]) -> Option<Finding> {
    let found = |position, what: &str| Some(Finding { position, what: what.to_owned() });
    let (leaves, rest) = batch.leaves.as_chunks::<32>();
    if batch.first != proven.events + 1 || leaves.len() as i64 != batch.events || !rest.is_empty() {
        return found(proven.events + 1, "the record of a batch is missing or does not fit");
    }
    for (event, leaf) in events.iter().zip(leaves) {
        if let Some(what) = differs(event, batch, leaf) {
            return found(event.position, what);
        }
    }
    if events.len() < leaves.len() {
        return found(batch.first + events.len() as i64, "an event is missing");
    }
    let link = chain::link(&proven.link, batch.first, batch.recorded_at, leaves.iter());
    (link != batch.link).then(|| Finding {
        position: batch.first,
        what: "the batch's link does not follow from the link before it".to_owned(),
    })
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
