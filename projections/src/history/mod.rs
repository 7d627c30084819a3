//! The history of one aggregate: its events with what each changed, and its state at any position.
//!
//! Nothing here is a read model. The stream is read from the log and folded with the aggregate's own `apply`, so an
//! answer costs as much as the stream is long up to the event that is asked for, and no more than [`Bounds`] allow.

mod changes;
mod place;
mod state;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use store::{EventLog, StoreError, StoredEvent, StreamId};
use uuid::Uuid;

use self::state::State;
use crate::{Fact, FactOf, Metadata};

pub use changes::{FieldChange, changes_between};
pub use place::project_of;
pub use state::KINDS;

/// Events read at a time.
const CHUNK: i64 = 1_000;

/// How much work one answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most events of the stream that are folded.
    pub events: i64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// No event has ever been recorded for it.
    #[error("there is no {} {}", .0.aggregate_type, .0.aggregate_id)]
    Unknown(StreamId),
    /// It came into being later.
    #[error("{} {} did not exist at position {at}: its first event is at {first}", .stream.aggregate_type, .stream.aggregate_id)]
    NotYet {
        /// What was asked for.
        stream: StreamId,
        /// When.
        at: i64,
        /// Where it begins.
        first: i64,
    },
    /// The answer would take more events than are allowed.
    #[error("this needs more than the {0} events of the stream that are read for one answer")]
    TooLong(i64),
    /// The log does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A part of a history, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The events.
    pub steps: Vec<Step>,
    /// How many events there are in all.
    pub total: i64,
}

/// An event of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The place in the log.
    pub position: i64,
    /// The place within the stream.
    pub sequence: i64,
    /// The event's id.
    pub event_id: Uuid,
    /// The event's stored name.
    pub event_type: String,
    /// The version of the shape in which it is stored.
    pub event_version: String,
    /// When it was committed.
    pub recorded_at: DateTime<Utc>,
    /// Who caused it, and in what connection.
    pub metadata: Metadata,
    /// What the event says.
    pub data: Value,
    /// What it changed.
    pub changes: Vec<FieldChange>,
    /// Why the event could not be read, if it could not: then it changed nothing here.
    pub unreadable: Option<String>,
}

/// An aggregate at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct StateAt {
    /// The position that was asked for.
    pub at: i64,
    /// The newest event by then.
    pub position: i64,
    /// Its place within the stream.
    pub sequence: i64,
    /// When it was committed.
    pub recorded_at: DateTime<Utc>,
    /// How many events could not be read, and are not in the state.
    pub unreadable_events: i64,
    /// The state: its stage of life and its fields.
    pub state: Map<String, Value>,
}

/// What became different between two positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The earlier state; none if it did not exist yet.
    pub from: Option<StateAt>,
    /// The later state.
    pub to: StateAt,
    /// What is different.
    pub changes: Vec<FieldChange>,
}

/// Some of the events that an aggregate's stream has up to a position, oldest first, each with what it changed.
pub async fn page(
    log: &EventLog,
    stream: &StreamId,
    upto: i64,
    offset: i64,
    limit: i64,
    bounds: Bounds,
) -> Result<Page, HistoryError> {
    let total = length_at(log, stream, upto).await?;
    if total == 0 {
        return Err(HistoryError::Unknown(stream.clone()));
    }
    let last = offset.saturating_add(limit).min(total);
    if last > bounds.events {
        return Err(HistoryError::TooLong(bounds.events));
    }
    let mut steps = Vec::new();
    let mut folding = Folding::of(stream);
    if offset < last {
        let mut reading = Reading::of(log, stream, last);
        while let Some(event) = reading.next().await? {
            if event.sequence > offset {
                steps.push(folding.step(event));
            } else {
                folding.take(event);
            }
        }
    }
    Ok(Page { steps, total })
}

/// An aggregate as it was right after a position.
pub async fn state_at(log: &EventLog, stream: &StreamId, at: i64, bounds: Bounds) -> Result<StateAt, HistoryError> {
    let mut states = states_at(log, stream, &[at], bounds).await?;
    match states.pop().flatten() {
        Some(state) => Ok(state),
        None => Err(not_yet(log, stream, at).await?),
    }
}

/// What became different from one position to another, which must not be earlier.
pub async fn difference(
    log: &EventLog,
    stream: &StreamId,
    from: i64,
    to: i64,
    bounds: Bounds,
) -> Result<Difference, HistoryError> {
    let mut states = states_at(log, stream, &[from, to], bounds).await?;
    let Some(to_state) = states.pop().flatten() else { return Err(not_yet(log, stream, to).await?) };
    let from_state = states.pop().flatten();
    let before = from_state.as_ref().map(|it| it.state.clone()).unwrap_or_default();
    let changes = changes_between(&before, &to_state.state);
    Ok(Difference { from: from_state, to: to_state, changes })
}

