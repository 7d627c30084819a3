//! Benchmarks of Muster: ratios measured side by side in one run, because absolute figures depend on the machine.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod group_commit;
mod session_start;

use muster_tests::stores::Kind;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    group_commit::measure().await?;
    for kind in [Kind::Sqlite, Kind::Postgres] {
        session_start::measure(kind).await?;
    }
    Ok(())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
