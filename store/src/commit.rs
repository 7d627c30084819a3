//! One commit: everything a command wants to change, and the ways the log may refuse it.

use uuid::Uuid;

use crate::{Fate, NewEvent, RowChange, StreamId};

/// What a command asks of the log. All of it lands, or none.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Events per stream; a stream appears at most once.
    pub appends: Vec<StreamAppend>,
    /// Claims taken by this commit.
    pub takes: Vec<Take>,
    /// Claims given back by this commit; a claim may be released and taken anew in one commit.
    pub releases: Vec<Claim>,
    /// What must hold, with nothing appended there.
    pub guards: Vec<Guard>,
    /// Account and credential rows written in the same transaction.
    pub rows: Vec<RowChange>,
    /// Remembers the command under its caller's key, in the same transaction.
    pub remember: Option<Remember>,
    /// By which knowledge of keys its text was sealed, or not sealed; refused when another key was made or destroyed
    /// since. `None` where there is nothing to seal.
    pub known_keys: Option<i64>,
    /// The commit under way on whose outcome this one was decided: it lands only if that one has. Only for a commit that
    /// is nothing but events of one stream, the one that both append to.
    pub follows: Option<Fate>,
}

/// Events for one stream that must stand at `expected`.
#[derive(Debug, Clone)]
pub struct StreamAppend {
    /// Where the events go.
    pub stream: StreamId,
    /// The stream's last sequence as the writer knows it; 0 for a new stream.
    pub expected: i64,
    /// At least one event.
    pub events: Vec<NewEvent>,
}

/// Something that at most one stream may hold at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim {
    /// The family of the claim, e.g. `workspace-slug`.
    pub scope: String,
    /// What is claimed within the scope.
    pub key: String,
}

/// A claim and the stream that takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// What is taken.
    pub claim: Claim,
    /// Who holds it from now on.
    pub holder: StreamId,
}

/// A condition on the log that is checked inside the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The stream's last sequence is still this one.
    At {
        /// The stream that was read.
        stream: StreamId,
        /// The sequence it stood at.
        sequence: i64,
    },
    /// The claim is held by this stream.
    Held {
        /// The claim that must be held.
        claim: Claim,
        /// The stream that must hold it.
        holder: StreamId,
    },
    /// No claim is held in this scope.
    Empty {
        /// The scope that must be empty.
        scope: String,
    },
}

/// Names one use of an `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandKey {
    /// Who sent the command.
    pub principal: String,
    /// The operation it was sent to.
    pub route: String,
    /// The key that the caller chose.
    pub key: String,
}

/// A command to remember, so that its repeat is answered and not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// Under which key.
    pub key: CommandKey,
    /// A hash of what was asked, to tell a repeat from another request under the same key.
    pub fingerprint: Vec<u8>,
    /// JSON that is enough to answer the repeat: ids, never secrets.
    pub outcome: String,
    /// When it may be forgotten, in microseconds since 1970; `None` for never.
    pub expires_at: Option<i64>,
}

/// What is remembered of a command that has landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The hash of what was asked then.
    pub fingerprint: Vec<u8>,
    /// What was noted to answer a repeat.
    pub outcome: String,
    /// The log's head when the command landed, its own events included.
    pub position: i64,
}

/// Proof that a commit is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The position of the commit's first event; of the head, if it carried none.
    pub first: i64,
    /// The position of its last event; of the head, if it carried none.
    pub last: i64,
    /// The time of the batch.
    pub recorded_at: i64,
}

/// Why a commit did not land. Nothing of it was written, except where `Unavailable` says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A stream does not stand where the writer thought.
    #[error("{stream} is at {actual}, not at {expected}")]
    Conflict {
        /// The stream that moved.
        stream: StreamId,
        /// The sequence that was expected.
        expected: i64,
        /// The sequence it has.
        actual: i64,
    },
    /// Another stream holds the claim.
    #[error("{}/{} is held by {holder}", .claim.scope, .claim.key)]
    ClaimTaken {
        /// The claim that was asked for.
        claim: Claim,
        /// Who has it.
        holder: StreamId,
    },
    /// A claim that had to be held is not, or is by another stream.
    #[error("{}/{} is not held by {holder}", .claim.scope, .claim.key)]
    ClaimNotHeld {
        /// The claim that had to be held.
        claim: Claim,
        /// Who had to hold it.
        holder: StreamId,
    },
    /// A scope that had to be empty is not.
    #[error("{scope} is not empty")]
    ScopeNotEmpty {
        /// The scope with a claim in it.
        scope: String,
    },
    /// A command with this key has landed before.
    #[error("this command key has been used")]
    KeyUsed(Remembered),
    /// Another account has this e-mail address.
    #[error("this e-mail address belongs to an account")]
    EmailTaken,
    /// The GitHub identity opens an account already.
    #[error("this GitHub identity belongs to an account")]
    GithubIdentityTaken,
    /// A key of some workspace's text was made or destroyed since: what is to be sealed, and from what state it was
    /// decided, must be looked at again.
    #[error("keys were made or destroyed since this was decided")]
    KeysMoved,
    /// The commit on which this one was decided has not landed.
    #[error("what this was decided on has not come to be")]
    Unfounded,
    /// The commit itself makes no sense: a stream twice, an append of nothing, JSON that is not JSON.
    #[error("malformed commit: {0}")]
    Malformed(String),
    /// The database did not answer. The commit may or may not have landed; a repeat under the same key tells.
    #[error("the log is unavailable: {0}")]
    Unavailable(String),
}

impl Commit {
    /// A commit that only writes rows beside the log.
    pub fn of_rows(rows: Vec<RowChange>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Whether it is nothing but events of one stream.
    pub fn is_plain(&self) -> bool {
        self.appends.len() == 1
            && self.takes.is_empty()
            && self.releases.is_empty()
            && self.guards.is_empty()
            && self.rows.is_empty()
            && self.remember.is_none()
    }
}

/// A key for commands that reactors issue: deterministic, never forgotten.
pub fn reactor_key(reactor: &str, command_id: Uuid) -> CommandKey {
    CommandKey { principal: format!("reactor:{reactor}"), route: "reaction".into(), key: command_id.to_string() }
}