/// The states at rising positions; none where the stream had not begun.
async fn states_at(
    log: &EventLog,
    stream: &StreamId,
    positions: &[i64],
    bounds: Bounds,
) -> Result<Vec<Option<StateAt>>, HistoryError> {
    let mut folding = Folding::of(stream);
    let mut newest: Option<(i64, i64, i64)> = None;
    let mut states = Vec::with_capacity(positions.len());
    let mut wanted = positions.iter().copied().peekable();
    let mut reading = Reading::of(log, stream, i64::MAX);
    while let Some(event) = reading.next().await? {
        while let Some(at) = wanted.next_if(|at| event.position > *at) {
            states.push(newest.map(|newest| folding.state_at(at, newest)));
        }
        if wanted.peek().is_none() {
            break;
        }
        if event.sequence > bounds.events {
            return Err(HistoryError::TooLong(bounds.events));
        }
        newest = Some((event.position, event.sequence, event.recorded_at));
        folding.take(event);
    }
    for at in wanted {
        states.push(newest.map(|newest| folding.state_at(at, newest)));
    }
    Ok(states)
}

/// How many events a stream has up to a position: halves it until it is found, because positions rise along it.
async fn length_at(log: &EventLog, stream: &StreamId, upto: i64) -> Result<i64, StoreError> {
    let (mut within, mut beyond) = (0, log.stream_length(stream).await? + 1);
    let mut middle = beyond - 1;
    while within + 1 < beyond {
        let event = log.read_stream(stream, middle, Some(middle)).await?.pop();
        match event {
            Some(event) if event.position <= upto => within = middle,
            Some(_) | None => beyond = middle,
        }
        middle = within + (beyond - within) / 2;
    }
    Ok(within)
}

async fn not_yet(log: &EventLog, stream: &StreamId, at: i64) -> Result<HistoryError, StoreError> {
    let first = log.read_stream(stream, 1, Some(1)).await?.pop().map(|it| it.position);
    Ok(match first {
        Some(first) => HistoryError::NotYet { stream: stream.clone(), at, first },
        None => HistoryError::Unknown(stream.clone()),
    })
}

/// A stream, read in chunks up to a sequence.
struct Reading<'a> {
    log: &'a EventLog,
    stream: &'a StreamId,
    next: i64,
    last: i64,
    /// Whether nothing more is to be read.
    ended: bool,
    chunk: std::vec::IntoIter<StoredEvent>,
}

impl<'a> Reading<'a> {
    fn of(log: &'a EventLog, stream: &'a StreamId, last: i64) -> Self {
        Self { log, stream, next: 1, last, ended: last < 1, chunk: Vec::new().into_iter() }
    }

    async fn next(&mut self) -> Result<Option<StoredEvent>, StoreError> {
        if self.chunk.len() == 0 && !self.ended {
            let to = self.last.min(self.next + CHUNK - 1);
            let events = self.log.read_stream(self.stream, self.next, Some(to)).await?;
            self.ended = to == self.last || (events.len() as i64) < CHUNK;
            self.next = to + 1;
            self.chunk = events.into_iter();
        }
        Ok(self.chunk.next())
    }
}

/// A stream on its way into a state.
struct Folding {
    state: Option<State>,
    shown: Map<String, Value>,
    /// Whether `shown` is behind `state`.
    stale: bool,
    unreadable: i64,
}

impl Folding {
    fn of(stream: &StreamId) -> Self {
        let state = State::of(&stream.aggregate_type);
        Self { state, shown: Map::new(), stale: false, unreadable: 0 }
    }

    /// Takes an event in.
    fn take(&mut self, event: StoredEvent) {
        match Fact::read(event) {
            Ok(fact) => self.apply(&fact.of),
            Err(_) => self.unreadable += 1,
        }
    }

    /// Takes an event in and says what it changed.
    fn step(&mut self, event: StoredEvent) -> Step {
        let before = self.shown().clone();
        let mut step = Step {
            position: event.position,
            sequence: event.sequence,
            event_id: event.event_id,
            event_type: event.event_type.clone(),
            event_version: event.event_version.clone(),
            recorded_at: store::from_micros(event.recorded_at),
            metadata: serde_json::from_str(&event.metadata).unwrap_or_default(),
            data: Value::Null,
            changes: Vec::new(),
            unreadable: None,
        };
        match Fact::read(event) {
            Ok(fact) => {
                step.data = state::said(&fact.of);
                self.apply(&fact.of);
                step.changes = changes_between(&before, self.shown());
            }
            Err(poison) => {
                self.unreadable += 1;
                step.unreadable = Some(poison.reason);
            }
        }
        step
    }

    fn apply(&mut self, of: &FactOf) {
        // What a later stage of life no longer keeps is shown as it was last known, so it is looked at in time.
        if state::may_forget(of) {
            self.shown();
        }
        if let Some(state) = &mut self.state {
            state.apply(of.clone());
            self.stale = true;
        }
    }

    fn shown(&mut self) -> &Map<String, Value> {
        if let (true, Some(state)) = (self.stale, &self.state) {
            let mut now = state.shown();
            for (field, value) in std::mem::take(&mut self.shown) {
                // A status belongs to the stage that it was in.
                if field != "status" && !now.contains_key(&field) {
                    now.insert(field, value);
                }
            }
            self.shown = now;
            self.stale = false;
        }
        &self.shown
    }

    fn state_at(&mut self, at: i64, (position, sequence, recorded_at): (i64, i64, i64)) -> StateAt {
        StateAt {
            at,
            position,
            sequence,
            recorded_at: store::from_micros(recorded_at),
            unreadable_events: self.unreadable,
            state: self.shown().clone(),
        }
    }
}
