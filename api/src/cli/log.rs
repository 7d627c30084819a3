//! `muster log`: proves the log and counts what is in it.

use clap::{Args, Subcommand};
use store::{Access, Clock};

use super::progress::Progress;
use super::{Failure, StoreArgs, output};

#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Recompute the hash chain over every event and name the first one that is not as it was written
    Verify(Format),
    /// Count events, streams and bytes
    Stats(Format),
}

#[derive(Debug, Args)]
pub(super) struct Format {
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, command: LogCommand) -> Result<(), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    match command {
        LogCommand::Verify(format) => {
            let total = stores.log.head().await?.position;
            let mut progress = Progress::start("verifying the log", total, format.json);
            let report = stores.log.verify(|done| progress.show(done, total)).await?;
            let took = progress.finish();
            if format.json {
                output::json(&report)?;
            } else if report.finding.is_none() {
                output::line(format!("{} events are as they were written ({:.1?}).", report.events, took));
                output::line(format!("link {}", report.link));
            }
            match report.finding {
                None => Ok(()),
                Some(it) => Err(Failure::Found(format!("the log is damaged at position {}: {}", it.position, it.what))),
            }
        }
        LogCommand::Stats(format) => {
            let head = stores.log.head().await?;
            let stats = stores.log.stats().await?;
            if format.json {
                let text = serde_json::json!({"store": stores.place, "epoch": head.epoch, "head": head.position, "stats": stats});
                output::json(&text)?;
                return Ok(());
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
    }
}
