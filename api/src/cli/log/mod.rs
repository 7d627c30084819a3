//! `muster log`: proves the log, counts what is in it, and moves it.

mod check_proof;
mod copy;
mod export;
mod head;
mod import;
mod prove;
mod stats;
mod verify;

use clap::{Args, Subcommand};

use super::{Failure, StoreArgs};

#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Recompute the hash chain over every event and name the first one that is not as it was written
    Verify(verify::VerifyArgs),
    /// Print the signed head as JSON, to be kept where the log is not
    Head(head::HeadArgs),
    /// Make a key that signs heads, readable by its owner alone
    MakeKey(head::MakeKeyArgs),
    /// Prove that one event is in the log, to somebody who does not have it
    Prove(prove::ProveArgs),
    /// Check such a proof, with no database
    CheckProof(check_proof::CheckProofArgs),
    /// Prove that the log of today begins with the log of a saved head
    ProveConsistency(prove::ProveConsistencyArgs),
    /// Check such a proof, with no database
    CheckConsistency(check_proof::CheckProofArgs),
    /// Write the log as lines of JSON, each a CloudEvent; without accounts, keys and secrets
    Export(export::ExportArgs),
    /// Read an export into an empty log, or into one that has the beginning of it
    Import(import::ImportArgs),
    /// Copy a log with everything beside it from one store to another; the same again goes on after a kill
    Copy(copy::CopyArgs),
    /// Count events, streams and bytes
    Stats(Format),
}

#[derive(Debug, Args)]
pub(super) struct Format {
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(store: &StoreArgs, command: LogCommand) -> Result<(), Failure> {
    match command {
        LogCommand::Verify(args) => verify::run(store, &args).await,
        LogCommand::Head(args) => head::run(store, &args).await,
        LogCommand::MakeKey(args) => head::make_key(&args),
        LogCommand::Prove(args) => prove::run(store, &args).await,
        LogCommand::CheckProof(args) => check_proof::inclusion(&args),
        LogCommand::ProveConsistency(args) => prove::consistency(store, &args).await,
        LogCommand::CheckConsistency(args) => check_proof::consistency(&args),
        LogCommand::Export(args) => export::run(store, &args).await,
        LogCommand::Import(args) => import::run(store, &args).await,
        LogCommand::Copy(args) => copy::run(&args).await,
        LogCommand::Stats(format) => stats::run(store, &format).await,
    }
}
