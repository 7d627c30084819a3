//! `muster backup`: the log and everything beside it in one folder, also while a server runs.

use std::path::PathBuf;

use clap::Args;
use store::transfer;

use super::progress::Progress;
use super::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// A folder of the backup's own, made if it is not there; keep it safe, it holds password hashes and secrets
    folder: PathBuf,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, args: &BackupArgs) -> Result<(), Failure> {
    let location = store.location()?;
    let mut progress = Progress::start("backing up the log", 0, args.json);
    let done = transfer::backup(&location, &args.folder, |done, total| progress.show(done, total)).await;
    let took = progress.finish();
    let manifest = done?.manifest;
    if args.json {
        return output::json(&manifest).map_err(Failure::from);
    }
    output::line(format!(
        "{} events and {} rows beside the log are in {} ({} bytes, {took:.1?}), read back and proven.",
        manifest.position,
        manifest.rows,
        args.folder.display(),
        manifest.bytes
    ));
    output::line(format!("link {}", manifest.link));
    Ok(())
}
