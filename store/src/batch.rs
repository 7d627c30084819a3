//! A batch in the making: commands that share nothing, so that each is decided by the log as it stood before the batch.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash as _};
use std::sync::OnceLock;

use tokio::sync::oneshot;

use crate::chain::{self, Hash};
use crate::well_formed::check;
use crate::{Commit, CommitError, Guard, Receipt, RowChange};

/// The most commands in one transaction.
const MOST_COMMANDS: usize = 512;
/// The most bytes of events in one transaction, unless one command alone has more.
const MOST_BYTES: usize = 4 << 20;

/// A commit that makes sense, with the hashes of its events.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) commit: Commit,
    /// One per event, in the order of the appends.
    pub(crate) leaves: Vec<Hash>,
    touches: Vec<Touch>,
    bytes: usize,
    /// Whether it makes or destroys a key: what comes after it must know.
    turns_keys: bool,
}

/// A commit whose caller waits for the outcome.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) prepared: Prepared,
    pub(crate) answer: oneshot::Sender<Result<Receipt, CommitError>>,
}

/// One thing that a commit needs of the log, by its hash: two things that happen to share one are only kept apart.
#[derive(Debug, Clone, Copy)]
struct Touch {
    what: u64,
    how: How,
}

/// How commits touch a thing; within a batch it is touched in one way, and changed by one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Changes,
    Reads,
    /// Changes one claim of a scope; others may change others.
    Claims,
    /// Relies on a scope being empty.
    FindsEmpty,
}

impl Prepared {
    /// Checks what needs no log and hashes the events, before any lock is taken.
    pub(crate) fn new(commit: Commit) -> Result<Self, CommitError> {
        check(&commit).map_err(CommitError::Malformed)?;
        let mut leaves = Vec::with_capacity(commit.appends.iter().map(|append| append.events.len()).sum());
        let mut bytes = 0;
        for append in &commit.appends {
            for (sequence, event) in (append.expected + 1..).zip(&append.events) {
                bytes += event.payload.len() + event.metadata.len();
                leaves.push(chain::leaf(&append.stream, sequence, event));
            }
        }
        let touches = touches(&commit);
        let turns_keys =
            commit.rows.iter().any(|it| matches!(it, RowChange::AddTextKey { .. } | RowChange::DestroyTextKeys { .. }));
        Ok(Self { commit, leaves, touches, bytes, turns_keys })
    }
}

/// Collects commits until the next one would touch what another already touches.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Pending>,
    /// Of its events.
    pub(crate) bytes: usize,
    touched: HashMap<u64, How>,
}

impl Batch {
    /// Takes the commit in, or gives it back for the next batch.
    pub(crate) fn admit(&mut self, pending: Pending) -> Option<Pending> {
        // All of a batch know the same of keys, and whoever turns one is alone.
        let other_keys = self.commands.first().is_some_and(|first| {
            let (first, next) = (&first.prepared, &pending.prepared);
            first.turns_keys || next.turns_keys || first.commit.known_keys != next.commit.known_keys
        });
        let full = other_keys
            || self.commands.len() >= MOST_COMMANDS
            || (!self.commands.is_empty() && self.bytes + pending.prepared.bytes > MOST_BYTES);
        let clashes = |touch: &Touch| {
            let before = self.touched.get(&touch.what);
            before.is_some_and(|before| touch.how == How::Changes || touch.how != *before)
        };
        if full || pending.prepared.touches.iter().any(clashes) {
            return Some(pending);
        }
        self.bytes += pending.prepared.bytes;
        for touch in &pending.prepared.touches {
            let how = self.touched.entry(touch.what).or_insert(touch.how);
            // What a commit both changes and relies on is changed.
            if touch.how == How::Changes {
                *how = How::Changes;
            }
        }
        self.commands.push(pending);
        None
    }
}

/// What a commit changes, and what it only relies on.
fn touches(commit: &Commit) -> Vec<Touch> {
    static HASHER: OnceLock<RandomState> = OnceLock::new();
    let hasher = HASHER.get_or_init(RandomState::new);
    let touch = |how, kind: &str, first: &str, second: &str| {
        let mut state = hasher.build_hasher();
        (kind, first, second).hash(&mut state);
        Touch { what: std::hash::Hasher::finish(&state), how }
    };
    let stream = |how, it: &crate::StreamId| touch(how, "stream", &it.aggregate_type, &it.aggregate_id);
    let mut all: Vec<Touch> = commit.appends.iter().map(|append| stream(How::Changes, &append.stream)).collect();
    for claim in commit.takes.iter().map(|take| &take.claim).chain(&commit.releases) {
        all.push(touch(How::Changes, "claim", &claim.scope, &claim.key));
        all.push(touch(How::Claims, "scope", &claim.scope, ""));
    }
    for guard in &commit.guards {
        all.push(match guard {
            Guard::At { stream: it, .. } => stream(How::Reads, it),
            Guard::Held { claim, .. } => touch(How::Reads, "claim", &claim.scope, &claim.key),
            Guard::Empty { scope } => touch(How::FindsEmpty, "scope", scope, ""),
        });
    }
    if let Some(remember) = &commit.remember {
        let key = &remember.key;
        all.push(touch(How::Changes, &key.route, &key.principal, &key.key));
    }
    for row in &commit.rows {
        match row {
            RowChange::AddAccount(account) => all.push(touch(How::Changes, "email", &account.email, "")),
            RowChange::LinkGithub(identity) => {
                all.push(touch(How::Changes, "github", &identity.github_id.to_string(), ""));
            }
            RowChange::SuspendAccount { .. }
            | RowChange::DeleteAccount { .. }
            | RowChange::AddTextKey { .. }
            | RowChange::DestroyTextKeys { .. }
            | RowChange::ForgetPassword { .. }
            | RowChange::AddSession(_)
            | RowChange::RemoveSession { .. }
            | RowChange::RemoveSessionsOf { .. }
            | RowChange::IssueCredential(_)
            | RowChange::SetAgentStanding { .. }
            | RowChange::RevokeCredentials { .. }
            | RowChange::SetNotificationAddresses(_) => {}
        }
    }
    all
}
