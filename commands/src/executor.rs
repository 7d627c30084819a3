//! Runs decisions: from warm aggregates, again from fresh ones, at most once per key.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cqrs_es::Aggregate;
use domain::Entity;
use store::{
    CommitError, EventLog, Fate, NewEvent, Receipt, Remember, Remembered, StoreError, StoredEvent, StreamAppend,
    StreamId,
};

use crate::cache::{WarmAggregates, WarmState};
use crate::desk::Decided;
use crate::flights::{Flights, Turn, Turns};
use crate::{CommandError, Context, Decision, Desk, Idempotency, Loaded, Stop, sealing};

/// How often a command that others outran is decided anew before its caller is told.
const ATTEMPTS: usize = 8;
/// How often a command waits for its turn before it goes ahead and leaves it to the log.
const PATIENCE: usize = 64;

/// Runs commands against one log.
pub struct Executor {
    pub(crate) log: Arc<EventLog>,
    pub(crate) warm: WarmAggregates,
    /// How many keys were destroyed when what is warm was last gone through.
    erasures: AtomicI64,
    flights: Flights,
    turns: Turns,
}

/// A command that has landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done<T> {
    /// What the caller needs to know of it.
    pub outcome: T,
    /// A position that covers everything the command did.
    pub position: i64,
    /// Whether it had landed before, under the same key.
    pub replayed: bool,
    /// Its events as they were recorded, if the decision tells them and this is no repeat.
    pub recorded: Vec<StoredEvent>,
}

/// How one attempt ended.
enum Attempt<T> {
    /// It landed, now or before.
    Done(Done<T>),
    /// Another command moved this stream first.
    Outrun(StreamId),
    /// Another command of this node is appending to this stream, or just has.
    Busy(StreamId),
    /// The answer came from warm state and is not yet to be believed.
    Unsure,
    /// It was decided on what a commit under way leaves on this stream, and cannot simply follow that.
    Unsettled(StreamId, Fate),
    /// What it followed on this stream has not come to be.
    Unfounded(StreamId),
    /// A key of some workspace's text was made or destroyed.
    KeysMoved,
}

impl Executor {
    /// An executor with a cold cache.
    pub fn new(log: Arc<EventLog>) -> Self {
        let erasures = AtomicI64::new(log.known_keys().erasures);
        Self { log, warm: WarmAggregates::new(), erasures, flights: Flights::default(), turns: Turns::default() }
    }

    /// The log that commands go to.
    pub fn log(&self) -> &Arc<EventLog> {
        &self.log
    }

    /// Runs a command to its end.
    pub async fn run<D: Decision>(&self, context: &Context, decision: &D) -> Result<Done<D::Outcome>, CommandError> {
        // In a box without a type, so that what waits for a command is not compiled as one with all that it waits for.
        let running: Pin<Box<dyn Future<Output = _> + Send + '_>> = Box::pin(self.run_once(context, decision));
        let ended = running.await;
        let outcome = match &ended {
            Ok(done) if done.replayed => "replayed",
            Ok(_) => "done",
            Err(CommandError::Refused(_)) => "refused",
            Err(CommandError::Conflict) => "conflict",
            Err(CommandError::KeyReused | CommandError::InFlight) => "key_refused",
            Err(CommandError::Unavailable(_)) => "unavailable",
            Err(CommandError::Fault(_)) => "fault",
        };
        metrics::counter!("muster_commands_total", "command" => decision.name(), "outcome" => outcome).increment(1);
        ended
    }

    async fn run_once<D: Decision>(&self, context: &Context, decision: &D) -> Result<Done<D::Outcome>, CommandError> {
        let Some(idempotency) = &context.idempotency else { return self.decide(context, decision).await };
        // Held until the command has ended: a repeat meanwhile is told to wait.
        let _flight = self.flights.take_off(&idempotency.key).ok_or(CommandError::InFlight)?;
        if let Some(known) = self.log.remembered(&idempotency.key).await? {
            return replay(idempotency, known);
        }
        match self.decide(context, decision).await {
            // It may be refused because the same command landed meanwhile: from another node, or from a caller that
            // hung up while its commit was waiting.
            Err(refused @ (CommandError::Refused(_) | CommandError::Conflict)) => {
                match self.log.remembered(&idempotency.key).await? {
                    Some(known) => replay(idempotency, known),
                    None => Err(refused),
                }
            }
            ended => ended,
        }
    }

