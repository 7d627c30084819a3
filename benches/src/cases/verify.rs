//! `log verify`: every hash of the log computed again, beside a plain read of it.

use std::time::Instant;

use anyhow::{Result, ensure};
use muster_tests::stores::Kind;

use super::reading::{Then, read};
use crate::history::{Crew, fill};
use crate::measure::{Plan, Sample, Side, Unit, interleave};
use crate::report::{Comparison, Target};
use crate::rig::Rig;

const EVENTS: usize = 1_000_000;
const QUICK_EVENTS: usize = 50_000;

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Sqlite).await
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Postgres).await
}

async fn on(plan: &Plan, kind: Kind) -> Result<Vec<Comparison>> {
    let rig = Rig::open(kind).await?;
    let crew = Crew::found(rig.log()).await?;
    fill(rig.log(), &crew, if plan.quick { QUICK_EVENTS } else { EVENTS }).await?;
    let rig = &rig;
    let sides = vec![
        Side::new("log verify", Unit::PerSecond, move || verify(rig)),
        Side::new("a plain read of the log", Unit::PerSecond, move || read(rig, Then::Drop)),
        Side::new("read and parsed", Unit::PerSecond, move || read(rig, Then::Parse)),
    ];
    let id = format!("{}-verify", format!("{kind:?}").to_lowercase());
    let work = format!("{kind:?}: events of the log whose hashes are checked");
    Ok(vec![Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(0.5))])
}

async fn verify(rig: &Rig) -> Result<Sample> {
    let started = Instant::now();
    let report = rig.log().verify(|_| {}).await?;
    ensure!(report.finding.is_none(), "the log is damaged: {report:?}");
    Ok(Sample::of(report.events as f64 / started.elapsed().as_secs_f64()))
}
