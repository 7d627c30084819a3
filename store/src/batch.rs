//! A batch in the making: commands that share nothing, so that each is decided by the log as it stood before the batch.
//!
//! Commands that follow one another on a stream are one to the log: they land together, or none does.

use std::collections::HashMap;
use std::sync::OnceLock;

use ahash::RandomState;

use crate::chain::{self, Hash};
use crate::fate::{Answer, Standing};
use crate::well_formed::check;
use crate::{Commit, CommitError, Guard, Receipt, RowChange, StreamAppend};

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
    /// How many events each command has that was joined to it, in their order; they come last.
    followers: Vec<usize>,
    touches: Vec<Touch>,
    bytes: usize,
    /// Whether it makes or destroys a key: what comes after it must know.
    turns_keys: bool,
}

/// A commit whose caller waits for the outcome.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) prepared: Prepared,
    pub(crate) answer: Answer,
    /// Those of the commands that were joined to it.
    pub(crate) followers: Vec<Answer>,
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
        Ok(Self { commit, leaves, followers: Vec::new(), touches, bytes, turns_keys })
    }

    /// How many commands it is.
    pub(crate) fn commands(&self) -> usize {
        1 + self.followers.len()
    }

    /// Tells each of its commands apart: those that were joined stand where the one before them leaves the stream.
    pub(crate) fn one_by_one(&self) -> Vec<Self> {
        let [append] = self.commit.appends.as_slice() else { return vec![self.clone()] };
        let mut at = 0;
        let part = |events: usize| {
            let range = at..at + events;
            at = range.end;
            let appends = vec![StreamAppend {
                stream: append.stream.clone(),
                expected: append.expected + range.start as i64,
                events: append.events[range.clone()].to_vec(),
            }];
            let commit = Commit { appends, ..self.commit.clone() };
            Self { commit, leaves: self.leaves[range].to_vec(), followers: Vec::new(), ..self.clone() }
        };
        std::iter::once(self.own_events()).chain(self.followers.iter().copied()).map(part).collect()
    }

    /// What each of its commands is told, by what came of all of them.
    pub(crate) fn share_out(
        &self,
        outcome: Result<Receipt, CommitError>,
        told: &mut Vec<Result<Receipt, CommitError>>,
    ) {
        if self.followers.is_empty() {
            told.push(outcome);
            return;
        }
        match outcome {
            Ok(Receipt { first, recorded_at, .. }) => {
                let mut next = first;
                for events in std::iter::once(self.own_events()).chain(self.followers.iter().copied()) {
                    let first = next;
                    next += events as i64;
                    told.push(Ok(Receipt { first, last: next - 1, recorded_at }));
                }
            }
            // It is the same for all of them.
            Err(error @ (CommitError::KeysMoved | CommitError::Unavailable(_))) => {
                told.extend(std::iter::repeat_n(Err(error), self.commands()));
            }
            Err(refusal) => {
                told.push(Err(refusal));
                told.extend(self.followers.iter().map(|_| Err(CommitError::Unfounded)));
            }
        }
    }

    /// Without those of the commands that were joined.
    fn own_events(&self) -> usize {
        self.leaves.len() - self.followers.iter().sum::<usize>()
    }

    /// Takes in a command that follows the last one of these.
    fn join(&mut self, next: Self) {
        self.followers.push(next.leaves.len());
        self.leaves.extend(next.leaves);
        let events = next.commit.appends.into_iter().flat_map(|append| append.events);
        self.commit.appends[0].events.extend(events);
    }
}

/// Collects commits until the next one would touch what another already touches.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Pending>,
    /// Of its events.
    pub(crate) bytes: usize,
    /// Commands that were joined to others.
    joined: usize,
    touched: HashMap<u64, Touched, RandomState>,
}

/// How a thing is touched, and by which command first.
#[derive(Debug)]
struct Touched {
    how: How,
    by: usize,
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
            || self.commands.len() + self.joined >= MOST_COMMANDS
            || (!self.commands.is_empty() && self.bytes + pending.prepared.bytes > MOST_BYTES);
        if full {
            return Some(pending);
        }
        let follows = pending.prepared.commit.follows.as_ref();
        if follows.is_some_and(|it| it.standing() == Standing::Underway) {
            // What it follows is in this batch, or comes in another one before it.
            let Some(leader) = self.leader_of(&pending) else { return Some(pending) };
            self.bytes += pending.prepared.bytes;
            self.joined += 1;
            let leader = &mut self.commands[leader];
            leader.prepared.join(pending.prepared);
            leader.followers.push(pending.answer);
            return None;
        }
        let clashes = |touch: &Touch| {
            let before = self.touched.get(&touch.what);
            before.is_some_and(|before| touch.how == How::Changes || touch.how != before.how)
        };
        if pending.prepared.touches.iter().any(clashes) {
            return Some(pending);
        }
        self.bytes += pending.prepared.bytes;
        let by = self.commands.len();
        for touch in &pending.prepared.touches {
            let touched = self.touched.entry(touch.what).or_insert(Touched { how: touch.how, by });
            // What a commit both changes and relies on is changed.
            if touch.how == How::Changes {
                touched.how = How::Changes;
            }
        }
        self.commands.push(pending);
        None
    }

    /// The command that a follower can be joined to: plain like itself, and the last on its stream is the one it follows
    /// and leaves the stream where the follower thinks.
    fn leader_of(&self, follower: &Pending) -> Option<usize> {
        let stream = follower.prepared.touches.first()?;
        let by = self.touched.get(&stream.what)?.by;
        let leader = self.commands.get(by).filter(|it| it.prepared.commit.is_plain())?;
        let (before, next) = (leader.prepared.commit.appends.first()?, follower.prepared.commit.appends.first()?);
        let fits = before.stream == next.stream && before.expected + before.events.len() as i64 == next.expected;
        let last = leader.followers.last().unwrap_or(&leader.answer);
        let follows = follower.prepared.commit.follows.as_ref().is_some_and(|it| it.is(last.fate()));
        (fits && follows).then_some(by)
    }
}

/// What a commit changes, and what it only relies on.
fn touches(commit: &Commit) -> Vec<Touch> {
    static HASHER: OnceLock<RandomState> = OnceLock::new();
    let hasher = HASHER.get_or_init(RandomState::new);
    let touch =
        |how, kind: &str, first: &str, second: &str| Touch { what: hasher.hash_one((kind, first, second)), how };
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
