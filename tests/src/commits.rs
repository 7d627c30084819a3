//! Short ways to write streams, events, claims and commits, so that a test shows only what it is about.

use store::{Account, Claim, CommandKey, Commit, Guard, NewEvent, Remember, RowChange, StreamAppend, StreamId, Take};
use uuid::Uuid;

/// A stream by a name that is easy to read in a failure.
pub fn stream(name: impl std::fmt::Display) -> StreamId {
    StreamId::new("thing", name)
}

/// An event that says nothing in particular.
pub fn event() -> NewEvent {
    event_with(r#"{"it":"happened"}"#)
}

/// An event with the given payload.
pub fn event_with(payload: impl Into<String>) -> NewEvent {
    NewEvent {
        event_id: Uuid::now_v7(),
        event_type: "ThingHappened".into(),
        event_version: "1".into(),
        payload: payload.into(),
        metadata: "{}".into(),
        workspace_id: None,
    }
}

/// So many events.
pub fn events(count: usize) -> Vec<NewEvent> {
    (0..count).map(|_| event()).collect()
}

/// A claim in a scope.
pub fn claim(scope: &str, key: &str) -> Claim {
    Claim { scope: scope.into(), key: key.into() }
}

/// A command key of one caller on one route.
pub fn command_key(key: &str) -> CommandKey {
    CommandKey { principal: "user:ada".into(), route: "thing.do".into(), key: key.into() }
}

/// A command to remember for good.
pub fn remember(key: &str, outcome: &str) -> Remember {
    Remember {
        key: command_key(key),
        fingerprint: outcome.as_bytes().to_vec(),
        outcome: outcome.into(),
        expires_at: None,
    }
}

/// A person with this address.
pub fn account(email: &str) -> Account {
    Account {
        user_id: Uuid::now_v7(),
        email: email.into(),
        name: "Ada".into(),
        avatar_url: None,
        password_hash: None,
        suspended: false,
        created_at: 0,
        updated_at: 0,
    }
}

/// A commit of one event to one stream.
pub fn one(stream: &StreamId, expected: i64) -> Commit {
    Commit::default().append(stream, expected, events(1))
}

/// Adds parts to a commit.
pub trait Build: Sized {
    /// Appends events to a stream that must stand at `expected`.
    #[must_use]
    fn append(self, stream: &StreamId, expected: i64, events: Vec<NewEvent>) -> Self;
    /// Takes a claim.
    #[must_use]
    fn take(self, claim: &Claim, holder: &StreamId) -> Self;
    /// Gives a claim back.
    #[must_use]
    fn release(self, claim: &Claim) -> Self;
    /// Requires something.
    #[must_use]
    fn guard(self, guard: Guard) -> Self;
    /// Writes a row beside the log.
    #[must_use]
    fn row(self, row: RowChange) -> Self;
    /// Remembers the command.
    #[must_use]
    fn remembered(self, remember: Remember) -> Self;
}

impl Build for Commit {
    fn append(mut self, stream: &StreamId, expected: i64, events: Vec<NewEvent>) -> Self {
        self.appends.push(StreamAppend { stream: stream.clone(), expected, events });
        self
    }

    fn take(mut self, claim: &Claim, holder: &StreamId) -> Self {
        self.takes.push(Take { claim: claim.clone(), holder: holder.clone() });
        self
    }

    fn release(mut self, claim: &Claim) -> Self {
        self.releases.push(claim.clone());
        self
    }

    fn guard(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    fn row(mut self, row: RowChange) -> Self {
        self.rows.push(row);
        self
    }

    fn remembered(mut self, remember: Remember) -> Self {
        self.remember = Some(remember);
        self
    }
}
