//! A long history of random commands, lawful in all its streams: what was followed live is what the log says.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use cqrs_es::event_sink::EventSink;
use cqrs_es::{Aggregate, DomainEvent};
use domain::agent::*;
use domain::github::Login;
use domain::project::*;
use domain::pull_request::*;
use domain::repository::*;
use domain::scorecard::*;
use domain::scores::{KpiInputs, ScorePolicy};
use domain::session::*;
use domain::task::*;
use domain::wiki::*;
use domain::workspace::*;
use domain::*;
use muster_tests::both_stores;
use muster_tests::commits::Build;
use muster_tests::stores::{Bench, noon};
use projections::Engine;
use projections::offline::verify;
use store::{Commit, NewEvent, StreamId};
use tokio::task::JoinSet;
use uuid::Uuid;

both_stores! {
    after_a_random_history_of_fifty_thousand_events_every_read_model_equals_a_rebuild,
}

const EVENTS: usize = 50_000;
const PER_COMMIT: usize = 400;
const SEED: u64 = 20_260_301;
const PATIENCE: Duration = Duration::from_secs(120);
const OWNER: UserId = UserId(Uuid::from_u128(1));
const BY_OWNER: Actor = ("user", OWNER.0);
const BY_GITHUB: Actor = ("system", Uuid::nil());
const SEVERITIES: [Severity; 4] = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];
const STATUSES: [AgentStatus; 4] =
    [AgentStatus::Active, AgentStatus::Active, AgentStatus::Probation, AgentStatus::Inactive];
const REVIEWS: [ReviewDecision; 3] = [ReviewDecision::Approve, ReviewDecision::RequestChanges, ReviewDecision::Comment];
const WORDS: [&str; 8] = ["basket", "naïve", "\"quoted\"", "🚀 launch", "o'clock", "100%", "back\\slash", "locks"];

