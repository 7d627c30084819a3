//! The command line: one subcommand per file, exit codes that mean something.

mod admin;
mod audit;
mod backup;
mod bench;
mod erase;
mod github;
mod keys;
mod log;
mod logging;
mod notifying;
mod output;
mod progress;
mod projections;
mod restore;
mod serve;
mod serve_bundle;
mod serve_past;
mod settings;
mod transfer;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use store::StoreError;

pub use settings::StoreArgs;

/// A check found something wrong: differences, tampering, parked streams.
const FOUND: u8 = 1;
/// A setting is wrong; clap ends with the same.
const SETTING: u8 = 2;
/// The store cannot be used: away, in use by another server, damaged, or made by a newer muster.
const STORE: u8 = 3;
/// Something else failed.
const FAILED: u8 = 4;

/// The system of record and control plane for fleets of AI coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "muster",
    version,
    max_term_width = 110,
    flatten_help = true,
    after_help = "Every option can also be set by the environment variable named beside it; the option wins.\n\n\
        Exit codes: 0 done; 1 a check found something wrong; 2 wrong usage or settings; 3 the store cannot be used;\n\
        4 something else failed; 74 the log could not be written, so the server stopped before acknowledging anything more."
)]
pub struct Cli {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    logging: logging::LoggingArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<serve::ServeArgs>),
    /// Look at, rebuild and verify read models
    #[command(subcommand)]
    Projections(projections::ProjectionsCommand),
    /// Verify and measure the event log
    #[command(subcommand)]
    Log(log::LogCommand),
    /// Look into the past: what happened to anything, what it was, and why
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Write everything into a folder, also while a server runs
    Backup(backup::BackupArgs),
    /// Bring a backup into an empty store; what was remembered of its former life is refused
    Restore(restore::RestoreArgs),
    /// Destroy the key of a workspace's text, and everything that was made of that text
    Erase(erase::EraseArgs),
    /// Things only an operator may do
    #[command(subcommand)]
    Admin(admin::AdminCommand),
    /// Print the OpenAPI document
    Openapi,
}

/// Why a subcommand did not succeed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Setting(String),
    #[error("{0}")]
    Found(String),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

/// Runs one command to its end and says how it ended.
pub async fn run(cli: Cli) -> ExitCode {
    logging::start(&cli.logging);
    let ended = match cli.command {
        Command::Serve(args) => serve::run(&cli.store, *args).await,
        Command::Projections(command) => projections::run(&cli.store, command).await,
        Command::Log(command) => log::run(&cli.store, command).await,
        Command::Audit(command) => audit::run(&cli.store, command).await,
        Command::Backup(args) => backup::run(&cli.store, &args).await,
        Command::Restore(args) => restore::run(&cli.store, &args).await,
        Command::Erase(args) => erase::run(&cli.store, &args).await,
        Command::Admin(command) => admin::run(&cli.store, command).await,
        Command::Openapi => output::json(&crate::openapi()).map_err(Failure::from),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure);
            ExitCode::from(match failure {
                Failure::Found(_) => FOUND,
                Failure::Setting(_) => SETTING,
                Failure::Store(_) => STORE,
                Failure::Other(_) => FAILED,
            })
        }
    }
}
