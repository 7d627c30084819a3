//! The other libraries: a program of its own (`benches/peers`), because they need other versions of what we use.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::measure::Sample;

/// A library at work, waiting to be told to run a round.
pub(crate) struct Peer {
    /// Its name and version.
    pub(crate) name: String,
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a peer is to do.
pub(crate) struct Work<'a> {
    pub(crate) peer: &'a str,
    /// `new` or `hot`.
    pub(crate) workload: &'a str,
    pub(crate) clients: usize,
    pub(crate) round: Duration,
    /// Whether its pool is tuned, or what its README makes.
    pub(crate) tuned: bool,
    /// A PostgreSQL address or a file.
    pub(crate) at: &'a str,
}

#[derive(Deserialize)]
struct Ready {
    peer: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Round {
    commands: f64,
    seconds: f64,
    p99_ms: f64,
}

impl Peer {
    /// Starts a peer and waits until it has set itself up.
    pub(crate) fn start(work: &Work<'_>) -> Result<Self> {
        let mut process = Command::new(program())
            .arg(work.peer)
            .args(["--workload", work.workload])
            .args(["--clients", &work.clients.to_string()])
            .args(["--seconds", &work.round.as_secs_f64().to_string()])
            .args(["--pool", if work.tuned { "tuned" } else { "readme" }])
            .args(["--at", work.at])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the peers are not built: `make bench` builds them")?;
        let orders = process.stdin.take().context("a peer has no input")?;
        let mut answers = BufReader::new(process.stdout.take().context("a peer has no output")?);
        let ready: Ready = serde_json::from_str(&line(&mut answers)?).context("a peer did not get ready")?;
        let tuned = if work.tuned { ", tuned" } else { "" };
        Ok(Self { name: format!("{} {}{tuned}", ready.peer, ready.version), process, orders, answers })
    }

    /// One round.
    pub(crate) fn run(&mut self) -> Result<Sample> {
        writeln!(self.orders, "go")?;
        let round: Round = serde_json::from_str(&line(&mut self.answers)?).context("a peer gave no figures")?;
        Ok(Sample { value: round.commands / round.seconds, p99_ms: Some(round.p99_ms) })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(answers: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut line = String::new();
    ensure!(answers.read_line(&mut line)? > 0, "a peer ended: its reason is above");
    Ok(line)
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/target/release/muster-peers")
}
