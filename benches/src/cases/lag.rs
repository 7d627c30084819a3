//! How far read models are behind the log while commands come at a steady rate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use muster_tests::stores::Kind;
use projections::Engine;
use tokio::sync::mpsc;

use crate::measure::{Plan, Sample, Series, Unit, percentile};
use crate::report::{Comparison, Target};
use crate::rig::{Rig, context, log_progress, start_session};

/// Commands a second, whether the ones before are done or not.
const RATE: u64 = 5_000;
/// Sessions that they are spread over.
const SESSIONS: usize = 1_000;
/// One command of so many is looked at.
const SAMPLED: u64 = 10;
/// How long a read model may take before the run is given up.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Sqlite).await?])
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Postgres).await?])
}

async fn on(plan: &Plan, kind: Kind) -> Result<Comparison> {
    let rig = Rig::open(kind).await?;
    let (log, views) = (rig.log().clone(), rig.stores.views.clone());
    let engine = Arc::new(Engine::start(log, views, projections::all(), Default::default()));
    let started = stream::iter(0..SESSIONS).map(|_| start_session(&rig.executor)).buffer_unordered(64);
    let sessions: Vec<_> = started.try_collect().await?;
    let (mut samples, mut middles) = (vec![], vec![]);
    for _ in 0..plan.rounds {
        let head = rig.log().head().await?.position;
        ensure!(shown(&engine, head).await, "read models are not there yet");
        let (sample, middle) = round(&rig, &engine, &sessions, plan.round).await?;
        samples.push(sample);
        middles.push(middle);
    }
    engine.shutdown().await;
    let series = vec![
        Series::of("99 of 100 are shown within", Unit::Milliseconds, &samples),
        Series::of("half are shown within", Unit::Milliseconds, &middles),
    ];
    let work = format!("{kind:?}: from the answer to a command until every read model shows it, {RATE} commands/s");
    let id = format!("{}-lag", format!("{kind:?}").to_lowercase());
    Ok(Comparison::alone(id, work, series, Target::AtMost(100.0)))
}

async fn round(
    rig: &Rig,
    engine: &Arc<Engine>,
    sessions: &[(domain::SessionId, domain::session::Caller)],
    lasts: Duration,
) -> Result<(Sample, Sample)> {
    let (told, mut heard) = mpsc::unbounded_channel();
    let mut beat = tokio::time::interval(Duration::from_millis(1));
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let (started, mut sent) = (Instant::now(), 0);
    while started.elapsed() < lasts {
        beat.tick().await;
        let due = (started.elapsed().as_secs_f64() * RATE as f64) as u64;
        for n in sent..due {
            let (session, by) = sessions[n as usize % sessions.len()];
            let (executor, engine, told) = (rig.executor.clone(), engine.clone(), told.clone());
            tokio::spawn(async move {
                let done = executor.run(&context(), &log_progress(session, by)).await;
                let acknowledged = Instant::now();
                let lag = match done {
                    Err(error) => Some(Err(anyhow::Error::from(error))),
                    Ok(_) if n % SAMPLED != 0 => None,
                    Ok(done) if shown(&engine, done.position).await => Some(Ok(acknowledged.elapsed())),
                    Ok(_) => Some(Err(anyhow::anyhow!("a read model never showed a command"))),
                };
                let _ = lag.map(|it| told.send(it));
            });
        }
        sent = due;
    }
    drop(told);
    let mut lags = vec![];
    while let Some(lag) = heard.recv().await {
        lags.push(lag?.as_secs_f64() * 1_000.0);
    }
    Ok((Sample::of(percentile(&mut lags, 0.99)), Sample::of(percentile(&mut lags, 0.5))))
}

async fn shown(engine: &Engine, position: i64) -> bool {
    let all = projections::all();
    let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
    engine.wait_for(&names, position, PATIENCE).await
}
