//! An exported log read back in: checked line by line, written in whole batches, linked as it was.

use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;

use super::TransferError;
use super::append::AppendError;
use super::batch::{Batch, Chain, streams};
use super::line::{self, EventLine, Line};
use super::target::Target;
use crate::chain::{GENESIS, Hash};
use crate::{Location, StoreError, Take};

/// Events that are written at a time; more when one batch has more.
const MOST_EVENTS: usize = 8_000;
/// No line is longer: an event is at most some tens of megabytes.
const LONGEST_LINE: u64 = 256 << 20;

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Events that were new to the log.
    pub imported: i64,
    /// Events in the file.
    pub read: i64,
    /// Where the log stands.
    pub position: i64,
    /// Its link there, in hex.
    pub link: String,
}

/// Whole batches that prove right among themselves, from one place in the chain to another.
struct Stretch {
    before: Chain,
    batches: Vec<Batch>,
    reached: Chain,
}

/// Reads an export into an empty log, or into one that has the beginning of it. `progress` hears how many events and
/// bytes have been read. Nobody serves from it before [`settle`].
pub async fn import(
    to: &Location,
    file: impl BufRead + Send + 'static,
    mut progress: impl FnMut(i64, u64),
) -> Result<ImportReport, TransferError> {
    let mut target = Target::open(to).await?;
    let bytes = Arc::new(AtomicU64::new(0));
    let (sender, mut stretches) = mpsc::channel(2);
    let counted = Arc::clone(&bytes);
    let reading = tokio::task::spawn_blocking(move || read(file, &counted, &sender));
    target.begin().await?;
    let found = target.head.position;
    let mut events = 0;
    let taken = async {
        while let Some(stretch) = stretches.recv().await {
            events += stretch.reached.position - stretch.before.position;
            take(&mut target, stretch).await?;
            progress(events, bytes.load(Ordering::Relaxed));
        }
        Ok(())
    };
    let taken: Result<(), TransferError> = taken.await;
    drop(stretches);
    let read = reading.await.map_err(|e| StoreError::Failed(format!("reading did not end well: {e}")))?;
    // What is wrong with the file comes before what that does to the log.
    match taken.and(read) {
        Ok(()) => {
            let head = target.head;
            let link = hex::encode(head.link);
            Ok(ImportReport { imported: head.position - found, read: events, position: head.position, link })
        }
        Err(error) => {
            target.give_back().await;
            Err(error)
        }
    }
}

/// Ends an import: events came alone, so what follows from them is put beside them. Reactors are told that they have
/// seen all of it, because what they did then is in the log.
pub async fn settle(to: &Location, claims: &[Take], reactors: &[&str]) -> Result<(), TransferError> {
    let mut target = Target::open(to).await?;
    let epoch = target.head.epoch.abs();
    target.run("begin").await?;
    let settled = match target.put_beside(claims, reactors).await {
        Ok(()) => target.finish(epoch).await,
        Err(error) => Err(error),
    };
    target.run(if settled.is_ok() { "commit" } else { "rollback" }).await?;
    Ok(settled?)
}

/// Takes in what the log does not have; what it has must be the same.
async fn take(target: &mut Target, stretch: Stretch) -> Result<(), TransferError> {
    let Stretch { before, mut batches, reached } = stretch;
    let head = target.head;
    if before.position > head.position {
        let what = format!(
            "the file begins at position {}, and {} ends at {}: what is between is missing",
            before.position + 1,
            target.place,
            head.position
        );
        return Err(TransferError::Refused(what));
    }
    let place = target.place.clone();
    let other = || {
        let what = "has another history than this file";
        TransferError::Refused(format!("{place}: the log at position {} {what}", head.position))
    };
    if reached.position <= head.position {
        // All of it is there already, if it is the same.
        let there = target.link_at(reached.position).await?;
        return if there == Some(reached.link) { Ok(()) } else { Err(other()) };
    }
    let mut link = before.link;
    let mut known = 0;
    let mut position = before.position;
    while position < head.position && known < batches.len() {
        position += batches[known].events.len() as i64;
        link = batches[known].link;
        known += 1;
    }
    if (position, link) != (head.position, head.link) {
        return Err(other());
    }
    batches.drain(..known);
    target.append(Arc::new(batches), reached).await.map_err(|error| match error {
        AppendError::Broken(it) => TransferError::Broken(format!("the event at position {}: {}", it.position, it.what)),
        other => other.of("the file", &place),
    })
}

