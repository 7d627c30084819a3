//! Logs on standard error, for people or for machines.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Pretty,
    /// One JSON object per line
    Json,
}

/// How to log.
#[derive(Debug, Args)]
pub(super) struct LoggingArgs {
    /// The form of log lines
    #[arg(
        long,
        global = true,
        env = "MUSTER_LOG_FORMAT",
        value_name = "MUSTER_LOG_FORMAT",
        value_enum,
        default_value = "pretty"
    )]
    log_format: LogFormat,
    /// What to log: error, warn, info, debug, or per module (info,store=debug)
    #[arg(
        long,
        global = true,
        env = "MUSTER_LOG",
        value_name = "MUSTER_LOG",
        default_value = "info,sqlx=warn,rmcp=warn"
    )]
    log_filter: String,
}

/// Starts logging; later calls, as in tests, change nothing.
pub(super) fn start(args: &LoggingArgs) {
    let filter = EnvFilter::try_new(&args.log_filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = std::io::stderr().is_terminal();
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours).with_target(false);
    let started = match args.log_format {
        LogFormat::Pretty => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    drop(started);
}
