//! Many listeners on one busy workspace: each hears everything, in order and once, and how soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use muster_tests::stores::Kind;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::serving::{Fleet, Serving};
use crate::http::Connection;
use crate::measure::{Plan, Sample, Series, Unit, percentile};
use crate::report::{Comparison, Target};
use crate::rig::log_progress;

const LISTENERS: (usize, usize) = (1_000, 1_000);
/// Commands a second in the workspace.
const RATE: u32 = 25;
const AGENTS: usize = 16;
/// How long the last entry may take to reach the last listener.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a listener heard: positions, and when.
type Heard = Vec<(i64, Instant)>;

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Sqlite).await?])
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Postgres).await?])
}

async fn on(plan: &Plan, kind: Kind) -> Result<Comparison> {
    let serving = Serving::start(kind).await?;
    let fleet = serving.fleet(AGENTS).await?;
    let listeners = if plan.quick { LISTENERS.0 } else { LISTENERS.1 };
    let (mut slow, mut middle) = (vec![], vec![]);
    for _ in 0..plan.rounds.min(3) {
        let (sample, half) = round(&serving, &fleet, listeners, plan.round).await?;
        slow.push(sample);
        middle.push(half);
    }
    let series = vec![
        Series::of("99 of 100 arrive within", Unit::Milliseconds, &slow),
        Series::of("half arrive within", Unit::Milliseconds, &middle),
    ];
    let id = format!("{}-sse", format!("{kind:?}").to_lowercase());
    let work = format!("{kind:?}: from the answer to a command until {listeners} listeners have it, {RATE} commands/s");
    Ok(Comparison::alone(id, work, series, Target::None).with_note("every listener heard all of it, in order and once"))
}

async fn round(serving: &Serving, fleet: &Fleet, listeners: usize, lasts: Duration) -> Result<(Sample, Sample)> {
    let path = format!("/api/event.stream?workspaceId={}", fleet.workspace);
    // What is asked of the listeners: to stop once they have heard this position.
    let (last, until) = watch::channel(None);
    let mut listening = vec![];
    for n in 0..listeners {
        let ask = fleet.agents[n % fleet.agents.len()].request("GET", &path, None);
        let (stream, read) = Connection::open(serving.address).await?.listen(&ask).await?;
        listening.push(tokio::spawn(listen(stream, read, until.clone())));
    }
    let acknowledged = speak(serving, fleet, lasts).await?;
    last.send_replace(acknowledged.last().map(|(position, _)| *position));
    let mut delays = vec![];
    for listener in listening {
        let heard =
            tokio::time::timeout(PATIENCE, listener).await.context("a listener did not hear everything")???;
        ensure!(heard.len() == acknowledged.len(), "a listener heard {} of {}", heard.len(), acknowledged.len());
        for ((position, at), (said, when)) in heard.iter().zip(&acknowledged) {
            ensure!(position == said, "a listener heard {position} where {said} was said");
            delays.push(at.saturating_duration_since(*when).as_secs_f64() * 1_000.0);
        }
    }
    Ok((Sample::of(percentile(&mut delays, 0.99)), Sample::of(percentile(&mut delays, 0.5))))
}

/// Logs at a steady rate; answers the positions and when each was acknowledged.
async fn speak(serving: &Serving, fleet: &Fleet, lasts: Duration) -> Result<Heard> {
    let mut beat = tokio::time::interval(Duration::from_secs(1) / RATE);
    let (end, mut work) = (Instant::now() + lasts, vec![]);
    for worker in fleet.agents.iter().cycle() {
        beat.tick().await;
        if Instant::now() > end {
            break;
        }
        let (executor, log, context) =
            (Arc::clone(serving.executor()), log_progress(worker.session, worker.by), worker.context());
        work.push(tokio::spawn(async move {
            let done = executor.run(&context, &log).await?;
            anyhow::Ok((done.position, Instant::now()))
        }));
    }
    let mut acknowledged = vec![];
    for one in work {
        acknowledged.push(one.await??);
    }
    acknowledged.sort_by_key(|(position, _)| *position);
    Ok(acknowledged)
}

/// Notes the id of every entry that comes in, until the last one is there.
async fn listen(mut stream: TcpStream, mut read: Vec<u8>, mut until: watch::Receiver<Option<i64>>) -> Result<Heard> {
    let mut heard = Heard::new();
    loop {
        let mut used = 0;
        while let Some(end) = read[used..].iter().position(|byte| *byte == b'\n') {
            if let Some(id) = read[used..used + end].strip_prefix(b"id: ") {
                let position = std::str::from_utf8(id)?.trim().split_once('-').context("an id without an epoch")?.1;
                heard.push((position.parse()?, Instant::now()));
            }
            used += end + 1;
        }
        read.drain(..used);
        let enough = *until.borrow_and_update();
        if enough.is_some_and(|last| heard.last().is_some_and(|(position, _)| *position >= last)) {
            return Ok(heard);
        }
        tokio::select! {
            more = stream.read_buf(&mut read) => ensure!(more? > 0, "the server ended a stream"),
            changed = until.changed(), if enough.is_none() => changed?,
        }
    }
}
