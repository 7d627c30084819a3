//! What both stores are made to do when appending is measured.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use muster_tests::stores::Kind;
use store::{Commit, CommitError, NewEvent, StreamAppend, StreamId};
use uuid::Uuid;

use crate::measure::{Plan, Side, Unit, closed_loop, interleave, one_by_one};
use crate::peers::{Peer, Work};
use crate::report::{Comparison, Target};
use crate::rig::{HotSessions, Rig, cluster, context, folder, new_stream, new_task};

/// Clients with one command each in flight.
pub(super) const CLIENTS: usize = 64;
/// Enough to fill every batch.
pub(super) const IN_FLIGHT: usize = 512;

/// Streams that exist, for commands that think they do not.
const KNOWN: usize = 1000;

/// Which streams commands go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// Each to a new one.
    New,
    /// To one of a hundred with a history.
    Hot,
}

/// Muster beside other libraries that do the same; each of them is named with whether its pool is tuned.
pub(super) async fn beside_peers(
    plan: &Plan,
    kind: Kind,
    load: Load,
    all: &[(&str, bool)],
    target: f64,
) -> Result<Vec<Comparison>> {
    let (rig, folder, round) = (Rig::open(kind).await?, folder()?, plan.round);
    let (workload, streams) = match load {
        Load::New => ("new", "new streams"),
        Load::Hot => ("hot", "100 streams with histories up to 200 events"),
    };
    let mut peers = vec![];
    for (peer, tuned) in all.iter().copied() {
        let at = match kind {
            Kind::Sqlite => folder.path().join(format!("{peer}-{tuned}.db")).display().to_string(),
            Kind::Postgres => cluster().create_database().await?,
        };
        peers.push(RefCell::new(Peer::start(&Work { peer, workload, clients: CLIENTS, round, tuned, at: &at })?));
    }
    let mut sides = vec![match load {
        Load::New => begin_streams(&rig, CLIENTS, round),
        Load::Hot => hot(&rig, round).await?,
    }];
    for peer in &peers {
        let name = peer.borrow().name.clone();
        sides.push(Side::new(name, Unit::PerSecond, move || async move { peer.borrow_mut().run() }));
    }
    if load == Load::New {
        sides.push(begin_tasks(&rig, round));
    }
    let before = Batches::of(&rig).await?;
    let series = interleave(plan, sides).await?;
    let id = format!("{}-{workload}", format!("{kind:?}").to_lowercase());
    let work = format!("{kind:?}: commands, {CLIENTS} clients, {streams}");
    let comparison = Comparison::new(id, work, series, Target::AtLeast(target));
    Ok(vec![comparison.with_note(before.since(&rig).await?)])
}

/// Every command begins a stream.
pub(super) fn begin_streams<'a>(rig: &Rig, clients: usize, round: Duration) -> Side<'a> {
    let executor = rig.executor.clone();
    Side::new(format!("Muster, {clients} commands in flight"), Unit::PerSecond, move || {
        let executor = executor.clone();
        closed_loop(clients, round, move |_| {
            let executor = executor.clone();
            async move {
                executor.run(&context(), &new_stream()).await?;
                Ok(())
            }
        })
    })
}

/// Every command begins a stream, and its commit takes a claim as well.
fn begin_tasks<'a>(rig: &Rig, round: Duration) -> Side<'a> {
    let executor = rig.executor.clone();
    Side::new("Muster, tasks with a claim each", Unit::PerSecond, move || {
        let executor = executor.clone();
        closed_loop(CLIENTS, round, move |_| {
            let executor = executor.clone();
            async move {
                executor.run(&context(), &new_task()).await?;
                Ok(())
            }
        })
    })
}

/// Every command goes to one of a hundred streams.
async fn hot<'a>(rig: &Rig, round: Duration) -> Result<Side<'a>> {
    let executor = rig.executor.clone();
    let sessions = Arc::new(HotSessions::begin(&executor).await?);
    Ok(Side::new(format!("Muster, {CLIENTS} commands in flight"), Unit::PerSecond, move || {
        let (executor, sessions) = (executor.clone(), sessions.clone());
        closed_loop(CLIENTS, round, move |_| {
            let (executor, sessions) = (executor.clone(), sessions.clone());
            async move { sessions.log(&executor).await }
        })
    }))
}

