//! `muster log copy`: one store's log into another, with everything beside it.

use clap::Args;
use store::transfer;

use crate::cli::progress::Progress;
use crate::cli::transfer::location;
use crate::cli::{Failure, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct CopyArgs {
    /// Where the log is: sqlite:<folder> or postgres://..; it may be in use
    #[arg(long, value_name = "STORE")]
    from: String,
    /// Where it goes: an empty store, or one that has a part of it; nobody may serve from it meanwhile
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &CopyArgs) -> Result<(), Failure> {
    let (from, to) = (location("--from", &args.from)?, location("--to", &args.to)?);
    let mut progress = Progress::start("copying the log", 0, args.json);
    let copied = transfer::copy(&from, &to, |done, total| progress.show(done, total)).await;
    let took = progress.finish();
    let report = copied?;
    if args.json {
        return output::json(&report).map_err(Failure::from);
    }
    output::line(format!(
        "{} events and {} rows beside the log were copied ({took:.1?}, {:.0} events a second).",
        report.copied,
        report.rows,
        report.copied as f64 / took.as_secs_f64().max(0.001)
    ));
    output::line(format!("Both logs are at position {} in epoch {}.", report.position, report.epoch));
    output::line(format!("link {}", report.link));
    Ok(())
}
