//! The log's contract in its plainest form: everything in memory, one commit at a time.

use std::collections::BTreeMap;

use store::{Claim, CommandKey, Commit, CommitError, Guard, Remembered, RowChange, StreamId};
use uuid::Uuid;

/// A log that is obviously right, to hold the real ones against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// In the order of their positions.
    pub events: Vec<Recorded>,
    /// Who holds what.
    pub claims: BTreeMap<Claim, StreamId>,
    emails: Vec<String>,
    remembered: Vec<(CommandKey, Remembered, Option<i64>)>,
}

/// What the model keeps of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The stream it went to.
    pub stream: StreamId,
    /// Its place there.
    pub sequence: i64,
    /// Which event it is.
    pub event_id: Uuid,
}

/// The positions of a commit's first and last event; the head twice, if it carried none.
pub type Positions = (i64, i64);

impl Model {
    /// The position of the last event.
    pub fn head(&self) -> i64 {
        self.events.len() as i64
    }

    /// Where a stream stands.
    pub fn sequence(&self, stream: &StreamId) -> i64 {
        self.events.iter().filter(|event| event.stream == *stream).count() as i64
    }

    /// Lands all of a well-formed commit, or refuses it and changes nothing.
    pub fn commit(&mut self, commit: &Commit, now: i64) -> Result<Positions, CommitError> {
        // The order in which a commit with several faults is refused.
        self.check_key(commit, now)?;
        self.check_streams(commit)?;
        self.check_takes(commit)?;
        self.check_held(commit)?;
        self.check_empty(commit)?;
        self.check_emails(commit)?;
        Ok(self.land(commit))
    }

    fn check_key(&self, commit: &Commit, now: i64) -> Result<(), CommitError> {
        let Some(asked) = &commit.remember else { return Ok(()) };
        match self.remembered.iter().find(|(key, _, _)| *key == asked.key) {
            Some((_, before, expires)) if expires.is_none_or(|at| at > now) => {
                Err(CommitError::KeyUsed(before.clone()))
            }
            _ => Ok(()),
        }
    }

    fn check_streams(&self, commit: &Commit) -> Result<(), CommitError> {
        let appended = commit.appends.iter().map(|it| (&it.stream, it.expected));
        let guarded = commit.guards.iter().filter_map(|it| match it {
            Guard::At { stream, sequence } => Some((stream, *sequence)),
            Guard::Held { .. } | Guard::Empty { .. } => None,
        });
        for (stream, expected) in appended.chain(guarded) {
            let actual = self.sequence(stream);
            if actual != expected {
                return Err(CommitError::Conflict { stream: stream.clone(), expected, actual });
            }
        }
        Ok(())
    }

    fn check_takes(&self, commit: &Commit) -> Result<(), CommitError> {
        for take in commit.takes.iter().filter(|take| !commit.releases.contains(&take.claim)) {
            if let Some(holder) = self.claims.get(&take.claim) {
                return Err(CommitError::ClaimTaken { claim: take.claim.clone(), holder: holder.clone() });
            }
        }
        Ok(())
    }

    fn check_held(&self, commit: &Commit) -> Result<(), CommitError> {
        for guard in &commit.guards {
            let Guard::Held { claim, holder } = guard else { continue };
            if self.claims.get(claim) != Some(holder) {
                return Err(CommitError::ClaimNotHeld { claim: claim.clone(), holder: holder.clone() });
            }
        }
        Ok(())
    }

    fn check_empty(&self, commit: &Commit) -> Result<(), CommitError> {
        for guard in &commit.guards {
            let Guard::Empty { scope } = guard else { continue };
            if self.claims.keys().any(|claim| claim.scope == *scope) {
                return Err(CommitError::ScopeNotEmpty { scope: scope.clone() });
            }
        }
        Ok(())
    }

    fn check_emails(&self, commit: &Commit) -> Result<(), CommitError> {
        let taken = emails(commit).any(|email| self.emails.contains(email));
        if taken { Err(CommitError::EmailTaken) } else { Ok(()) }
    }

    fn land(&mut self, commit: &Commit) -> Positions {
        let before = self.head();
        for append in &commit.appends {
            for (event, sequence) in append.events.iter().zip(append.expected + 1..) {
                let (stream, event_id) = (append.stream.clone(), event.event_id);
                self.events.push(Recorded { stream, sequence, event_id });
            }
        }
        for claim in &commit.releases {
            self.claims.remove(claim);
        }
        for take in &commit.takes {
            self.claims.insert(take.claim.clone(), take.holder.clone());
        }
        self.emails.extend(emails(commit).cloned());
        let head = self.head();
        if let Some(asked) = &commit.remember {
            let (fingerprint, outcome) = (asked.fingerprint.clone(), asked.outcome.clone());
            self.remembered.retain(|(key, _, _)| *key != asked.key);
            self.remembered.push((
                asked.key.clone(),
                Remembered { fingerprint, outcome, position: head },
                asked.expires_at,
            ));
        }
        if head > before { (before + 1, head) } else { (head, head) }
    }
}

fn emails(commit: &Commit) -> impl Iterator<Item = &String> {
    commit.rows.iter().filter_map(|row| match row {
        RowChange::AddAccount(account) => Some(&account.email),
        _ => None,
    })
}
