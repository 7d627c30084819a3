//! `muster projections`: looks at read models, builds them anew, and proves them right.

mod rebuild;

use std::sync::Arc;

use ::projections::{Projection, offline, parking};
use clap::{Args, Subcommand};
use store::{Access, Clock, Stores, StreamId};

use super::progress::Progress;
use super::{Failure, StoreArgs, output};

#[derive(Debug, Subcommand)]
pub(super) enum ProjectionsCommand {
    /// Show how far each read model is and what is parked
    Status(Which),
    /// Build read models anew from the log, compare them with what is served, and let them take over if nothing differs
    Rebuild(rebuild::RebuildArgs),
    /// Build read models in scratch space and name every row that is served but differs
    Verify(Which),
    /// Apply a parked stream again, after its cause has been mended
    Retry(Parked),
    /// Give up the events of a parked stream that cannot be applied, on record, and apply the rest
    Skip(Parked),
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Which read models; all of them if none is named
    names: Vec<String>,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Parked {
    /// The read model
    name: String,
    /// The stream, as `projections status` shows it: type/id
    #[arg(value_parser = stream)]
    stream: StreamId,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, command: ProjectionsCommand) -> Result<(), Failure> {
    match command {
        ProjectionsCommand::Status(which) => status(&store.open(Access::Look, Clock::default()).await?, &which).await,
        ProjectionsCommand::Verify(which) => verify(&store.open(Access::Look, Clock::default()).await?, &which).await,
        // What writes takes the folder, so that it never races a live server.
        ProjectionsCommand::Rebuild(args) => rebuild::run(store, &args).await,
        ProjectionsCommand::Retry(parked) => unpark(store, parked, false).await,
        ProjectionsCommand::Skip(parked) => unpark(store, parked, true).await,
    }
}

async fn status(stores: &Stores, which: &Which) -> Result<(), Failure> {
    let status = ::projections::status(&stores.log, &stores.views, &named(which)?).await?;
    if which.json {
        return Ok(output::json(&status)?);
    }
    for it in status {
        output::line(super::serve::describe(&it));
        for parked in it.parked {
            let stream = &parked.stream;
            output::line(format!("    parked: {stream} at position {}: {}", parked.position, parked.error));
        }
    }
    Ok(())
}

async fn verify(stores: &Stores, which: &Which) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for projection in named(which)? {
        let mut progress = Progress::start(format!("verifying {}", projection.name()), 0, which.json);
        let report = offline::verify(&stores.log, &stores.views, &projection, &mut |done, total| {
            progress.show(done, total);
        })
        .await;
        progress.finish();
        let report = report.map_err(anyhow::Error::from)?;
        if !which.json {
            output::line(format!(
                "{}: {} rows compared at position {}, {} differ",
                report.projection, report.rows_compared, report.position, report.differences_total
            ));
        }
        reports.push(report);
    }
    if which.json {
        output::json(&reports)?;
    }
    if !which.json {
        reports.iter().for_each(list);
    }
    match reports.iter().map(|it| it.differences_total).sum::<u64>() {
        0 => Ok(()),
        total => Err(Failure::Found(format!("{total} rows differ from what the log says"))),
    }
}

/// Names the rows that differ.
fn list(report: &offline::VerifyReport) {
    let shown = |row: &Option<serde_json::Value>| row.as_ref().map_or("nothing".into(), ToString::to_string);
    for it in &report.differences {
        output::line(format!("  {} {}", it.table, it.key));
        output::line(format!("    served  {}", shown(&it.served)));
        output::line(format!("    rebuilt {}", shown(&it.rebuilt)));
    }
    let unnamed = report.differences_total - report.differences.len() as u64;
    if unnamed > 0 {
        output::line(format!("  and {unnamed} more"));
    }
}

async fn unpark(store: &StoreArgs, parked: Parked, skip: bool) -> Result<(), Failure> {
    let stores = store.open(Access::Change, Clock::default()).await?;
    let projection = find(&parked.name)?;
    let applied = match skip {
        true => parking::skip(&stores.log, &stores.views, &projection, &parked.stream).await,
        false => parking::retry(&stores.log, &stores.views, &projection, &parked.stream).await,
    };
    let applied = applied.map_err(anyhow::Error::from)?;
    if parked.json {
        return Ok(output::json(&serde_json::json!({"applied": applied.applied, "skipped": applied.skipped}))?);
    }
    output::line(format!("{} events applied, {} skipped", applied.applied, applied.skipped.len()));
    Ok(())
}

fn named(which: &Which) -> Result<Vec<Arc<dyn Projection>>, Failure> {
    if which.names.is_empty() {
        return Ok(::projections::all());
    }
    which.names.iter().map(|name| find(name)).collect()
}

fn find(name: &str) -> Result<Arc<dyn Projection>, Failure> {
    let all = ::projections::all();
    let known: Vec<&str> = all.iter().map(|it| it.name()).collect();
    let unknown = || anyhow::anyhow!("there is no read model {name}; there are {}", known.join(", "));
    all.iter().find(|it| it.name() == name).cloned().ok_or_else(unknown).map_err(Failure::from)
}

fn stream(text: &str) -> Result<StreamId, String> {
    let (aggregate_type, aggregate_id) = text.split_once('/').ok_or("a stream is written type/id")?;
    Ok(StreamId::new(aggregate_type, aggregate_id))
}