    async fn decide<D: Decision>(&self, context: &Context, decision: &D) -> Result<Done<D::Outcome>, CommandError> {
        let mut trust_warm = true;
        let mut turn: Option<Turn> = None;
        let (mut outrun, mut waited) = (0, 0);
        while outrun < ATTEMPTS {
            match self.attempt(context, decision, trust_warm, &mut turn, waited > PATIENCE).await? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Unsure => trust_warm = false,
                Attempt::KeysMoved => outrun += 1,
                Attempt::Busy(stream) => {
                    waited += 1;
                    // One turn is waited for at a time, so that no two commands wait for each other. Whoever had it
                    // has left the state warm.
                    drop(turn.take());
                    turn = Some(self.turns.wait(&stream).await);
                }
                Attempt::Unsettled(stream, fate) => {
                    waited += 1;
                    // Nobody goes on from there while this one has its turn, so it does not wait for ever.
                    self.wait_for_turn(&mut turn, &stream).await;
                    fate.lands().await;
                }
                Attempt::Unfounded(stream) => {
                    outrun += 1;
                    // Nobody trusts what was lost; what others have left since may be followed, for some time.
                    trust_warm &= outrun < ATTEMPTS / 2;
                    self.wait_for_turn(&mut turn, &stream).await;
                }
                Attempt::Outrun(stream) => {
                    outrun += 1;
                    trust_warm = false;
                    self.wait_for_turn(&mut turn, &stream).await;
                }
            }
        }
        Err(CommandError::Conflict)
    }

    async fn wait_for_turn(&self, turn: &mut Option<Turn>, stream: &StreamId) {
        if !turn.as_ref().is_some_and(|it| self.turns.is_on(it, stream)) {
            drop(turn.take());
            *turn = Some(self.turns.wait(stream).await);
        }
    }

    async fn attempt<D: Decision>(
        &self,
        context: &Context,
        decision: &D,
        trust_warm: bool,
        turn: &mut Option<Turn>,
        impatient: bool,
    ) -> Result<Attempt<D::Outcome>, CommandError> {
        let mut desk = Desk::new(self, context, trust_warm);
        let outcome = match decision.decide(&mut desk).await {
            Ok(outcome) => outcome,
            // Warm state may be behind another node's: only a fresh one may refuse.
            Err(Stop::Refused(_)) if desk.used_warm => return Ok(Attempt::Unsure),
            Err(Stop::Refused(refusal)) => return Err(CommandError::Refused(refusal)),
            Err(Stop::Fault(error)) => return Err(error.into()),
        };
        if desk.is_clear() && desk.used_warm {
            // Nor may it say that there is nothing to do.
            return Ok(Attempt::Unsure);
        }
        if desk.is_clear() && context.idempotency.is_none() {
            let position = self.log.head().await?.position;
            return Ok(Attempt::Done(Done { outcome, position, replayed: false, recorded: vec![] }));
        }
        let mut turns: Vec<Turn> = Vec::new();
        let held = |stream: &StreamId| turn.as_ref().is_some_and(|it| self.turns.is_on(it, stream));
        for stream in desk.moves().filter(|it| !impatient && !held(it)) {
            match self.turns.take(stream) {
                Some(turn) => turns.push(turn),
                None => return Ok(Attempt::Busy(stream.clone())),
            }
        }
        // With the turns taken nobody moves these on; whoever just did is followed.
        let is_behind =
            |(it, at): &(&StreamId, i64)| self.warm.sequence(it, desk.keys.erasures).is_some_and(|now| now > *at);
        if let Some((stream, _)) = desk.moves_from().find(|it| !impatient && is_behind(it)) {
            return Ok(Attempt::Busy(stream.clone()));
        }
        if let Some((stream, fate)) = desk.unsettled() {
            return Ok(Attempt::Unsettled(stream.clone(), fate.clone()));
        }
        let leads = desk.is_plain_move() && !impatient;
        if leads {
            turns.extend(turn.take());
        }
        self.commit(context, desk, outcome, D::TELLS_EVENTS, turns, leads).await
    }

    /// Commits what is on the desk. Others may follow a command that `leads` as soon as the writer has it; the turns of any
    /// other are kept to the end.
    async fn commit<T>(
        &self,
        context: &Context,
        desk: Desk<'_>,
        outcome: T,
        tells_events: bool,
        turns: Vec<Turn>,
        leads: bool,
    ) -> Result<Attempt<T>, CommandError>
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
    {
        let keys = Arc::clone(&desk.keys);
        let (mut commit, states, refusals) = desk.clear();
        commit.known_keys = Some(keys.version);
        commit.remember = context.idempotency.as_ref().map(|it| remember(context, it, &outcome));
        let told = if tells_events { commit.appends.clone() } else { vec![] };
        let turns_keys = sealing::seal(&mut commit, &keys)?;
        let mut turns = turns;
        let underway = self.log.submit(commit).await;
        if let (Ok(underway), true) = (&underway, leads) {
            for Decided { stream, state, sequence } in &states {
                let fate = Some(underway.fate.clone());
                self.warm.put(stream.clone(), state.clone(), *sequence, keys.erasures, fate);
            }
            turns.clear();
        }
        let ended = match underway {
            Ok(underway) => underway.ended().await,
            Err(refused) => Err(refused),
        };
        match ended {
            Ok(receipt) => {
                // What others follow is warm already.
                for Decided { stream, state, sequence } in states.into_iter().filter(|_| !leads) {
                    self.warm.put(stream, state, sequence, keys.erasures, None);
                }
                // The command stands, whether or not its key is known here at once: the next one finds out.
                if turns_keys && let Err(error) = self.look_at_keys().await {
                    tracing::warn!(%error, "a key that was just made is not known here yet");
                }
                let recorded = recorded(told, &receipt);
                Ok(Attempt::Done(Done { outcome, position: receipt.last, replayed: false, recorded }))
            }
            Err(CommitError::Conflict { stream, expected, actual }) => {
                // What is warm is behind and catches up; ahead it can only be of another life of the log.
                if actual < expected {
                    self.warm.forget(&stream);
                }
                Ok(Attempt::Outrun(stream))
            }
            Err(CommitError::Unfounded) => match states.into_iter().next() {
                Some(moved) => Ok(Attempt::Unfounded(moved.stream)),
                None => Err(CommandError::Fault("a commit without events followed another".into())),
            },
            Err(CommitError::KeysMoved) => {
                self.look_at_keys().await?;
                Ok(Attempt::KeysMoved)
            }
            Err(CommitError::KeyUsed(known)) => match &context.idempotency {
                Some(idempotency) => replay(idempotency, known).map(Attempt::Done),
                None => Err(CommandError::Fault("a key was refused that was not given".into())),
            },
            Err(CommitError::Unavailable(what)) => {
                // It may have landed all the same, so nothing in memory is sure.
                states.iter().for_each(|it| self.warm.forget(&it.stream));
                Err(CommandError::Unavailable(what))
            }
            Err(refused) => match refusals.find(&refused) {
                Some(refusal) => Err(CommandError::Refused(refusal)),
                None => Err(CommandError::Fault(refused.to_string())),
            },
        }
    }

    /// Hears of keys that were made or destroyed. What is warm and may hold text that is erased is forgotten. Answers
    /// with how many were destroyed so far.
    pub async fn look_at_keys(&self) -> Result<i64, StoreError> {
        let erasures = self.log.look_at_keys().await?.erasures;
        if self.erasures.fetch_max(erasures, Ordering::SeqCst) < erasures {
            self.warm.forget_all();
        }
        Ok(erasures)
    }

    /// An aggregate as the log has it now; kept warm for the next command.
    pub(crate) async fn load<A: Entity + 'static>(
        &self,
        stream: StreamId,
        erasures: i64,
    ) -> Result<Loaded<A>, StoreError> {
        // What is warm is true as far as it goes, so only what came after is read.
        let (mut state, mut sequence) = match self.warm.get::<A>(&stream, erasures) {
            Some(WarmState { state, sequence, underway: None }) => (state, sequence),
            Some(WarmState { state, sequence, underway: Some(fate) }) if fate.lands().await => (state, sequence),
            Some(_) | None => Default::default(),
        };
        let events = self.log.read_stream(&stream, sequence + 1, None).await?;
        for event in events {
            let decoded =
                domain::decode::<<A as Aggregate>::Event>(&event.event_type, &event.event_version, &event.payload);
            let decoded = decoded.map_err(|e| StoreError::Damaged(format!("position {}: {e}", event.position)))?;
            Arc::make_mut(&mut state).apply(decoded);
            sequence = event.sequence;
        }
        self.warm.put(stream.clone(), state.clone(), sequence, erasures, None);
        Ok(Loaded { stream, state, sequence })
    }
}

