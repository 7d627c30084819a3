//! The desk: where a decision reads aggregates and lays down what is to be committed, all or nothing.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use cqrs_es::DomainEvent;
use cqrs_es::event_sink::EventSink;
use domain::notification_settings::Addresses;
use domain::{Demand, Entity, UserId};
use store::{Claim, Commit, CommitError, Fate, Guard, KnownKeys, NewEvent, RowChange, StreamAppend, StreamId, Take};
use uuid::Uuid;

use crate::cache::WarmState;
use crate::notification::addresses_of;
use crate::{Actor, Context, Executor, Refusal, Stop};

/// One attempt at a decision.
pub struct Desk<'a> {
    executor: &'a Executor,
    context: &'a Context,
    /// Whether warm aggregates may be used.
    trust_warm: bool,
    /// Whether any was.
    pub(crate) used_warm: bool,
    /// The aggregates whose state is that of a commit under way.
    unsettled: Vec<(StreamId, Fate)>,
    commit: Commit,
    /// What each claim and scope of the commit means when the log says no.
    refusals: Vec<(Meaning, Refusal)>,
    states: Vec<Decided>,
    /// What was known of keys before anything was read.
    pub(crate) keys: Arc<KnownKeys>,
    /// How many ids were made.
    made: u32,
    /// Every aggregate as it was first read.
    seen: HashMap<StreamId, (Arc<dyn Any + Send + Sync>, i64)>,
}

/// An aggregate as it was read.
#[derive(Debug, Clone)]
pub struct Loaded<A> {
    /// Where from.
    pub stream: StreamId,
    /// What it was.
    pub state: Arc<A>,
    /// At which sequence; 0 when the stream does not exist.
    pub sequence: i64,
}

/// A state that becomes true when the commit lands.
pub(crate) struct Decided {
    pub(crate) stream: StreamId,
    pub(crate) state: Arc<dyn Any + Send + Sync>,
    pub(crate) sequence: i64,
}

#[derive(PartialEq)]
enum Meaning {
    Taken(Claim),
    NotEmpty(String),
    NotHeld(Claim, StreamId),
}

impl<'a> Desk<'a> {
    pub(crate) fn new(executor: &'a Executor, context: &'a Context, trust_warm: bool) -> Self {
        Self {
            executor,
            context,
            trust_warm,
            used_warm: false,
            unsettled: Vec::new(),
            commit: Commit::default(),
            refusals: Vec::new(),
            states: Vec::new(),
            keys: executor.log.known_keys(),
            made: 0,
            seen: HashMap::new(),
        }
    }

    /// Domain time.
    pub fn now(&self) -> DateTime<Utc> {
        self.context.now
    }

    /// Who acts.
    pub fn actor(&self) -> Actor {
        self.context.actor
    }

    /// The next id for something that the decision makes: it follows from the command, so that a decision that is made
    /// again makes the same.
    pub fn new_id(&mut self) -> Uuid {
        self.made += 1;
        Uuid::new_v5(&self.context.command_id, format!("made:{}", self.made).as_bytes())
    }

