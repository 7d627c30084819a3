//! Runs one event-sourcing library under the load that Muster is measured with, a round for each line of input.

mod cqrs;
mod disintegrate;
mod entry;
mod esrs;
mod peer;
mod postgres;
mod postgres_es;
mod read_muster_log;
mod round;
mod sqlite_es;

use std::collections::HashMap;
use std::io::BufRead;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::peer::{Connections, Peer};
use crate::round::{Load, Workload};

const USAGE: &str = "usage:
  muster-peers <postgres-es|sqlite-es|disintegrate|esrs> --at <postgres url | new sqlite file>
      [--workload new|hot] [--clients 64] [--seconds 2] [--pool readme|tuned|<connections>]
  muster-peers read-muster-log --at <postgres url> --aggregate-type <type> --aggregate-id <id> [--schema log]";

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let what = words.next().context(USAGE)?;
    let flags = Flags::parse(words)?;
    let runtime = Runtime::new()?;
    match what.as_str() {
        "postgres-es" => serve::<postgres_es::PostgresEs>(&runtime, &flags),
        "sqlite-es" => serve::<sqlite_es::SqliteEs>(&runtime, &flags),
        "disintegrate" => serve::<disintegrate::Disintegrate>(&runtime, &flags),
        "esrs" => serve::<esrs::Esrs>(&runtime, &flags),
        "read-muster-log" => {
            flags.allow(&["at", "schema", "aggregate-type", "aggregate-id"])?;
            let (schema, kind) = (flags.or("schema", "log".to_owned())?, flags.need("aggregate-type")?);
            let found = runtime.block_on(read_muster_log::read(
                flags.need("at")?,
                &schema,
                kind,
                flags.need("aggregate-id")?,
            ))?;
            println!("{found}");
            Ok(())
        }
        _ => bail!("{what}: no such peer\n{USAGE}"),
    }
}

/// Sets the peer up, says so, and then answers each line of input with one round.
fn serve<P: Peer>(runtime: &Runtime, flags: &Flags) -> Result<()> {
    flags.allow(&["at", "workload", "clients", "seconds", "pool"])?;
    let load = Load { clients: flags.or("clients", 64)?, lasting: Duration::from_secs_f64(flags.or("seconds", 2.0)?) };
    let workload = flags.or("workload", Workload::New)?;
    let connections = match flags.or("pool", "readme".to_owned())?.as_str() {
        "readme" => Connections::AS_ITS_README_SAYS,
        "tuned" => Connections::tuned(P::POOL.size(workload)),
        count => Connections::tuned(count.parse().with_context(|| format!("--pool {count}\n{USAGE}"))?),
    };
    let peer = runtime.block_on(P::set_up(flags.need("at")?, connections))?;
    let streams = Arc::new(runtime.block_on(round::seed(&peer, workload))?);
    let peer = Arc::new(peer);
    println!("{}", json!({ "ready": true, "peer": P::NAME, "version": peer::locked_version(P::CRATE)? }));

    for line in std::io::stdin().lock().lines() {
        line?;
        let round = runtime.block_on(round::run(&peer, &streams, load))?;
        println!("{}", serde_json::to_string(&round)?);
    }
    Ok(())
}

/// `--name value` pairs.
struct Flags(HashMap<String, String>);

impl Flags {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut flags = HashMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").with_context(|| format!("{word}: not a flag\n{USAGE}"))?;
            let value = words.next().with_context(|| format!("{word} needs a value\n{USAGE}"))?;
            flags.insert(name.to_owned(), value);
        }
        Ok(Self(flags))
    }

    // A misspelt flag would silently measure something else.
    fn allow(&self, names: &[&str]) -> Result<()> {
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            Some(unknown) => bail!("--{unknown}: no such flag here\n{USAGE}"),
            None => Ok(()),
        }
    }

    fn need(&self, name: &str) -> Result<&str> {
        self.0.get(name).map(String::as_str).with_context(|| format!("--{name} is missing\n{USAGE}"))
    }

    fn or<T: FromStr<Err: std::fmt::Display>>(&self, name: &str, default: T) -> Result<T> {
        match self.0.get(name) {
            Some(value) => value.parse().map_err(|e| anyhow::anyhow!("--{name} {value}: {e}")),
            None => Ok(default),
        }
    }
}
