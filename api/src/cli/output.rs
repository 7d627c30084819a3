//! What the command line prints: answers on standard output, complaints on standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the one place that prints")]

use std::io::Write;

use serde::Serialize;

/// A line for whoever reads the terminal or the pipe.
pub(super) fn line(text: impl AsRef<str>) {
    // A reader that has gone away (`muster .. | head`) is no reason to panic.
    let _ = writeln!(std::io::stdout(), "{}", text.as_ref());
}

/// A value for machines.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Why it did not work.
pub(super) fn complain(failure: &impl std::fmt::Display) {
    eprintln!("muster: {failure}");
}

/// How far long work has come, where there is no terminal to draw on.
pub(super) fn note(text: impl AsRef<str>) {
    eprintln!("{}", text.as_ref());
}
