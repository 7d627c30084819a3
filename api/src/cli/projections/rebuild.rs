//! `muster projections rebuild`: builds read models anew from one pass over the log.

use ::projections::offline::{OfflineError, RebuildReport, Terms, VerifyReport, rebuild_on};
use clap::Args;
use store::{Access, Clock, StoreError, Stores};

use super::{Which, list, named};
use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct RebuildArgs {
    #[command(flatten)]
    which: Which,
    /// Build beside a running server, which goes on serving; without, a running server is refused
    #[arg(long)]
    beside: bool,
    /// Let the new rows take over also where they differ from those that were served
    #[arg(long)]
    accept_differences: bool,
    /// Begin at the first event, also where an interrupted rebuild could be continued
    #[arg(long)]
    from_start: bool,
}

pub(super) async fn run(store: &StoreArgs, args: &RebuildArgs) -> Result<(), Failure> {
    let projections = named(&args.which)?;
    let stores = open(store, args.beside).await?;
    let json = args.which.json;
    let what = match projections.as_slice() {
        [only] => format!("rebuilding {}", only.name()),
        many => format!("rebuilding {} models", many.len()),
    };
    let (beside, from_start) = (args.beside, args.from_start);
    let terms = Terms { beside, accept_differences: args.accept_differences, from_start, unseen: false };
    let mut progress = Progress::start(what, 0, json);
    let mut from = None;
    let ends = rebuild_on(terms, &stores.log, &stores.views, &projections, &mut |done, total| {
        if from.is_none() {
            from = Some(done);
            progress.begin_at(done);
        }
        progress.show(done, total);
    })
    .await;
    let took = progress.finish();
    let (reports, reasons): (Vec<_>, Vec<_>) = ends?.into_iter().partition(Result::is_ok);
    let reports: Vec<RebuildReport> = reports.into_iter().flatten().collect();
    if json {
        output::json(&reports)?;
    } else {
        reports.iter().for_each(tell);
        let furthest = reports.iter().map(|it| it.position).max();
        let events = furthest.map_or(0, |it| it - from.unwrap_or(0));
        if events > 0 {
            let rate = events as f64 / took.as_secs_f64().max(0.001);
            output::line(format!("{events} events read in {:.1} s, {rate:.0} a second", took.as_secs_f64()));
        }
    }
    let mut reasons = reasons.into_iter().filter_map(Result::err);
    let first = reasons.next();
    reasons.for_each(|other| output::note(other.to_string()));
    first.map_or(Ok(()), |reason| Err(failure(reason, &stores)))?;
    outcome(&reports)
}

/// Beside a server of a data folder nothing is locked; the registry of builds is the fence.
async fn open(store: &StoreArgs, beside: bool) -> Result<Stores, Failure> {
    let access = if beside { Access::Look } else { Access::Change };
    match store.open(access, Clock::default()).await {
        Err(Failure::Store(StoreError::InUse(place))) => Err(in_use(&place)),
        other => other,
    }
}

fn failure(reason: OfflineError, stores: &Stores) -> Failure {
    match reason {
        OfflineError::Live(_) => in_use(&format!("{}: {reason}; it", stores.place)),
        OfflineError::Store(error) => Failure::Store(error),
        other => Failure::Other(other.into()),
    }
}

fn in_use(what: &str) -> Failure {
    let what = format!("{what} is in use by another muster server: stop it, or build beside it with --beside");
    Failure::Store(StoreError::Setup(what))
}

fn tell(report: &RebuildReport) {
    let RebuildReport { projection, version, position, resumed_from, .. } = report;
    let mut line = format!("{projection} v{version}: built up to position {position}");
    if *resumed_from > 0 {
        line += &format!(", continued from {resumed_from}");
    }
    line += &match &report.compared {
        Some(VerifyReport { rows_compared, differences_total, .. }) => {
            format!("; {rows_compared} rows compared, {differences_total} differ")
        }
        None => "; nothing to compare with".to_owned(),
    };
    line += if report.took_over { "; served now" } else { "; what was served is kept" };
    output::line(line);
    report.compared.iter().for_each(list);
}

/// Rows that were kept although the log says something else are something to look at.
fn outcome(reports: &[RebuildReport]) -> Result<(), Failure> {
    let kept = reports.iter().filter(|it| !it.took_over).filter_map(|it| it.compared.as_ref());
    match kept.map(|it| it.differences_total).sum::<u64>() {
        0 => Ok(()),
        total => Err(Failure::Found(format!(
            "rows that differ from what the log says: {total}; what was served is kept \
             (--accept-differences lets the new rows take over)"
        ))),
    }
}
