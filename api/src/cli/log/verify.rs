//! `muster log verify`: recomputes every hash, and compares the log with a head that was saved earlier.

use std::path::PathBuf;

use clap::Args;
use store::proof::{Against, SignedHead};
use store::{Access, Clock, VerifyReport};

use crate::cli::keys::{self, ExpectedKeyArgs, KeyArgs};
use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    /// Also find out whether the log was truncated or rewritten since this head was saved (`muster log head`)
    #[arg(long, value_name = "HEAD_FILE")]
    against: Option<PathBuf>,
    #[command(flatten)]
    expected: ExpectedKeyArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, args: &VerifyArgs) -> Result<(), Failure> {
    // A head that cannot be trusted is told before the long work.
    let saved = trusted_head(store, args)?;
    let stores = store.open(Access::Look, Clock::default()).await?;
    let total = stores.log.head().await?.position;
    let mut progress = Progress::start("verifying the log", total, args.json);
    let report = stores.log.verify(|done| progress.show(done, total)).await?;
    let took = progress.finish();
    let against = match &saved {
        Some(saved) if report.finding.is_none() => Some(stores.log.compare_with(saved).await?),
        _ => None,
    };
    if args.json {
        output::json(&Verified { report: &report, against: against.as_ref() })?;
    } else if report.finding.is_none() {
        output::line(format!(
            "{} events are as they were written ({took:.1?}, {:.0} a second).",
            report.events,
            report.events as f64 / took.as_secs_f64().max(0.001)
        ));
        output::line(format!("link {}", report.link));
    }
    if let Some(it) = report.finding {
        return Err(Failure::Found(format!("the log is damaged at position {}: {}", it.position, it.what)));
    }
    let (Some(saved), Some(against)) = (saved, against) else { return Ok(()) };
    match against.finding(&saved) {
        Some(finding) => Err(Failure::Found(finding)),
        None if args.json => Ok(()),
        None => {
            tell(&saved, &against);
            Ok(())
        }
    }
}

fn trusted_head(store: &StoreArgs, args: &VerifyArgs) -> Result<Option<SignedHead>, Failure> {
    let Some(file) = &args.against else { return Ok(None) };
    let saved = keys::saved_head(file)?;
    let expected = args.expected.of(&args.key, store)?;
    saved.check(Some(&expected)).map_err(|e| Failure::Found(format!("{}: {e}", file.display())))?;
    Ok(Some(saved))
}

fn tell(saved: &SignedHead, against: &Against) {
    output::line(format!("All {} events that the saved head covers are still there.", saved.position));
    if let Against::Restored { saved_epoch, epoch } = against {
        output::line(format!("The log was restored since: epoch {saved_epoch} then, {epoch} now."));
    }
}

#[derive(serde::Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    report: &'a VerifyReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Against>,
}
