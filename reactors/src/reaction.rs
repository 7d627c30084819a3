//! What a reactor is, and what it can do about an event.

use std::pin::Pin;

use chrono::{DateTime, Utc};
use commands::{Actor, CommandError, Context, Decision, Done, Executor, Idempotency};
use projections::Fact;
use store::reactor_key;
use store::sql::Database;
use uuid::Uuid;

/// Tells in which lane an event has its reaction.
pub type LaneOf = fn(&Fact) -> Uuid;

/// Turns events into commands.
pub trait Reactor: Send + Sync + 'static {
    /// Names its checkpoint and its commands; never changes.
    fn name(&self) -> &'static str;

    /// Whether it does anything about this event.
    fn cares_about(&self, fact: &Fact) -> bool;

    /// The read models it looks at; they have seen the event before it is called.
    fn reads(&self) -> &'static [&'static str];

    /// By what its reactions are divided into lanes, if one that is slow must not hold up all others: in order within
    /// a lane, side by side in different ones. By default all of them are in the order of the log.
    fn lanes(&self) -> Option<LaneOf> {
        None
    }

    /// Does what follows from the event. Called again after a crash: the same commands do nothing twice.
    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>>;
}

/// One event, and the means to act on it.
#[derive(Clone, Copy)]
pub struct Reaction<'a> {
    pub(crate) reactor: &'static str,
    /// What happened.
    pub fact: &'a Fact,
    /// Read models that have seen it.
    pub views: &'a Database,
    pub(crate) executor: &'a Executor,
}

impl Reaction<'_> {
    /// Issues a command about `subject`. One event, one reactor and one subject make one command, whenever it runs.
    pub async fn run<D: Decision>(&self, subject: Uuid, decision: &D) -> Result<Done<D::Outcome>, CommandError> {
        // A reaction belongs to the moment of its cause, however late it runs.
        self.run_at(self.now(), subject, decision).await
    }

    /// The same for what is done outside, where the time is the clock's.
    pub async fn run_outside<D: Decision>(
        &self,
        subject: Uuid,
        decision: &D,
    ) -> Result<Done<D::Outcome>, CommandError> {
        self.run_at(self.executor.log().clock().now(), subject, decision).await
    }

    async fn run_at<D: Decision>(
        &self,
        now: DateTime<Utc>,
        subject: Uuid,
        decision: &D,
    ) -> Result<Done<D::Outcome>, CommandError> {
        let seed = format!("{}/{}/{subject}", self.reactor, decision.name());
        let command_id = Uuid::new_v5(&self.fact.event_id, seed.as_bytes());
        let context = Context {
            actor: Actor::System(self.reactor),
            command_id,
            correlation_id: self.correlation_id(),
            causation_id: Some(self.fact.event_id),
            trace_id: self.fact.metadata.trace_id.clone(),
            now,
            idempotency: Some(Idempotency {
                key: reactor_key(self.reactor, command_id),
                fingerprint: Vec::new(),
                lifetime: None,
            }),
        };
        self.executor.run(&context, decision).await
    }

    /// The moment of the cause.
    pub fn now(&self) -> DateTime<Utc> {
        self.fact.recorded_at
    }

    fn correlation_id(&self) -> Uuid {
        let given = self.fact.metadata.correlation_id.as_deref().and_then(|id| Uuid::try_parse(id).ok());
        given.unwrap_or(self.fact.event_id)
    }
}