    /// An aggregate, for the decision to look at.
    pub async fn load<A: Entity + 'static>(&mut self, id: impl Into<Uuid>) -> Result<Loaded<A>, Stop> {
        let stream = StreamId::new(A::TYPE, id.into());
        if let Some(decided) = self.states.iter().find(|it| it.stream == stream)
            && let Ok(state) = decided.state.clone().downcast::<A>()
        {
            return Ok(Loaded { stream, state, sequence: decided.sequence });
        }
        // A decision sees one state of each aggregate, however often it looks and whatever happens meanwhile.
        if let Some((state, sequence)) = self.seen.get(&stream)
            && let Ok(state) = Arc::clone(state).downcast::<A>()
        {
            return Ok(Loaded { stream, state, sequence: *sequence });
        }
        let warm = if self.trust_warm { self.executor.warm.get::<A>(&stream, self.keys.erasures) } else { None };
        let loaded = match warm {
            Some(WarmState { state, sequence, underway }) => {
                self.used_warm = true;
                self.unsettled.extend(underway.map(|fate| (stream.clone(), fate)));
                Loaded { stream, state, sequence }
            }
            None => self.executor.load(stream, self.keys.erasures).await?,
        };
        let seen: Arc<dyn Any + Send + Sync> = loaded.state.clone();
        self.seen.insert(loaded.stream.clone(), (seen, loaded.sequence));
        Ok(loaded)
    }

    /// The aggregate of a kind that holds a claim now. What is read of it then is to be relied on, not this.
    pub async fn holder<A: Entity>(&self, claim: domain::Claim) -> Result<Option<Uuid>, Stop> {
        let holder = self.executor.log.holder(&stored(claim)).await?;
        let of_kind = holder.filter(|it| it.aggregate_type == A::TYPE);
        Ok(of_kind.and_then(|it| it.aggregate_id.parse().ok()))
    }

    /// Where a person is told now. Asked for after their settings were loaded: a commit that changes the one appends to
    /// the other, so a decision from what is no longer so cannot land.
    pub async fn notification_addresses(&self, user_id: UserId) -> Result<Addresses, Stop> {
        Ok(addresses_of(&self.executor.log, user_id).await?)
    }

    /// Makes the commit depend on the aggregate being as it was read.
    pub fn rely_on<A>(&mut self, loaded: &Loaded<A>) {
        // What is appended to is guarded by that.
        if self.commit.appends.iter().any(|it| it.stream == loaded.stream) {
            return;
        }
        let guard = Guard::At { stream: loaded.stream.clone(), sequence: loaded.sequence };
        if !self.commit.guards.contains(&guard) {
            self.commit.guards.push(guard);
        }
    }

    /// Lets an aggregate decide, and lays down its events with what they demand. Returns the events.
    ///
    /// It may decide more than once: from the second time on it has already taken its earlier events.
    pub async fn run<A>(&mut self, id: impl Into<Uuid>, command: A::Command) -> Result<Vec<A::Event>, Stop>
    where
        A: Entity + 'static,
        A::Error: Into<Refusal>,
    {
        let loaded = self.load::<A>(id).await?;
        self.let_decide(loaded, command).await
    }

    /// The same for an aggregate that the command begins, under an id made for it: nothing is read, because the append
    /// proves that the stream is new.
    pub async fn begin<A>(&mut self, id: impl Into<Uuid>, command: A::Command) -> Result<Vec<A::Event>, Stop>
    where
        A: Entity + 'static,
        A::Error: Into<Refusal>,
    {
        if !self.trust_warm {
            return self.run::<A>(id, command).await;
        }
        // As little proven as warm state.
        self.used_warm = true;
        let loaded = Loaded { stream: StreamId::new(A::TYPE, id.into()), state: Arc::new(A::default()), sequence: 0 };
        self.let_decide(loaded, command).await
    }

    async fn let_decide<A>(&mut self, loaded: Loaded<A>, command: A::Command) -> Result<Vec<A::Event>, Stop>
    where
        A: Entity + 'static,
        A::Error: Into<Refusal>,
    {
        let sink = EventSink::default();
        let mut after = A::clone(&loaded.state);
        after.handle(command, &(), &sink).await.map_err(|refusal| Stop::Refused(refusal.into()))?;
        let events = sink.collect().await;
        if events.is_empty() {
            return Ok(events);
        }
        self.lay_down_demands::<A>(&loaded, &events);
        let workspace_id = after.workspace().map(|id| id.0);
        let metadata = self.context.metadata();
        let events_laid = events.iter().map(|event| NewEvent {
            event_id: Uuid::now_v7(),
            event_type: event.event_type(),
            event_version: event.event_version(),
            payload: serde_json::to_string(event).expect("an event is always JSON"),
            metadata: metadata.clone(),
            workspace_id,
        });
        self.lay_down_events(&loaded, events_laid.collect());
        let sequence = loaded.sequence + events.len() as i64;
        self.states.retain(|it| it.stream != loaded.stream);
        self.states.push(Decided { stream: loaded.stream, state: Arc::new(after), sequence });
        Ok(events)
    }

    /// Writes an account or credential row in the same commit.
    pub fn write(&mut self, row: RowChange) {
        self.commit.rows.push(row);
    }

    fn lay_down_events<A>(&mut self, loaded: &Loaded<A>, events: Vec<NewEvent>) {
        let Loaded { stream, sequence: expected, .. } = loaded;
        if let Some(append) = self.commit.appends.iter_mut().find(|it| it.stream == *stream) {
            append.events.extend(events);
            return;
        }
        // What is appended to is guarded by that.
        self.commit.guards.retain(|guard| !matches!(guard, Guard::At { stream: of, .. } if of == stream));
        self.commit.appends.push(StreamAppend { stream: stream.clone(), expected: *expected, events });
    }

    fn lay_down_demands<A>(&mut self, loaded: &Loaded<A>, events: &[A::Event])
    where
        A: Entity,
        A::Error: Into<Refusal>,
    {
        let mut state = Cow::Borrowed(&*loaded.state);
        for (n, event) in events.iter().enumerate() {
            for demand in state.demands(event) {
                match demand {
                    Demand::Take { claim, or } => {
                        let claim = stored(claim);
                        self.refusals.push((Meaning::Taken(claim.clone()), or.into()));
                        self.commit.takes.push(Take { claim, holder: loaded.stream.clone() });
                    }
                    Demand::Release(claim) => self.commit.releases.push(stored(claim)),
                    Demand::Empty { scope, or } => {
                        let scope = String::from(scope);
                        self.refusals.push((Meaning::NotEmpty(scope.clone()), or.into()));
                        self.commit.guards.push(Guard::Empty { scope });
                    }
                    Demand::Held { claim, holder: (kind, id), or } => {
                        let (claim, holder) = (stored(claim), StreamId::new(kind, id));
                        self.refusals.push((Meaning::NotHeld(claim.clone(), holder.clone()), or.into()));
                        self.commit.guards.push(Guard::Held { claim, holder });
                    }
                }
            }
            // The next event is judged by the state that this one leaves; most decisions make only one.
            if n + 1 < events.len() {
                state.to_mut().apply(event.clone());
            }
        }
    }

    /// The streams that move on, which others may want to move too. One that begins is nobody else's.
    pub(crate) fn moves(&self) -> impl Iterator<Item = &StreamId> {
        self.moves_from().map(|(stream, _)| stream)
    }

    /// The same, with where each stands.
    pub(crate) fn moves_from(&self) -> impl Iterator<Item = (&StreamId, i64)> {
        let moving = self.commit.appends.iter().filter(|append| append.expected > 0);
        moving.map(|append| (&append.stream, append.expected))
    }

    /// Whether others may go on from it before it has landed: it moves one stream on and needs nothing else.
    pub(crate) fn is_plain_move(&self) -> bool {
        self.commit.is_plain() && self.moves().next().is_some() && self.context.idempotency.is_none()
    }

    /// A state that was relied on and has not come to be yet, if the commit cannot simply follow the one that leaves it.
    pub(crate) fn unsettled(&self) -> Option<&(StreamId, Fate)> {
        let follows = |of: &StreamId| self.is_plain_move() && self.moves().any(|it| it == of);
        self.unsettled.iter().find(|(of, _)| !follows(of))
    }

    /// Nothing to append and nothing to write: it was already so.
    pub(crate) fn is_clear(&self) -> bool {
        self.commit.appends.is_empty() && self.commit.rows.is_empty()
    }

    /// What was laid down, and the states that will then be true.
    pub(crate) fn clear(self) -> (Commit, Vec<Decided>, Refusals) {
        let follows = self.unsettled.into_iter().next().map(|(_, fate)| fate);
        (Commit { follows, ..self.commit }, self.states, Refusals(self.refusals))
    }
}

