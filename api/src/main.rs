//! The `muster` binary: reads the command line and runs what it asks for.

use std::process::ExitCode;

use api::cli::Cli;
use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    api::install_tls();
    api::cli::run(Cli::parse()).await
}