/// One command after the other.
pub(super) fn one_command<'a>(rig: &Rig, round: Duration) -> Side<'a> {
    let executor = rig.executor.clone();
    Side::new("Muster, through the executor", Unit::Milliseconds, move || {
        let executor = executor.clone();
        one_by_one(round, move || {
            let executor = executor.clone();
            async move {
                executor.run(&context(), &new_stream()).await?;
                Ok(())
            }
        })
    })
}

/// How many events have shared how many commits.
pub(super) struct Batches {
    events: i64,
    batches: i64,
}

impl Batches {
    pub(super) async fn of(rig: &Rig) -> Result<Self> {
        let stats = rig.log().stats().await?;
        Ok(Self { events: stats.events, batches: stats.batches })
    }

    /// How many events shared a commit since then.
    pub(super) async fn since(&self, rig: &Rig) -> Result<String> {
        let now = Self::of(rig).await?;
        let (events, batches) = (now.events - self.events, now.batches - self.batches);
        Ok(format!("{:.1} events per commit on average", events as f64 / batches.max(1) as f64))
    }
}

/// What it costs the others that some commands come too late: they are refused inside the batch, at the log itself,
/// where a decision from state that another node has moved on would be.
pub(super) async fn stale(plan: &Plan, kind: Kind) -> Result<Vec<Comparison>> {
    let mut all = vec![];
    for (percent, target) in [(2, 0.85), (20, 0.6)] {
        let rig = Rig::open(kind).await?;
        let mut known = Vec::with_capacity(KNOWN);
        for _ in 0..KNOWN {
            let stream = StreamId::new("task", Uuid::now_v7());
            rig.log().commit(append(stream.clone())).await?;
            known.push(stream);
        }
        let known: Arc<[StreamId]> = known.into();
        let sides = vec![appends(&rig, &known, percent, plan.round), appends(&rig, &known, 0, plan.round)];
        let work = format!("{kind:?}: appends that land, 64 clients, {percent} % of all come too late");
        let id = format!("{}-stale-{percent}", format!("{kind:?}").to_lowercase());
        all.push(Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(target)));
    }
    Ok(all)
}

fn appends<'a>(rig: &Rig, known: &Arc<[StreamId]>, percent: u128, round: Duration) -> Side<'a> {
    let (log, known) = (rig.log().clone(), known.clone());
    Side::new(format!("{percent} % too late"), Unit::PerSecond, move || {
        let (log, known) = (log.clone(), known.clone());
        closed_loop(CLIENTS, round, move |_| {
            let (log, known) = (log.clone(), known.clone());
            async move {
                // Only what lands is counted, so a client whose command is refused goes on with the next.
                loop {
                    let chance = Uuid::new_v4().as_u128();
                    let late = chance % 100 < percent;
                    let stream = match late {
                        true => known[(chance >> 64) as usize % known.len()].clone(),
                        false => StreamId::new("task", Uuid::now_v7()),
                    };
                    match log.commit(append(stream)).await {
                        Ok(_) => return Ok(()),
                        Err(CommitError::Conflict { .. }) => {}
                        Err(other) => return Err(other.into()),
                    }
                }
            }
        })
    })
}

fn append(stream: StreamId) -> Commit {
    let event = NewEvent {
        event_id: Uuid::now_v7(),
        event_type: "TaskCreated".into(),
        event_version: "1.0".into(),
        payload: format!("{{\"TaskCreated\":{{\"text\":\"{}\"}}}}", "x".repeat(276)),
        metadata: "{\"actor_type\":\"user\"}".into(),
        workspace_id: None,
    };
    Commit { appends: vec![StreamAppend { stream, expected: 0, events: vec![event] }], ..Commit::default() }
}
