//! What a long log costs: the same commands, queries and server on logs of different lengths, beside each other.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use domain::SessionId;
use domain::session::Caller;
use muster_tests::stores::Kind;
use projections::{Engine, agents, offline, timeline};
use tokio::sync::Mutex;

use crate::history::{Crew, fill};
use crate::measure::{Plan, Sample, Series, Side, Unit, interleave, one_by_one};
use crate::process::Process;
use crate::report::{Comparison, Target};
use crate::rig::{Rig, context, log_progress, start_session};

const SIZES: [usize; 3] = [10_000, 1_000_000, 5_000_000];
const QUICK_SIZES: [usize; 2] = [10_000, 40_000];

/// A log of some length with warm read models, and a session to write to.
struct Grown {
    name: String,
    rig: Rig,
    crew: Crew,
    session: (SessionId, Caller),
}

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Sqlite).await
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    on(plan, Kind::Postgres).await
}

async fn on(plan: &Plan, kind: Kind) -> Result<Vec<Comparison>> {
    let sizes: &[usize] = if plan.quick { &QUICK_SIZES } else { &SIZES };
    let mut grown = vec![];
    for events in sizes {
        grown.push(Grown::grow(kind, *events).await?);
    }
    // The longest first, then the shortest, which it is compared with.
    grown.reverse();
    let shortest = grown.len() - 1;
    grown.swap(1, shortest);
    let round = if plan.quick { plan.round / 4 } else { plan.round };
    let engines: Vec<Engine> = grown.iter().map(Grown::follow).collect();
    let mut all = vec![
        compare(plan, kind, "command", "one command", &grown, |it| it.commands(round)).await?,
        compare(plan, kind, "list", "a page of 50 entries of the timeline", &grown, |it| it.pages(round)).await?,
        compare(plan, kind, "find", "one agent by its id", &grown, |it| it.finds(round)).await?,
    ];
    for engine in engines {
        engine.shutdown().await;
    }
    all.extend(served(plan, kind, grown).await?);
    Ok(all)
}

async fn compare<'a>(
    plan: &Plan,
    kind: Kind,
    id: &str,
    what: &str,
    grown: &'a [Grown],
    side: impl Fn(&'a Grown) -> Side<'a>,
) -> Result<Comparison> {
    let series = interleave(plan, grown.iter().map(side).collect()).await?;
    let id = format!("{}-growth-{id}", format!("{kind:?}").to_lowercase());
    let work = format!("{kind:?}: {what}, by the length of the log");
    Ok(Comparison::new(id, work, series, Target::AtMost(1.3)))
}

/// How long the server takes to start on each log, and the memory that it has after the same requests.
async fn served(plan: &Plan, kind: Kind, grown: Vec<Grown>) -> Result<Vec<Comparison>> {
    let mut closed = vec![];
    for it in grown {
        // A data folder belongs to one process: everything that has it open here must go first.
        closed.push((it.name, it.rig.close()));
    }
    let (mut starts, mut memory) = (vec![vec![]; closed.len()], vec![vec![]; closed.len()]);
    for _ in 0..plan.rounds {
        for (n, (_, place)) in closed.iter().enumerate() {
            let process = Process::start(&place.location).await?;
            starts[n].push(Sample::of(process.ready_after.as_secs_f64()));
            process.visit().await?;
            memory[n].push(Sample::of(process.resident_megabytes()?));
            process.stop().await?;
        }
    }
    let series = |unit, samples: &[Vec<Sample>]| -> Vec<Series> {
        closed.iter().zip(samples).map(|((name, _), samples)| Series::of(name.clone(), unit, samples)).collect()
    };
    let store = format!("{kind:?}").to_lowercase();
    let start = format!("{kind:?}: from the start of the server until it is ready, views warm");
    let resident = format!("{kind:?}: resident memory of the server, by the length of the log");
    Ok(vec![
        Comparison::alone(format!("{store}-start"), start, series(Unit::Seconds, &starts), Target::AtMost(2.0)),
        Comparison::new(
            format!("{store}-growth-memory"),
            resident,
            series(Unit::Megabytes, &memory),
            Target::AtMost(1.3),
        ),
    ])
}

impl Grown {
    async fn grow(kind: Kind, events: usize) -> Result<Self> {
        let rig = Rig::open(kind).await?;
        let crew = Crew::found(rig.log()).await?;
        fill(rig.log(), &crew, events).await?;
        let all = projections::all();
        for report in offline::rebuild_together(rig.log(), &rig.stores.views, &all, &mut |_, _| {}).await? {
            report?;
        }
        let session = start_session(&rig.executor).await?;
        Ok(Self { name: format!("{} events", grouped(events)), rig, crew, session })
    }

    /// Keeps the read models up to date while commands come in.
    fn follow(&self) -> Engine {
        Engine::start(
            self.rig.log().clone(),
            self.rig.stores.views.clone(),
            projections::all(),
            projections::Settings::default(),
        )
    }

    fn commands(&self, round: Duration) -> Side<'_> {
        let (session, caller) = self.session;
        Side::new(self.name.clone(), Unit::Milliseconds, move || {
            let executor = self.rig.executor.clone();
            one_by_one(round, move || {
                let executor = executor.clone();
                async move {
                    executor.run(&context(), &log_progress(session, caller)).await?;
                    Ok(())
                }
            })
        })
    }

    fn pages(&self, round: Duration) -> Side<'_> {
        let filter = timeline::Filter { workspaces: vec![self.crew.workspace], ..Default::default() };
        Side::new(self.name.clone(), Unit::Milliseconds, move || {
            let (views, filter) = (self.rig.stores.views.clone(), filter.clone());
            // As the server does it: what was counted a moment ago is not counted again.
            let counted = Arc::new(Mutex::new(None));
            one_by_one(round, move || {
                let (views, filter, counted) = (views.clone(), filter.clone(), counted.clone());
                async move {
                    let mut counted = counted.lock().await;
                    let (page, now) = timeline::list_knowing(&views, &filter, *counted, 50, 0).await?;
                    ensure!(page.entries.len() == 50, "the page is not full");
                    *counted = now;
                    Ok(())
                }
            })
        })
    }

    fn finds(&self, round: Duration) -> Side<'_> {
        let agent = self.crew.agents[7];
        Side::new(self.name.clone(), Unit::Milliseconds, move || {
            let views = self.rig.stores.views.clone();
            one_by_one(round, move || {
                let views = views.clone();
                async move {
                    agents::find(&views, agent).await?.context("the agent is not there")?;
                    Ok(())
                }
            })
        })
    }
}

fn grouped(events: usize) -> String {
    match events {
        it if it >= 1_000_000 => format!("{} million", it / 1_000_000),
        it => format!("{} thousand", it / 1_000),
    }
}
