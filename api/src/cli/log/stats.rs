//! `muster log stats`: counts events, streams and bytes.

use store::{Access, Clock};

use super::Format;
use crate::cli::{Failure, StoreArgs, output};

pub(super) async fn run(store: &StoreArgs, format: &Format) -> Result<(), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    let head = stores.log.head().await?;
    let stats = stores.log.stats().await?;
    if format.json {
        let text =
            serde_json::json!({"store": stores.place, "epoch": head.epoch, "head": head.position, "stats": stats});
        return Ok(output::json(&text)?);
    }
    output::line(format!("{}: head {} in epoch {}", stores.place, head.position, head.epoch));
    output::line(format!(
        "{} events in {} streams, written in {} batches, {} bytes of payload and metadata",
        stats.events, stats.streams, stats.batches, stats.bytes
    ));
    for kind in stats.by_type {
        output::line(format!("{:>12}  {:<12} {}", kind.events, kind.aggregate_type, kind.event_type));
    }
    Ok(())
}
