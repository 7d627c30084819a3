//! Who asks, when, and in what connection: everything about a command that is not the command.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{AgentId, UserId};
use serde::Serialize;
use store::CommandKey;
use uuid::Uuid;

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A person.
    User(UserId),
    /// An agent.
    Agent(AgentId),
    /// Muster itself: the named reactor or tool.
    System(&'static str),
}

/// What surrounds a command.
#[derive(Debug, Clone)]
pub struct Context {
    /// Who acts.
    pub actor: Actor,
    /// This command.
    pub command_id: Uuid,
    /// Everything that follows from one request shares this.
    pub correlation_id: Uuid,
    /// The event that caused the command, if one did.
    pub causation_id: Option<Uuid>,
    /// The trace of the request, if it is traced.
    pub trace_id: Option<String>,
    /// Domain time.
    pub now: DateTime<Utc>,
    /// Makes a repeat of the command harmless.
    pub idempotency: Option<Idempotency>,
}

/// The key under which a command is run at most once.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// Who chose which key for which operation.
    pub key: CommandKey,
    /// A hash of what is asked.
    pub fingerprint: Vec<u8>,
    /// How long it is remembered; for ever without.
    pub lifetime: Option<Duration>,
}

impl Context {
    /// A command of its own, not part of anything.
    pub fn new(actor: Actor, now: DateTime<Utc>) -> Self {
        let command_id = Uuid::now_v7();
        Self {
            actor,
            command_id,
            correlation_id: command_id,
            causation_id: None,
            trace_id: None,
            now,
            idempotency: None,
        }
    }

    /// The metadata of every event of this command: a flat map of strings, as cqrs-es reads it.
    pub(crate) fn metadata(&self) -> String {
        let (actor_type, actor_id) = match self.actor {
            Actor::User(id) => ("user", id.to_string()),
            Actor::Agent(id) => ("agent", id.to_string()),
            Actor::System(name) => ("system", name.to_owned()),
        };
        let metadata = Metadata {
            actor_type,
            actor_id: &actor_id,
            command_id: self.command_id,
            correlation_id: self.correlation_id,
            causation_id: self.causation_id,
            trace_id: self.trace_id.as_deref(),
        };
        serde_json::to_string(&metadata).expect("a struct of strings is always JSON")
    }
}

#[derive(Serialize)]
struct Metadata<'a> {
    actor_type: &'static str,
    actor_id: &'a str,
    command_id: Uuid,
    correlation_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    causation_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
}