async fn after_a_random_history_of_fifty_thousand_events_every_read_model_equals_a_rebuild(bench: Bench) {
    let (log, views) = (bench.log(), bench.stores().views.clone());
    let mut world = World::new().await;
    let mut engine = None;
    while world.page.written < EVENTS {
        world.fill_page().await;
        bench.clock.set(world.page.now);
        log.commit(std::mem::take(&mut world.page.commit)).await.unwrap();
        if engine.is_none() && world.page.written > EVENTS / 2 {
            // One half of the history is caught up with, the other is followed as it happens.
            engine = Some(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
        }
    }
    let known = catalogue().into_iter().filter(|it| it.aggregate != "user");
    let missing: Vec<_> = known.map(|it| it.event).filter(|it| !world.page.kinds.contains_key(*it)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");

    let engine = engine.unwrap();
    let all = projections::all();
    let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
    let head = log.head().await.unwrap().position;
    assert_eq!(head, world.page.written as i64);
    assert!(engine.wait_for(&names, head, PATIENCE).await, "{:#?}", engine.status().await);
    for status in engine.status().await.unwrap() {
        assert!(status.parked.is_empty() && status.last_error.is_none(), "{status:#?}");
    }
    engine.shutdown().await;
    let mut verified = JoinSet::new();
    for projection in projections::all() {
        let (log, views) = (log.clone(), views.clone());
        verified.spawn(async move { verify(&log, &views, &projection, &mut |_, _| {}).await.unwrap() });
    }
    for report in verified.join_all().await {
        assert_eq!((report.position, report.parked, report.differences_total), (head, 0, 0), "{report:#?}");
        assert!(report.rows_compared > 0, "{}", report.projection);
    }
}

/// The kind of actor, and its id.
type Actor = (&'static str, Uuid);

#[derive(Default)]
struct Stream<A> {
    id: Uuid,
    state: A,
    sequence: i64,
}

impl<A: Entity> Stream<A> {
    fn new(id: Uuid) -> Self {
        Self { id, state: A::default(), sequence: 0 }
    }
}

/// The next commit. It asks of the world what the log would ask of the store: a claim has one holder.
#[derive(Default)]
struct Page {
    commit: Commit,
    size: usize,
    written: usize,
    now: DateTime<Utc>,
    claims: HashMap<Claim, (&'static str, Uuid)>,
    kinds: BTreeMap<String, usize>,
}

impl Page {
    /// Whether the stream can be written to: once in a commit, so that what follows from it comes after it.
    fn is_open<A: Entity>(&self, on: &Stream<A>) -> bool {
        let stream = StreamId::new(A::TYPE, on.id);
        let others = self.commit.appends.split_last().map_or(&[][..], |(_, others)| others);
        others.iter().all(|it| it.stream != stream)
    }

    /// What comes of a command; nothing when it is refused.
    async fn run<A: Entity>(&mut self, on: &mut Stream<A>, by: Actor, command: A::Command) -> Vec<A::Event> {
        let (sink, mut state) = (EventSink::default(), on.state.clone());
        if !self.is_open(on) || state.handle(command, &(), &sink).await.is_err() {
            return vec![];
        }
        let events = sink.collect().await;
        let mut before = on.state.clone();
        let mut demands = vec![];
        for event in &events {
            demands.extend(before.demands(event));
            before.apply(event.clone());
        }
        if !demands.iter().all(|it| self.grants(it)) {
            return vec![];
        }
        for demand in demands {
            match demand {
                Demand::Take { claim, .. } => drop(self.claims.insert(claim, (A::TYPE, on.id))),
                Demand::Release(claim) => drop(self.claims.remove(&claim)),
                Demand::Empty { .. } | Demand::Held { .. } => {}
            }
        }
        on.state = state;
        self.write(on, by, &events);
        events
    }

    /// Begins a stream with a command, if that is not refused.
    async fn begin<A: Entity>(&mut self, all: &mut Vec<Stream<A>>, id: Uuid, by: Actor, command: A::Command) {
        let mut stream = Stream::new(id);
        if !self.run(&mut stream, by, command).await.is_empty() {
            all.push(stream);
        }
    }

    fn grants<E>(&self, demand: &Demand<E>) -> bool {
        match demand {
            Demand::Take { claim, .. } => !self.claims.contains_key(claim),
            Demand::Release(_) => true,
            Demand::Empty { scope, .. } => self.claims.keys().all(|it| it.scope != *scope),
            Demand::Held { claim, holder, .. } => self.claims.get(claim) == Some(holder),
        }
    }

    fn write<A: Entity>(&mut self, on: &mut Stream<A>, (kind, actor): Actor, events: &[A::Event]) {
        let (stream, n) = (StreamId::new(A::TYPE, on.id), self.written);
        for event in events {
            let stored = NewEvent {
                event_id: Uuid::now_v7(),
                event_type: event.event_type(),
                event_version: event.event_version(),
                payload: serde_json::to_string(event).unwrap(),
                metadata: format!(
                    r#"{{"actor_type":"{kind}","actor_id":"{actor}","command_id":"c-{n}","correlation_id":"r-{n}"}}"#
                ),
                workspace_id: on.state.workspace().map(|it| it.0),
            };
            *self.kinds.entry(stored.event_type.clone()).or_default() += 1;
            match self.commit.appends.last_mut() {
                Some(last) if last.stream == stream => last.events.push(stored),
                _ => self.commit = std::mem::take(&mut self.commit).append(&stream, on.sequence, vec![stored]),
            }
            on.sequence += 1;
        }
        (self.size, self.written) = (self.size + events.len(), self.written + events.len());
    }
}

/// Splitmix64: the same history every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn number(&mut self, end: usize) -> i64 {
        self.below(end) as i64 + 1
    }

    fn id(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.next(), self.next())
    }

    fn of<T: Clone>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())].clone()
    }

    /// Mostly one of the latest.
    fn pick<T>(&mut self, these: &[T]) -> usize {
        let from = if self.below(4) > 0 { these.len().saturating_sub(200) } else { 0 };
        from + self.below(these.len() - from)
    }

    fn text(&mut self) -> String {
        format!("{} {} {}", self.of(&WORDS), self.of(&WORDS), self.below(1000))
    }

    fn maybe(&mut self) -> Option<String> {
        (self.below(2) == 0).then(|| self.text())
    }

    fn settings(&mut self) -> Settings {
        Settings::from_iter([("note".to_owned(), self.text().into()), ("limit".to_owned(), self.below(9).into())])
    }
}