/// Reads lines into stretches of whole batches until the file ends or something is wrong with it.
fn read(mut file: impl BufRead, bytes: &AtomicU64, stretches: &mpsc::Sender<Stretch>) -> Result<(), TransferError> {
    let mut reader = Reader::default();
    let mut text = Vec::new();
    for number in 1_u64.. {
        text.clear();
        let failed = |e: std::io::Error| TransferError::File(format!("line {number} cannot be read: {e}"));
        let length = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text).map_err(failed)?;
        bytes.fetch_add(length as u64, Ordering::Relaxed);
        let wrong = |what: String| TransferError::Broken(format!("line {number}: {what}"));
        if length == 0 {
            let sent = reader.send(stretches);
            let after = reader.position();
            let what = format!("the file ends after position {after} without its closing line: it is torn");
            return if sent { Err(wrong(what)) } else { Ok(()) };
        }
        let parsed = std::str::from_utf8(&text).map_err(|_| "this is no text".to_owned()).and_then(|text| {
            let whole = text.strip_suffix('\n').ok_or("the line is torn")?;
            line::read(whole)
        });
        let going_on = match parsed {
            Ok(Line::Event(event)) => reader.add(*event, stretches),
            Ok(Line::Closing { position, link }) => {
                reader.close(position, link).map_err(&wrong)?;
                if !reader.send(stretches) {
                    return Ok(());
                }
                return match file.fill_buf().map_err(failed)? {
                    [] => Ok(()),
                    _ => Err(wrong("something follows the closing line".to_owned())),
                };
            }
            Err(what) => Err(what),
        };
        match going_on {
            Ok(true) => {}
            // Nobody takes more: what is wrong is on the other side.
            Ok(false) => return Ok(()),
            Err(what) => {
                let at = reader.expected();
                reader.send(stretches);
                return Err(wrong(format!("position {at}: {what}")));
            }
        }
    }
    Ok(())
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    /// Where the batches begin that have not been sent.
    before: Option<Chain>,
    /// Where they end.
    reached: Option<Chain>,
    batches: Vec<Batch>,
    events: usize,
    /// The batch that is being read.
    open: Option<(usize, Batch)>,
}

impl Reader {
    /// The end of the last whole batch.
    fn position(&self) -> i64 {
        self.reached.map_or(0, |it| it.position)
    }

    /// The position that must come next, as far as the file says.
    fn expected(&self) -> i64 {
        self.position() + 1 + self.open.as_ref().map_or(0, |(_, batch)| batch.events.len() as i64)
    }

    /// Takes an event. False when nobody wants more.
    fn add(&mut self, line: EventLine, stretches: &mpsc::Sender<Stretch>) -> Result<bool, String> {
        let EventLine { event, batch, batch_size, leaf, previous_link, link } = line;
        let position = event.position;
        if self.reached.is_none() {
            let first = batch == position && position >= 1;
            let previous = previous_link.filter(|_| first);
            let previous = previous.ok_or_else(|| format!("the file begins with {position}, inside a batch"))?;
            if position == 1 && previous != GENESIS {
                return Err("the first event of a log must follow no link".to_owned());
            }
            let chain = Chain { position: position - 1, recorded_at: i64::MIN, link: previous };
            (self.before, self.reached) = (Some(chain), Some(chain));
        }
        let expected = self.expected();
        if position != expected {
            return Err(format!("{position} comes where {expected} belongs: lines are missing or in another order"));
        }
        if crate::chain::leaf_of_stored(&event) != leaf {
            return Err("the event is not the one that was written".to_owned());
        }
        let (size, open) = self.open.get_or_insert_with(|| {
            let recorded_at = event.recorded_at;
            (batch_size, Batch { recorded_at, leaves: Vec::new(), link: GENESIS, events: Vec::new() })
        });
        let first = open.events.first().map_or(position, |it| it.position);
        if batch != first || batch_size != *size || batch_size == 0 {
            return Err(format!("it belongs to the batch at {batch}, and the one at {first} is not whole"));
        }
        open.events.push(event);
        open.leaves.push(leaf);
        if open.events.len() < *size {
            return Ok(true);
        }
        open.link = link.ok_or("the last event of a batch has no link")?;
        let Some((_, batch)) = self.open.take() else { return Ok(true) };
        self.whole(batch)?;
        Ok(self.events < MOST_EVENTS || self.send(stretches))
    }

    fn whole(&mut self, batch: Batch) -> Result<(), String> {
        let chain = self.reached.unwrap_or(Chain::START);
        let reached = chain.follow(&batch).map_err(|broken| broken.what.to_owned())?;
        streams(std::slice::from_ref(&batch)).map_err(|broken| broken.what.to_owned())?;
        self.events += batch.events.len();
        self.batches.push(batch);
        self.reached = Some(reached);
        Ok(())
    }

    /// Sends the whole batches that there are. False when nobody wants them.
    fn send(&mut self, stretches: &mpsc::Sender<Stretch>) -> bool {
        let (Some(before), Some(reached)) = (self.before, self.reached) else { return true };
        self.before = Some(reached);
        self.events = 0;
        let batches = std::mem::take(&mut self.batches);
        batches.is_empty() || stretches.blocking_send(Stretch { before, batches, reached }).is_ok()
    }

    fn close(&self, position: i64, link: Hash) -> Result<(), String> {
        if self.open.is_some() {
            return Err(format!("the batch after position {} is not whole", self.position()));
        }
        let Some(reached) = self.reached else { return Ok(()) };
        if (reached.position, reached.link) == (position, link) {
            return Ok(());
        }
        Err(format!("the export ended at position {position}, and the file at {}", reached.position))
    }
}
