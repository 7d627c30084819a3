//! A whole factory under load: twenty epics with ten workers each, from their creation to their completion.

use anyhow::{Context as _, Result};
use muster_tests::fleet::Fleet;
use muster_tests::standins::{Factory, Ran};
use muster_tests::stores::Kind;

use crate::measure::{Plan, Sample, Series, Unit, percentile};
use crate::report::{Comparison, Target};
use crate::rig::Rig;

/// Epics side by side, and workers of each.
const SIZE: (usize, usize) = (20, 10);
const QUICK: (usize, usize) = (20, 3);
/// A tool call takes three commits; an agent should not feel them.
const MOST_MS: f64 = 250.0;

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Sqlite).await
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Postgres).await
}

async fn on(plan: &Plan, kind: Kind) -> Result<Vec<Comparison>> {
    let (epics, workers) = if plan.quick { QUICK } else { SIZE };
    let (mut calls, mut tasks, mut latencies) = (Vec::new(), Vec::new(), Vec::new());
    let mut events = 0;
    for _ in 0..plan.rounds {
        let rig = Rig::open(kind).await?;
        let fleet = Fleet::on(rig.log().clone());
        let factory = Factory::new(&fleet, "acme").await?;
        let Ran { seconds, tasks: merged, mut tool_ms } = factory.run(epics, workers).await?;
        calls.push(Sample::of(tool_ms.len() as f64 / seconds));
        tasks.push(Sample::of(merged as f64 / seconds));
        let p99_ms = Some(percentile(&mut tool_ms, 0.99));
        latencies.push(Sample { value: percentile(&mut tool_ms, 0.5), p99_ms });
        events = rig.log().verify(|_| {}).await.context("the log of a factory")?.events;
    }
    let name = format!("{kind:?}").to_lowercase();
    let work = format!("{kind:?}: {epics} epics with {} workers, stand-ins, to the end", epics * workers);
    let note = format!("{events} events in one run, which verify");
    let throughput =
        vec![Series::of("tool calls", Unit::PerSecond, &calls), Series::of("tasks merged", Unit::PerSecond, &tasks)];
    let latency = vec![Series::of("one tool call with its records", Unit::Milliseconds, &latencies)];
    Ok(vec![
        Comparison::alone(format!("{name}-factory"), work.clone(), throughput, Target::None).with_note(note),
        Comparison::alone(format!("{name}-factory-latency"), work, latency, Target::AtMost(MOST_MS)),
    ])
}
