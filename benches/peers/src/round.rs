//! The closed loop: a number of clients, each sending its next command when the last one has landed.

use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use uuid::Uuid;

use crate::entry::Entry;
use crate::peer::{Outcome, Peer};

const SLOTS: usize = 100;
const LONGEST_HISTORY: usize = 200;

/// Which streams the commands go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Each to a stream of its own.
    New,
    /// To 100 streams whose histories are spread evenly between 0 and 200 events.
    Hot,
}

/// How many clients, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    pub(crate) lasting: Duration,
}

/// What one round gave.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Round {
    commands: usize,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// The streams of a run; they live on from round to round.
pub(crate) struct Streams {
    workload: Workload,
    slots: Mutex<Vec<Slot>>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    stream: Uuid,
    events: usize,
}

/// Fills the store before anything is measured: slot `i` gets a stream of `2 * i` events.
///
/// New streams start from the same store, because a planner that has never seen a row picks poor plans.
pub(crate) async fn seed<P: Peer>(peer: &P, workload: Workload) -> Result<Streams> {
    let mut slots = Vec::with_capacity(SLOTS);
    for i in 0..SLOTS {
        let slot = Slot { stream: Uuid::new_v4(), events: i * LONGEST_HISTORY / SLOTS };
        if slot.events > 0 {
            let entries: Vec<_> = (0..slot.events).map(|_| Entry::sample()).collect();
            while peer.create(slot.stream, &entries).await? == Outcome::Conflict {}
        }
        slots.push(slot);
    }
    peer.analyze().await?;
    Ok(Streams { workload, slots: Mutex::new(slots) })
}

/// One round. Only commands that were committed count, and their latency includes every retry.
pub(crate) async fn run<P: Peer>(peer: &Arc<P>, streams: &Arc<Streams>, load: Load) -> Result<Round> {
    let started = Instant::now();
    let end = started + load.lasting;
    let clients: Vec<_> =
        (0..load.clients).map(|_| tokio::spawn(client(Arc::clone(peer), Arc::clone(streams), end))).collect();
    let mut latencies = Vec::new();
    for client in clients {
        latencies.extend(client.await??);
    }
    // The last commands land after the end; they count, and so does the time they took.
    let seconds = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Ok(Round {
        commands: latencies.len(),
        seconds,
        p50_ms: quantile(&latencies, 0.5),
        p99_ms: quantile(&latencies, 0.99),
    })
}

async fn client<P: Peer>(peer: Arc<P>, streams: Arc<Streams>, end: Instant) -> Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    loop {
        let sent = Instant::now();
        if sent >= end {
            return Ok(latencies);
        }
        let entry = [Entry::sample()];
        match streams.workload {
            Workload::New => {
                let stream = Uuid::new_v4();
                // A new stream has no rival, but a serializable store may still ask to be tried again.
                while peer.create(stream, &entry).await? == Outcome::Conflict {}
            }
            Workload::Hot => {
                let (slot, stream) = streams.pick();
                while peer.append(stream, &entry).await? == Outcome::Conflict {}
                streams.grown(slot, stream);
            }
        }
        latencies.push(sent.elapsed());
    }
}

impl Streams {
    fn pick(&self) -> (usize, Uuid) {
        let slot = fastrand::usize(..SLOTS);
        (slot, self.slots.lock().expect("no holder panics")[slot].stream)
    }

    /// Counts an event, and gives the slot an empty stream when this one is full.
    fn grown(&self, slot: usize, stream: Uuid) {
        let slot = &mut self.slots.lock().expect("no holder panics")[slot];
        // A slow client may still write to the stream that was here before.
        if slot.stream == stream {
            slot.events += 1;
            if slot.events >= LONGEST_HISTORY {
                *slot = Slot { stream: Uuid::new_v4(), events: 0 };
            }
        }
    }
}

impl FromStr for Workload {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        [("new", Self::New), ("hot", Self::Hot)]
            .into_iter()
            .find_map(|(name, workload)| (name == text).then_some(workload))
            .context("neither new nor hot")
    }
}

fn quantile(sorted: &[Duration], q: f64) -> f64 {
    let at = (sorted.len() as f64 * q) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).map_or(0.0, |latency| latency.as_secs_f64() * 1000.0)
}
