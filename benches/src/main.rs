//! Benchmarks of Muster: beside what people would use instead and beside what the machine can do, in one run.
//!
//! `make bench` runs all of it in a quick form, `make bench-full` with the sizes that the targets speak of.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod cases;
mod history;
mod http;
mod limits;
mod machine;
mod measure;
mod peers;
mod process;
mod report;
mod rig;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;

use measure::Plan;
use report::Report;

/// The same as in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Muster beside its peers and the limits of this machine.
#[derive(Parser)]
struct Arguments {
    /// The sizes that the targets speak of: about an hour instead of a few minutes.
    #[arg(long)]
    full: bool,
    /// Only cases whose name holds one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Times that each side is measured.
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds that a round of a closed loop lasts.
    #[arg(long)]
    seconds: Option<f64>,
    /// Where the results go.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results"))]
    results: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let seconds = arguments.seconds.unwrap_or(if arguments.full { 2.0 } else { 0.25 });
    let plan =
        Plan { quick: !arguments.full, rounds: arguments.rounds.unwrap_or(3), round: Duration::from_secs_f64(seconds) };
    let wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|it| name.contains(it.as_str()));
    let mut report =
        Report { mode: if plan.quick { "quick" } else { "full" }, machine: machine::facts(), comparisons: vec![] };
    for case in cases::all().into_iter().filter(|it| wanted(it.name)) {
        println!("{} ...\n", case.name);
        let started = Instant::now();
        for comparison in (case.measure)(plan.clone()).await? {
            report::print_one(&comparison);
            report.comparisons.push(comparison);
        }
        println!("{} took {:.0} s\n", case.name, started.elapsed().as_secs_f64());
    }
    report::print(&report);
    if arguments.only.is_empty() {
        report.write(&arguments.results)?;
    }
    Ok(())
}
