//! `muster log prove` and `muster log prove-consistency`: proofs for somebody who does not have the log.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use store::{Access, Clock, MomentError};

use crate::cli::keys::{self, KeyArgs};
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct ProveArgs {
    /// The position of the event
    #[arg(allow_negative_numbers = true)]
    position: i64,
    /// Write the proof to this file and not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ProveConsistencyArgs {
    /// A head that was saved earlier
    head: PathBuf,
    /// Write the proof to this file and not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    key: KeyArgs,
}

pub(super) async fn run(store: &StoreArgs, args: &ProveArgs) -> Result<(), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    let proof = stores.log.prove(args.position, &args.key.signing(store)?).await.map_err(|e| match e {
        MomentError::Store(e) => Failure::Store(e),
        other => Failure::Setting(other.to_string()),
    })?;
    write(&proof, args.output.as_deref())
}

pub(super) async fn consistency(store: &StoreArgs, args: &ProveConsistencyArgs) -> Result<(), Failure> {
    let saved = keys::saved_head(&args.head)?;
    let stores = store.open(Access::Look, Clock::default()).await?;
    let key = args.key.signing(store)?;
    saved.check(Some(&key.public())).map_err(|e| Failure::Found(format!("{}: {e}", args.head.display())))?;
    match stores.log.prove_consistency(&saved, &key).await? {
        Ok(proof) => write(&proof, args.output.as_deref()),
        Err(against) => Err(Failure::Found(against.finding(&saved).unwrap_or_default())),
    }
}

fn write(proof: &impl Serialize, file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(output::json(proof)?) };
    let text = serde_json::to_string_pretty(proof).map_err(anyhow::Error::from)? + "\n";
    std::fs::write(file, text).map_err(|e| Failure::Setting(format!("{}: {e}", file.display())))?;
    output::line(format!("wrote {}", file.display()));
    Ok(())
}
