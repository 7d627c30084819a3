//! A batch in the making: commands that share nothing, so that each is decided by the log as it stood before the batch.

use std::collections::HashSet;

use tokio::sync::oneshot;

use crate::chain::{self, Hash};
use crate::well_formed::check;
use crate::{Claim, CommandKey, Commit, CommitError, Guard, Receipt, RowChange, StreamId};

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
    bytes: usize,
}

/// A commit whose caller waits for the outcome.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) prepared: Prepared,
    pub(crate) answer: oneshot::Sender<Result<Receipt, CommitError>>,
}

impl Prepared {
    /// Checks what needs no log and hashes the events, before any lock is taken.
    pub(crate) fn new(commit: Commit) -> Result<Self, CommitError> {
        check(&commit).map_err(CommitError::Malformed)?;
        let mut leaves = Vec::new();
        let mut bytes = 0;
        for append in &commit.appends {
            for (sequence, event) in (append.expected + 1..).zip(&append.events) {
                bytes += event.payload.len() + event.metadata.len();
                leaves.push(chain::leaf(&append.stream, sequence, event));
            }
        }
        Ok(Self { commit, leaves, bytes })
    }
}

/// Collects commits until the next one would touch what another already touches.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Pending>,
    bytes: usize,
    written: Touched,
    read: Touched,
}

#[derive(Debug, Default)]
struct Touched {
    streams: HashSet<StreamId>,
    claims: HashSet<Claim>,
    /// Scopes that must hold no claim.
    empty_scopes: HashSet<String>,
    keys: HashSet<CommandKey>,
    emails: HashSet<String>,
    github_ids: HashSet<i64>,
}

impl Batch {
    /// Takes the commit in, or gives it back for the next batch.
    pub(crate) fn admit(&mut self, pending: Pending) -> Option<Pending> {
        let full = self.commands.len() >= MOST_COMMANDS
            || (!self.commands.is_empty() && self.bytes + pending.prepared.bytes > MOST_BYTES);
        let (written, read) = touched_by(&pending.prepared.commit);
        let clash = written.meets(&self.written)
            || written.meets(&self.read)
            || read.meets(&self.written)
            || !written.claimed_scopes().is_disjoint(&self.read.empty_scopes)
            || !read.empty_scopes.is_disjoint(&self.written.claimed_scopes());
        if full || clash {
            return Some(pending);
        }
        self.bytes += pending.prepared.bytes;
        self.written.add(written);
        self.read.add(read);
        self.commands.push(pending);
        None
    }
}

impl Touched {
    /// Two commands may change different claims of one scope, but not while a third relies on the scope being empty.
    fn claimed_scopes(&self) -> HashSet<String> {
        self.claims.iter().map(|claim| claim.scope.clone()).collect()
    }

    fn meets(&self, other: &Self) -> bool {
        !self.streams.is_disjoint(&other.streams)
            || !self.claims.is_disjoint(&other.claims)
            || !self.keys.is_disjoint(&other.keys)
            || !self.emails.is_disjoint(&other.emails)
            || !self.github_ids.is_disjoint(&other.github_ids)
    }

    fn add(&mut self, other: Self) {
        self.streams.extend(other.streams);
        self.claims.extend(other.claims);
        self.empty_scopes.extend(other.empty_scopes);
        self.keys.extend(other.keys);
        self.emails.extend(other.emails);
        self.github_ids.extend(other.github_ids);
    }
}

/// What a commit changes, and what it only relies on.
fn touched_by(commit: &Commit) -> (Touched, Touched) {
    let (mut written, mut read) = (Touched::default(), Touched::default());
    written.streams.extend(commit.appends.iter().map(|append| append.stream.clone()));
    for claim in commit.takes.iter().map(|take| &take.claim).chain(&commit.releases) {
        written.claims.insert(claim.clone());
    }
    for guard in &commit.guards {
        match guard {
            Guard::At { stream, .. } => drop(read.streams.insert(stream.clone())),
            Guard::Held { claim, .. } => drop(read.claims.insert(claim.clone())),
            Guard::Empty { scope } => drop(read.empty_scopes.insert(scope.clone())),
        }
    }
    written.keys.extend(commit.remember.iter().map(|remember| remember.key.clone()));
    for row in &commit.rows {
        match row {
            RowChange::AddAccount(account) => drop(written.emails.insert(account.email.clone())),
            RowChange::LinkGithub(identity) => drop(written.github_ids.insert(identity.github_id)),
            RowChange::SuspendAccount { .. }
            | RowChange::ForgetPassword { .. }
            | RowChange::AddSession(_)
            | RowChange::RemoveSession { .. }
            | RowChange::RemoveSessionsOf { .. }
            | RowChange::IssueCredential(_)
            | RowChange::SetAgentStanding { .. }
            | RowChange::RevokeCredentials { .. } => {}
        }
    }
    (written, read)
}
