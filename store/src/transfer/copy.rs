//! From store to store: events, batches and links, then everything beside the log, then proof that both are equal.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::batch::{Batch, Broken, Chain};
use super::source::Snapshot;
use super::target::Target;
use super::{TransferError, damaged};
use crate::{Head, Location, StoreError};

/// What a copy came to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyReport {
    /// Events that this run carried.
    pub copied: i64,
    /// Where both logs stand.
    pub position: i64,
    /// The link that both logs have there, in hex.
    pub link: String,
    /// Which life of the log the target is.
    pub epoch: i64,
    /// Rows beside the log: accounts, keys, claims, remembered commands and the like.
    pub rows: i64,
}

/// Which life of the log the target begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// The same.
    Goes,
    /// One that nobody has a cursor of.
    Begins,
}

/// Copies a log as it stands now, with all that stands beside it, and reads the target back to prove it equal.
/// After a kill the same copy goes on where it was; onto a log that is a part of the source it brings the rest.
pub async fn copy(from: &Location, to: &Location, progress: impl FnMut(i64, i64)) -> Result<CopyReport, TransferError> {
    if from == to {
        return Err(TransferError::Refused("a log cannot be copied onto itself".to_owned()));
    }
    let mut source = Snapshot::open(from).await?;
    let mut target = Target::open(to).await?;
    let report = carry(&mut source, &mut target, Life::Goes, progress).await?;
    drop(target);
    prove(&mut Snapshot::open(to).await?, &source.head).await?;
    Ok(report)
}

/// Brings everything of a moment into a target that has nothing else.
pub(super) async fn carry(
    source: &mut Snapshot,
    target: &mut Target,
    life: Life,
    mut progress: impl FnMut(i64, i64),
) -> Result<CopyReport, TransferError> {
    if source.head.epoch < 0 {
        return Err(TransferError::Broken(format!("{}: an unfinished copy of a log is here", source.place)));
    }
    check_prefix(source, target).await?;
    target.begin().await?;
    let found = target.head.position;
    let carried = async {
        carry_events(source, target, &mut progress).await?;
        let epoch = match life {
            Life::Goes => source.head.epoch,
            // Not the next number: the same backup may be restored twice, and each is a life of its own.
            Life::Begins => (source.head.epoch + 1).max(chrono::Utc::now().timestamp()),
        };
        let rows = carry_rows(source, target, epoch).await?;
        Ok(CopyReport {
            copied: target.head.position - found,
            position: target.head.position,
            link: hex::encode(target.head.link),
            epoch,
            rows,
        })
    };
    let carried = carried.await;
    if carried.is_err() {
        target.give_back().await;
    }
    carried
}

/// The target has nothing that the source has not.
async fn check_prefix(source: &mut Snapshot, target: &Target) -> Result<(), TransferError> {
    let here = source.link_at(target.head.position).await.map_err(|e| damaged(&source.place, e))?;
    if target.head.position <= source.head.position && here == Some(target.head.link) {
        return Ok(());
    }
    Err(TransferError::Refused(format!(
        "{} has another history: it is at position {} with a link that {} does not have there",
        target.place, target.head.position, source.place
    )))
}

async fn carry_events(
    source: &mut Snapshot,
    target: &mut Target,
    progress: &mut impl FnMut(i64, i64),
) -> Result<(), TransferError> {
    let total = source.head.position;
    let Head { position, recorded_at, link, .. } = target.head;
    let mut next = checked(source, Chain { position, recorded_at, link }).await?;
    while let Some((batches, reached)) = next {
        // One stretch is read and hashed while the one before it is written.
        let (following, written) = tokio::join!(checked(source, reached), target.append(Arc::new(batches), reached));
        written.map_err(|e| e.of("the source", &target.place))?;
        progress(reached.position, total);
        next = following?;
    }
    if target.head.link != source.head.link {
        let broken = Broken { position: total, what: "the head's link is not that of the last batch" };
        return Err(TransferError::at(&source.place, &broken));
    }
    Ok(())
}

/// The next batches, proven right off the threads that answer others; `None` at the end.
async fn checked(source: &mut Snapshot, chain: Chain) -> Result<Option<(Vec<Batch>, Chain)>, TransferError> {
    let batches = source.batches(chain.position).await.map_err(|e| damaged(&source.place, e))?;
    if batches.is_empty() {
        return Ok(None);
    }
    let check = tokio::task::spawn_blocking(move || chain.follow_all(&batches).map(|reached| (batches, reached)));
    let checked = check.await.map_err(|e| StoreError::Failed(format!("a check did not end well: {e}")))?;
    checked.map(Some).map_err(|broken| TransferError::at(&source.place, &broken))
}

/// Replaces what stands beside the target's log by what stands beside the source's, and opens it to servers.
async fn carry_rows(source: &mut Snapshot, target: &mut Target, epoch: i64) -> Result<i64, TransferError> {
    target.run("begin").await?;
    let carried = carry_tables(source, target).await;
    let carried = match carried {
        Ok(rows) => target.finish(epoch).await.map(|()| rows).map_err(TransferError::from),
        Err(error) => Err(error),
    };
    target.run(if carried.is_ok() { "commit" } else { "rollback" }).await?;
    carried
}

async fn carry_tables(source: &mut Snapshot, target: &mut Target) -> Result<i64, TransferError> {
    let mut rows = 0;
    for (table, columns) in target.tables().await? {
        // A log of an older muster may lack a table, or a column that has a default.
        let there = source.columns(&table).await?;
        let columns: Vec<String> = columns.into_iter().filter(|it| there.contains(it)).collect();
        if columns.is_empty() {
            continue;
        }
        let (sender, receiver) = mpsc::channel(2);
        let (sent, filled) =
            tokio::join!(source.rows(&table, &columns, sender), target.fill(&table, &columns, receiver));
        sent?;
        rows += filled?;
    }
    Ok(rows)
}

/// Reads a log back and proves every byte of it, up to the head of the one it was made from.
pub(super) async fn prove(copy: &mut Snapshot, head: &Head) -> Result<(), TransferError> {
    let mut chain = Chain::START;
    let mut next = checked(copy, chain).await?;
    while let Some((_, reached)) = next {
        chain = reached;
        next = checked(copy, chain).await?;
    }
    // Whoever serves from it may have gone on already.
    if chain.link == copy.head.link && copy.link_at(head.position).await? == Some(head.link) {
        return Ok(());
    }
    let what = "what was read back is not what was written";
    Err(TransferError::at(&copy.place, &Broken { position: chain.position, what }))
}
