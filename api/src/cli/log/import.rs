//! `muster log import`: an exported log back into an empty store.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use clap::Args;
use store::{Access, Clock, Commit, Location, RowChange, Settings, Stores, TextKey, transfer};
use uuid::Uuid;

use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// What `muster log export` wrote; - reads standard input
    file: PathBuf,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, args: &ImportArgs) -> Result<(), Failure> {
    let location = store.location()?;
    let (file, size): (Box<dyn Read + Send>, u64) = if args.file.as_os_str() == "-" {
        (Box::new(std::io::stdin()), 0)
    } else {
        let cannot = |e: std::io::Error| anyhow::anyhow!("{}: {e}", args.file.display());
        let file = File::open(&args.file).map_err(cannot)?;
        let size = file.metadata().map_err(cannot)?.len();
        (Box::new(file), size)
    };
    let mut progress = Progress::start("importing the log", 0, args.json);
    let file = BufReader::with_capacity(1 << 20, file);
    let imported = transfer::import(&location, file, |events, bytes| {
        // How many there will be is guessed from how far the file has been read.
        let total = (events as f64 * size as f64 / bytes.max(1) as f64) as i64;
        progress.show(events, total.max(events));
    });
    let imported = imported.await;
    let report = imported?;
    settle(&location, &mut progress, report.position).await?;
    let took = progress.finish();
    if args.json {
        return output::json(&report).map_err(Failure::from);
    }
    output::line(format!(
        "{} of {} events were new and have been imported ({took:.1?}).",
        report.imported, report.read
    ));
    output::line(format!("The log is at position {}.", report.position));
    output::line(format!("link {}", report.link));
    Ok(())
}

/// Works out from the events what must stand beside them, and opens the log to servers.
async fn settle(location: &Location, progress: &mut Progress, total: i64) -> Result<(), Failure> {
    let settings = Settings { location: location.clone(), clock: Clock::default(), access: Access::Look };
    let stores = Stores::open(settings).await?;
    let held = commands::holders(&stores.log, |done| progress.show(done, total)).await?;
    drop(stores);
    let reactors = reactors::all();
    let reactors: Vec<&str> = reactors.iter().map(|it| it.name()).collect();
    transfer::settle(location, &held.claims, &reactors).await?;
    make_keys(location, &held.sealing).await
}

/// Keys are never exported, so what is sealed in the log stays sealed; what comes is sealed under keys of its own.
async fn make_keys(location: &Location, sealing: &[Uuid]) -> Result<(), Failure> {
    if sealing.is_empty() {
        return Ok(());
    }
    let settings = Settings { location: location.clone(), clock: Clock::default(), access: Access::Change };
    let stores = Stores::open(settings).await?;
    let created_at = stores.log.clock().now_micros();
    for workspace_id in sealing.iter().copied() {
        if stores.log.text_key_of(workspace_id).await?.is_none() {
            let row = RowChange::AddTextKey { workspace_id, key: TextKey::generate()?, created_at };
            stores.log.commit(Commit::of_rows(vec![row])).await.map_err(anyhow::Error::from)?;
        }
    }
    Ok(())
}
