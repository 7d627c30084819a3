//! A page of the history: what a commit holds, and the claims that make all of it lawful.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use cqrs_es::DomainEvent;
use cqrs_es::event_sink::EventSink;
use domain::{Claim, Demand, Entity};
use muster_tests::commits::Build;
use store::{Commit, NewEvent, StreamId};
use uuid::Uuid;

/// The kind of actor, and its id.
pub(super) type Actor = (&'static str, Uuid);

#[derive(Default)]
pub(super) struct Stream<A> {
    pub(super) id: Uuid,
    pub(super) state: A,
    sequence: i64,
}

impl<A: Entity> Stream<A> {
    pub(super) fn new(id: Uuid) -> Self {
        Self { id, state: A::default(), sequence: 0 }
    }
}

/// The next commit, and who holds which claim: checked as the store would, so that all of it could have happened.
#[derive(Default)]
pub(super) struct Page {
    pub(super) commit: Commit,
    pub(super) size: usize,
    pub(super) written: usize,
    pub(super) now: DateTime<Utc>,
    pub(super) claims: HashMap<Claim, (&'static str, Uuid)>,
    pub(super) kinds: BTreeMap<String, usize>,
}

impl Page {
    /// Whether the stream can be written to: once in a commit, so that what follows from it comes after it.
    pub(super) fn is_open<A: Entity>(&self, on: &Stream<A>) -> bool {
        let stream = StreamId::new(A::TYPE, on.id);
        let others = self.commit.appends.split_last().map_or(&[][..], |(_, others)| others);
        others.iter().all(|it| it.stream != stream)
    }

    /// What comes of a command; nothing when it is refused.
    pub(super) async fn run<A: Entity>(&mut self, on: &mut Stream<A>, by: Actor, command: A::Command) -> Vec<A::Event> {
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
    pub(super) async fn begin<A: Entity>(
        &mut self,
        all: &mut Vec<Stream<A>>,
        id: Uuid,
        by: Actor,
        command: A::Command,
    ) {
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
