//! What becomes of a commit that is under way, for those that were decided on what it leaves.

use std::sync::{Arc, OnceLock};

use tokio::sync::{Notify, oneshot};

use crate::{CommitError, Receipt};

/// What becomes of one commit. It is settled once, and only the log makes one.
#[derive(Debug, Clone)]
pub struct Fate(Arc<Settling>);

/// Where a commit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody knows yet.
    Underway,
    /// It is durable.
    Landed,
    /// It was refused, or whether it is there is not known: nobody may build on it.
    Lost,
}

#[derive(Debug, Default)]
struct Settling {
    landed: OnceLock<bool>,
    settled: Notify,
}

impl Fate {
    /// Where the commit stands. Ask once for each decision: it may settle between two looks.
    pub fn standing(&self) -> Standing {
        match self.0.landed.get() {
            None => Standing::Underway,
            Some(true) => Standing::Landed,
            Some(false) => Standing::Lost,
        }
    }

    /// Waits until it is settled, and says whether the commit is durable.
    pub async fn lands(&self) -> bool {
        // Made before the look, so that a settling in between is heard.
        let heard = self.0.settled.notified();
        if self.standing() == Standing::Underway {
            heard.await;
        }
        self.standing() == Standing::Landed
    }

    /// Whether it is the same commit's.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn settle(&self, landed: bool) {
        if self.0.landed.set(landed).is_ok() {
            self.0.settled.notify_waiters();
        }
    }
}

/// The answer that a caller waits for. One that is dropped is a commit that was lost.
#[derive(Debug)]
pub(crate) struct Answer {
    to: oneshot::Sender<Result<Receipt, CommitError>>,
    promise: Promise,
}

/// Settles a fate at the latest when it is dropped.
#[derive(Debug)]
struct Promise(Fate);

impl Answer {
    pub(crate) fn new(to: oneshot::Sender<Result<Receipt, CommitError>>) -> Self {
        Self { to, promise: Promise(Fate(Arc::default())) }
    }

    pub(crate) fn fate(&self) -> &Fate {
        &self.promise.0
    }

    /// Says to those who build on the commit what became of it.
    pub(crate) fn settle(&self, outcome: &Result<Receipt, CommitError>) {
        self.fate().settle(outcome.is_ok());
    }

    /// Says to the caller what became of the commit.
    pub(crate) fn tell(self, outcome: Result<Receipt, CommitError>) {
        self.settle(&outcome);
        // A caller that went away still has its events in the log.
        let _ = self.to.send(outcome);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.settle(false);
    }
}
