//! `muster log export`: the log as lines of JSON, each a CloudEvent.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use store::transfer::{self, ExportReport};
use store::{Access, Clock, Location, Moment, MomentError};

use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// Write to this file and not to standard output; it appears when it is whole
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Begin with the batch of this position, or with what was recorded after this time
    #[arg(long, value_name = "MOMENT")]
    from: Option<Moment>,
    /// End with the batch of this position, or with what was recorded by this time
    #[arg(long, value_name = "MOMENT")]
    to: Option<Moment>,
}

pub(super) async fn run(store: &StoreArgs, args: &ExportArgs) -> Result<(), Failure> {
    let (first, last) = range(store, args).await?;
    let location = store.location()?;
    let (report, took) = match &args.output {
        Some(path) => {
            // Beside it first: a file under its own name is whole.
            let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
            let cannot = |e: std::io::Error| anyhow::anyhow!("{}: {e}", path.display());
            let mut file = BufWriter::new(File::create(&unfinished).map_err(cannot)?);
            let written = write(&location, first, last, &mut file, false).await;
            let kept = written.and_then(|done| {
                keep(file, &unfinished, path).map_err(cannot)?;
                Ok(done)
            });
            if kept.is_err() {
                let _ = fs::remove_file(&unfinished);
            }
            kept?
        }
        None => write(&location, first, last, &mut std::io::stdout().lock(), true).await?,
    };
    if args.output.is_some() {
        output::line(format!("{} events were exported ({took:.1?}).", report.events));
        output::line(format!("positions {} to {}", report.first, report.last));
        output::line(format!("link {}", report.link));
    }
    Ok(())
}

async fn write(
    location: &Location,
    first: i64,
    last: Option<i64>,
    out: &mut (impl Write + ?Sized),
    silent: bool,
) -> Result<(ExportReport, std::time::Duration), Failure> {
    let mut progress = Progress::start("exporting the log", 0, silent);
    let exported = transfer::export(location, first, last, out, |done, total| progress.show(done, total)).await;
    let took = progress.finish();
    Ok((exported?, took))
}

fn keep(file: BufWriter<File>, unfinished: &Path, path: &Path) -> std::io::Result<()> {
    let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}

/// The first and the last position that were asked for.
async fn range(store: &StoreArgs, args: &ExportArgs) -> Result<(i64, Option<i64>), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    let wrong = |option: &str, error: MomentError| match error {
        MomentError::Store(error) => Failure::Store(error),
        other => Failure::Setting(format!("{option}: {other}")),
    };
    let first = match &args.from {
        None => 1,
        Some(Moment::Time(time)) => match stores.log.position_at(&Moment::Time(*time)).await {
            Ok(position) => position + 1,
            // Everything was recorded after it.
            Err(MomentError::BeforeTheLog { .. }) => 1,
            Err(error) => return Err(wrong("--from", error)),
        },
        Some(position) => stores.log.position_at(position).await.map_err(|e| wrong("--from", e))?,
    };
    let last = match &args.to {
        None => None,
        Some(moment) => Some(stores.log.position_at(moment).await.map_err(|e| wrong("--to", e))?),
    };
    if last.is_some_and(|last| last < first) {
        return Err(Failure::Setting("--to is before --from".to_owned()));
    }
    Ok((first, last))
}
