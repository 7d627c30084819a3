//! Rebuilding read models from the log: beside one transaction per event, and beside reading and parsing the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use muster_tests::stores::Kind;
use projections::{Engine, Projection, Settings, offline};
use store::sql::{Database, Query, Statement};

use super::reading::{Then, read};
use crate::history::{Crew, fill};
use crate::measure::{Plan, Sample, Side, Unit, interleave};
use crate::report::{Comparison, Target};
use crate::rig::Rig;

const EVENTS: usize = 1_000_000;
const QUICK_EVENTS: usize = 30_000;
/// What is folded one transaction at a time: enough to tell how long one takes.
const SAMPLE: usize = 3_000;
const QUICK_SAMPLE: usize = 150;
/// The projections that a quick run is content with.
const QUICK: [&str; 3] = ["score_facts", "sessions", "timeline"];
/// The projections that write a row for nearly every event they read.
const ROW_PER_EVENT: [&str; 1] = ["timeline"];

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Sqlite).await
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Postgres).await
}

async fn on(plan: &Plan, kind: Kind) -> Result<Vec<Comparison>> {
    let (long, short) = (Rig::open(kind).await?, Rig::open(kind).await?);
    for (rig, quick, full) in [(&long, QUICK_EVENTS, EVENTS), (&short, QUICK_SAMPLE, SAMPLE)] {
        let crew = Crew::found(rig.log()).await?;
        fill(rig.log(), &crew, if plan.quick { quick } else { full }).await?;
    }
    let mut all = vec![];
    let wanted = |it: &Arc<dyn Projection>| !plan.quick || QUICK.contains(&it.name());
    for projection in projections::all().into_iter().filter(wanted) {
        all.extend(one(plan, kind, &long, &short, projection).await?);
    }
    all.push(together(plan, kind, &long).await?);
    Ok(all)
}

/// One projection from nothing, and then once more with what is served compared row by row.
async fn one(
    plan: &Plan,
    kind: Kind,
    long: &Rig,
    short: &Rig,
    projection: Arc<dyn Projection>,
) -> Result<Vec<Comparison>> {
    let (name, it) = (projection.name().to_owned(), &projection);
    let sides = vec![
        Side::new("rebuild", Unit::PerSecond, move || async move {
            forget(&long.stores.views).await?;
            rebuild(long, std::slice::from_ref(it)).await
        }),
        Side::new("one transaction per event", Unit::PerSecond, move || one_by_one(short, it)),
        Side::new("rebuild and compare with what is served", Unit::PerSecond, move || {
            rebuild(long, std::slice::from_ref(it))
        }),
    ];
    let series = interleave(plan, sides).await?;
    let id = format!("{}-rebuild-{name}", format!("{kind:?}").to_lowercase());
    let mut all = vec![];
    if ROW_PER_EVENT.contains(&name.as_str()) {
        let work = format!("{kind:?}: events a second into {name}, a row for each");
        all.push(Comparison::alone(format!("{id}-rate"), work, series[..1].to_vec(), Target::AtLeast(100_000.0)));
    }
    let work = format!("{kind:?}: events a second when {name} is rebuilt");
    all.insert(0, Comparison::new(id, work, series, Target::AtLeast(100.0)));
    Ok(all)
}

async fn together(plan: &Plan, kind: Kind, rig: &Rig) -> Result<Comparison> {
    let sides = vec![
        Side::new("all read models", Unit::PerSecond, move || async move {
            forget(&rig.stores.views).await?;
            rebuild(rig, &projections::all()).await
        }),
        Side::new("the log read and parsed", Unit::PerSecond, move || read(rig, Then::Parse)),
    ];
    let id = format!("{}-rebuild-all", format!("{kind:?}").to_lowercase());
    let work = format!("{kind:?}: events a second when all read models are rebuilt together");
    Ok(Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(0.1)))
}

/// Events a second when some projections are rebuilt together.
async fn rebuild(rig: &Rig, projections: &[Arc<dyn Projection>]) -> Result<Sample> {
    let started = Instant::now();
    let head = rig.log().head().await?.position;
    let reports = offline::rebuild_together(rig.log(), &rig.stores.views, projections, &mut |_, _| {}).await?;
    for report in reports {
        let report = report?;
        ensure!(report.position == head, "{} stopped at {}", report.projection, report.position);
        ensure!(report.compared.is_none_or(|it| it.is_clean()), "{} differs", report.projection);
    }
    Ok(Sample::of(head as f64 / started.elapsed().as_secs_f64()))
}

/// Events a second when each one is a transaction of its own, also where it only moves the checkpoint.
async fn one_by_one(rig: &Rig, projection: &Arc<dyn Projection>) -> Result<Sample> {
    forget(&rig.stores.views).await?;
    let started = Instant::now();
    let head = rig.log().head().await?.position;
    let settings = Settings { batch: 1, catch_up: 1, noted_within: Duration::ZERO, ..Settings::default() };
    let engine = Engine::start(rig.log().clone(), rig.stores.views.clone(), vec![projection.clone()], settings);
    let reached = engine.wait_for(&[projection.name()], head, Duration::from_secs(300)).await;
    let took = started.elapsed();
    engine.shutdown().await;
    ensure!(reached, "{} did not arrive", projection.name());
    Ok(Sample::of(head as f64 / took.as_secs_f64()))
}

/// Drops all read models, as if the server had never run.
async fn forget(views: &Database) -> Result<()> {
    let builds = views.query(Query::new("select tables, version, build, serving from projections")).await?;
    let mut statements: Vec<Statement> = vec![];
    for row in &builds {
        for table in row.text(0)?.split_whitespace() {
            if row.int(3)? == 1 {
                statements.push(Statement::DropView(table.to_owned()));
            }
            statements.push(Statement::DropTable(format!("{table}__v{}_{}", row.int(1)?, row.int(2)?)));
        }
    }
    statements.push(Query::new("delete from projections").into());
    statements.push(Query::new("delete from leases").into());
    views.transact(statements).await?;
    Ok(())
}
