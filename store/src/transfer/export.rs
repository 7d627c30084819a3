//! The log as lines of JSON that any tool for CloudEvents reads; people, keys and secrets stay behind.

use std::io::Write;

use super::batch::Chain;
use super::source::Snapshot;
use super::{TransferError, damaged, line};
use crate::Location;

/// What an export came to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportReport {
    /// Events written.
    pub events: i64,
    /// The first of them; where it was asked to begin, or before it in the same batch.
    pub first: i64,
    /// The last of them; where it was asked to end, or after it in the same batch.
    pub last: i64,
    /// The link at the end, in hex.
    pub link: String,
}

/// Writes the log from one position to another, both included, widened to whole batches; to the end without `to`.
pub async fn export(
    from: &Location,
    first: i64,
    to: Option<i64>,
    out: &mut (impl Write + ?Sized),
    mut progress: impl FnMut(i64, i64),
) -> Result<ExportReport, TransferError> {
    let mut source = Snapshot::open(from).await?;
    let place = source.place.clone();
    let failed = |e: std::io::Error| TransferError::File(format!("the export cannot be written: {e}"));
    let wrong = |e: serde_json::Error| TransferError::Broken(format!("{place}: an event cannot be written: {e}"));
    let head = source.head;
    let empty = head.position == 0 || first > head.position;
    let begin = if empty { head.position + 1 } else { source.batch_around(first.max(1)).await?.0 };
    let to = to.unwrap_or(head.position).min(head.position);
    let end = if empty || to < begin { begin - 1 } else { source.batch_around(to).await?.1 };
    let link = source.link_at(begin - 1).await.map_err(|e| damaged(&place, e))?;
    let link = link.ok_or_else(|| TransferError::Broken(format!("{place} is damaged before position {begin}")))?;
    let mut chain = Chain { position: begin - 1, recorded_at: i64::MIN, link };
    let mut text = String::new();
    while chain.position < end {
        let batches = source.batches(chain.position).await.map_err(|e| damaged(&place, e))?;
        text.clear();
        for batch in batches.iter().take_while(|it| it.events.last().is_some_and(|it| it.position <= end)) {
            let reached = chain.follow(batch).map_err(|broken| TransferError::at(&place, &broken))?;
            line::write(batch, &chain.link, &mut text).map_err(wrong)?;
            chain = reached;
        }
        if text.is_empty() {
            return Err(TransferError::Broken(format!("{place} is damaged after position {}", chain.position)));
        }
        out.write_all(text.as_bytes()).map_err(failed)?;
        progress(chain.position + 1 - begin, end + 1 - begin);
    }
    let recorded_at = chain.recorded_at.max(0);
    let closing = line::write_closing(chain.position, &chain.link, recorded_at).map_err(wrong)?;
    out.write_all(closing.as_bytes()).map_err(failed)?;
    out.flush().map_err(failed)?;
    Ok(ExportReport { events: end + 1 - begin, first: begin, last: end, link: hex::encode(chain.link) })
}
