//! `muster audit export`: one workspace's history in one file, with everything that proves it.

use std::path::{Path, PathBuf};

use clap::Args;
use domain::Scope;
use serde_json::json;
use store::{Claim, EventLog, Moment, MomentError};
use uuid::Uuid;

use super::{look, position_of};
use crate::bundle::{self, BundleError, Checked, Wanted};
use crate::cli::keys::KeyArgs;
use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// Which workspace: its id or its slug
    #[arg(long, value_name = "ID_OR_SLUG")]
    workspace: String,
    /// Leave out what was recorded before this position or time; such a bundle cannot be served
    #[arg(long, value_name = "POSITION_OR_TIME")]
    from: Option<String>,
    /// Leave out what was recorded after this position or time
    #[arg(long, value_name = "POSITION_OR_TIME")]
    to: Option<String>,
    /// The file to write, e.g. bundle.tar.zst; one that is there is replaced once the new one is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Put the key of the workspace's text into the bundle, so that its reader can read what is sealed
    #[arg(long)]
    with_key: bool,
    #[command(flatten)]
    key: KeyArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn export(store: &StoreArgs, args: ExportArgs) -> Result<(), Failure> {
    let stores = look(store).await?;
    let workspace_id = find(&stores.log, &args.workspace).await?;
    let to = position_of(&stores.log, "--to", args.to.as_deref()).await?;
    let from = match &args.from {
        Some(moment) => first_from(&stores.log, moment).await?,
        None => 1,
    };
    if from > to {
        return Err(Failure::Setting(format!("--from is position {from}, which is after --to, position {to}")));
    }
    let key = args.key.signing(store)?;
    let wanted = Wanted { workspace_id, from, to, with_text_key: args.with_key };
    let mut progress = Progress::start("exporting", 0, args.json);
    let made = bundle::export(&stores.log, &key, wanted, &args.output, |done, total| progress.show(done, total)).await;
    progress.finish();
    let made = made.map_err(|error| failure(&args.output, error))?;
    tell(&format!("wrote {}", args.output.display()), &made, args.json)
}

/// A position stands for itself; a time for the first event that was recorded at it or after it.
pub(super) async fn first_from(log: &EventLog, moment: &str) -> Result<i64, Failure> {
    let position = position_of(log, "--from", Some(moment)).await?;
    let Ok(Moment::Time(time)) = moment.parse() else { return Ok(position) };
    match log.position_at(&Moment::Time(time - 1)).await {
        Ok(before) => Ok(before + 1),
        Err(MomentError::Store(error)) => Err(Failure::Store(error)),
        // Nothing is before the first event.
        Err(_) => Ok(1),
    }
}

pub(in crate::cli) async fn find(log: &EventLog, workspace: &str) -> Result<Uuid, Failure> {
    if let Ok(id) = workspace.parse() {
        return Ok(id);
    }
    let claim = Scope::workspace_slugs().claim(workspace);
    let holder = log.holder(&Claim { scope: claim.scope.into(), key: claim.key }).await?;
    let id = holder.and_then(|it| it.aggregate_id.parse().ok());
    id.ok_or_else(|| Failure::Setting(format!("there is no workspace with the slug {workspace:?}; or give its id")))
}

/// What a bundle holds, for people or for machines.
pub(super) fn tell(done: &str, checked: &Checked, as_json: bool) -> Result<(), Failure> {
    let Checked { manifest, head, .. } = checked;
    if as_json {
        return Ok(output::json(&json!({"manifest": manifest, "head": head}))?);
    }
    output::line(format!(
        "{done}: {} events of {} streams of workspace {}, from position {} to {}",
        manifest.events, manifest.streams, manifest.workspace_id, manifest.from, manifest.to
    ));
    output::line(format!("proven under the head at position {} in epoch {}", head.position, head.epoch));
    output::line(format!("key {}", manifest.public_key));
    if manifest.with_text_key {
        output::line("the key of the workspace's text is in it: whoever has the bundle can read what is sealed");
    }
    Ok(())
}

/// A bundle that is not as it was made is a finding; a file that cannot be opened is a wrong setting.
pub(in crate::cli) fn failure(file: &Path, error: BundleError) -> Failure {
    match error {
        BundleError::File(_) | BundleError::Nothing(_) => Failure::Setting(error.to_string()),
        BundleError::Torn(_) | BundleError::Changed(_) | BundleError::Refused(_) => {
            Failure::Found(format!("{}: {error}", file.display()))
        }
        BundleError::Store(error) => Failure::Store(error),
    }
}