/// Turns the log's no into the domain's.
pub(crate) struct Refusals(Vec<(Meaning, Refusal)>);

impl Refusals {
    /// The rule that a commit error breaks, if it breaks one.
    pub(crate) fn find(self, error: &CommitError) -> Option<Refusal> {
        let meaning = match error {
            CommitError::ClaimTaken { claim, .. } => Meaning::Taken(claim.clone()),
            CommitError::ScopeNotEmpty { scope } => Meaning::NotEmpty(scope.clone()),
            CommitError::ClaimNotHeld { claim, holder } => Meaning::NotHeld(claim.clone(), holder.clone()),
            CommitError::EmailTaken => return Some(Refusal::EmailTaken),
            CommitError::GithubIdentityTaken => return Some(Refusal::GithubIdentityTaken),
            CommitError::Conflict { .. }
            | CommitError::KeysMoved
            | CommitError::Unfounded
            | CommitError::KeyUsed(_)
            | CommitError::Malformed(_)
            | CommitError::Unavailable(_) => return None,
        };
        self.0.into_iter().find(|(of, _)| *of == meaning).map(|(_, refusal)| refusal)
    }
}

pub(crate) fn stored(claim: domain::Claim) -> Claim {
    Claim { scope: claim.scope.into(), key: claim.key }
}
