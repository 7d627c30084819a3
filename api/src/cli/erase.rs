//! `muster erase`: destroys the key of a workspace's text on record, then everything that was made of that text.
//!
//! The key goes first, in the commit that records it; nobody reads the text after that. What is left is to clean up, and
//! a run that was cut off there is finished by the next one, which then destroys no further key.

use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

use ::projections::offline::{PurgeReport, purge};
use clap::Args;
use commands::workspace::EraseWorkspaceText;
use commands::{Actor, CommandError, Context, Executor, Refusal};
use serde::Serialize;
use store::{Access, Clock, Stores, TextKey};
use uuid::Uuid;

use super::progress::Progress;
use super::{Failure, StoreArgs, audit, output};

#[derive(Debug, Args)]
pub(super) struct EraseArgs {
    /// Which workspace: its id or its slug
    #[arg(long, value_name = "ID_OR_SLUG")]
    workspace: String,
    /// Do not ask; needed where there is no terminal to ask on
    #[arg(long)]
    yes: bool,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

/// What an erasure came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    workspace_id: Uuid,
    /// False where an earlier run had recorded it and was cut off.
    recorded_now: bool,
    /// Where the log stands.
    position: i64,
    #[serde(flatten)]
    purged: PurgeReport,
}

pub(super) async fn run(store: &StoreArgs, args: &EraseArgs) -> Result<(), Failure> {
    let stores = store.open(Access::Change, Clock::default()).await?;
    let workspace_id = audit::find_workspace(&stores.log, &args.workspace).await?;
    let cut_off = stores.log.unpurged(workspace_id).await?.is_some();
    if !cut_off && stores.log.text_key_of(workspace_id).await?.is_none() {
        return Err(nothing_to_erase(&args.workspace));
    }
    if !args.yes && !confirmed(&args.workspace)? {
        return Err(Failure::Setting("nothing was erased".to_owned()));
    }
    if !cut_off {
        record(&stores, workspace_id).await?;
    }
    let purged = clean_up(&stores, workspace_id, args.json).await.inspect_err(|_| {
        output::note("The key is destroyed and nobody can read the text; run the same command again to clean up.");
    })?;
    let position = stores.log.head().await?.position;
    let report = Report { workspace_id, recorded_now: !cut_off, position, purged };
    if args.json {
        return output::json(&report).map_err(Failure::from);
    }
    tell(&report);
    Ok(())
}

/// Destroys the key, and records that in the same commit.
async fn record(stores: &Stores, workspace_id: Uuid) -> Result<(), Failure> {
    let executor = Executor::new(Arc::clone(&stores.log));
    let context = Context::new(Actor::System("muster erase"), stores.log.clock().now());
    let command = EraseWorkspaceText { workspace_id: workspace_id.into(), next: TextKey::generate()? };
    match executor.run(&context, &command).await {
        Ok(_) => Ok(()),
        Err(CommandError::Refused(Refusal::Workspace(refusal))) => Err(Failure::Setting(refusal.to_string())),
        Err(error) => Err(anyhow::Error::from(error).into()),
    }
}

/// Removes what was made of the text: answers, read models, what was parked, and what lies in unused pages.
async fn clean_up(stores: &Stores, workspace_id: Uuid, silent: bool) -> Result<PurgeReport, Failure> {
    let Stores { log, views, .. } = stores;
    log.forget_answers_of(workspace_id).await?;
    let mut progress = Progress::start("building read models", 0, silent);
    let projections = ::projections::all();
    let mut show = |done, total| progress.show(done, total);
    let purged = purge(log, views, &projections, workspace_id, &mut show).await;
    progress.finish();
    let purged = purged?;
    log.scrub().await?;
    log.note_purged(workspace_id).await?;
    Ok(purged)
}

fn confirmed(workspace: &str) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Setting("an erasure cannot be undone: say --yes where nobody can be asked".to_owned()));
    }
    output::note(format!(
        "The text of {workspace} that was sealed so far becomes unreadable for everybody, for good. A backup that was \
         taken before still has the key.\nType {workspace} to go on:"
    ));
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(anyhow::Error::from)?;
    Ok(line.trim() == workspace)
}

fn nothing_to_erase(workspace: &str) -> Failure {
    let what = "does not exist or never had its text sealed, so there is no key to destroy";
    Failure::Setting(format!("the workspace {workspace} {what}"))
}

fn tell(report: &Report) {
    let Report { workspace_id, recorded_now, position, purged } = report;
    output::line(match recorded_now {
        true => format!("the text of workspace {workspace_id} is erased, which is recorded at position {position}"),
        false => format!("the text of workspace {workspace_id} was erased before; what was left of it is gone too"),
    });
    output::line(format!("{} read models were built anew", purged.rebuilt.len()));
    for (name, reason) in &purged.dropped {
        output::line(format!("{name} could not be built and was dropped; a server builds it again: {reason}"));
    }
    output::line("what is written from now on is sealed under a new key; backups taken before still have the old one");
}
