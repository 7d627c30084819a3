//! `muster restore`: a backup into an empty store of either kind, as a new life of the log.

use std::path::PathBuf;

use clap::Args;
use store::transfer;

use super::progress::Progress;
use super::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// What `muster backup` wrote
    folder: PathBuf,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, args: &RestoreArgs) -> Result<(), Failure> {
    let location = store.location()?;
    let mut progress = Progress::start("restoring the log", 0, args.json);
    let done = transfer::restore(&args.folder, &location, |done, total| progress.show(done, total)).await;
    let took = progress.finish();
    let report = done?;
    if args.json {
        return output::json(&report).map_err(Failure::from);
    }
    output::line(format!(
        "{} events and {} rows beside the log were restored ({took:.1?}), read back and proven.",
        report.events, report.rows
    ));
    output::line(format!(
        "The log was in epoch {} and is in epoch {} now: cursors of its former life are refused.",
        report.former_epoch, report.epoch
    ));
    output::line(format!("link {}", report.link));
    Ok(())
}
