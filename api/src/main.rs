//! The `muster` binary: reads the command line and runs what it asks for.

use std::process::ExitCode;

use api::cli::Cli;
use clap::Parser;

/// Events are made on one thread and freed on another all day, which the system's allocator pays for with locks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    api::install_tls();
    api::cli::run(Cli::parse()).await
}