/// The events of a commit as the log has them: their positions follow one another in the order of the commit.
fn recorded(appends: Vec<StreamAppend>, receipt: &Receipt) -> Vec<StoredEvent> {
    let events = appends.into_iter().flat_map(|StreamAppend { stream, expected, events }| {
        (expected + 1..).zip(events).map(move |(sequence, event)| (stream.clone(), sequence, event))
    });
    let stored = |(position, (stream, sequence, it)): (i64, (StreamId, i64, NewEvent))| StoredEvent {
        position,
        stream,
        sequence,
        event_type: it.event_type,
        event_version: it.event_version,
        payload: it.payload,
        metadata: it.metadata,
        event_id: it.event_id,
        workspace_id: it.workspace_id,
        recorded_at: receipt.recorded_at,
    };
    (receipt.first..).zip(events).map(stored).collect()
}

fn remember<T: serde::Serialize>(context: &Context, idempotency: &Idempotency, outcome: &T) -> Remember {
    let lifetime = idempotency.lifetime.map(|it| it.as_micros() as i64);
    Remember {
        key: idempotency.key.clone(),
        fingerprint: idempotency.fingerprint.clone(),
        outcome: serde_json::to_string(outcome).expect("an outcome is always JSON"),
        expires_at: lifetime.map(|it| context.now.timestamp_micros() + it),
    }
}

fn replay<T: serde::de::DeserializeOwned>(
    idempotency: &Idempotency,
    known: Remembered,
) -> Result<Done<T>, CommandError> {
    if known.fingerprint != idempotency.fingerprint {
        return Err(CommandError::KeyReused);
    }
    let outcome = serde_json::from_str(&known.outcome)
        .map_err(|e| CommandError::Fault(format!("a remembered outcome cannot be read: {e}")))?;
    Ok(Done { outcome, position: known.position, replayed: true, recorded: vec![] })
}
