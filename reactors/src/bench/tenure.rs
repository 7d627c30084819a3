//! Whose a bench is: the node that holds the lease on its name works there, every other one stands by.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{BenchLease, EventLog};
use tokio::sync::watch;
use workbench::git::GitError;

use super::Bench;

/// How long another node waits for one that has died.
const LEASE: Duration = Duration::from_secs(15);
/// How often the lease is renewed, and asked for by those who do not have it.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(5);

/// Until when this node has the bench; nothing while it stands by.
pub(super) type HeldUntil = watch::Sender<Option<Instant>>;

impl Bench {
    /// Whether this node works at the bench now.
    pub fn is_held(&self) -> bool {
        self.held_until.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Returns when this node works at the bench, perhaps never.
    pub(crate) async fn held(&self) {
        let mut held_until = self.held_until.subscribe();
        // The sender is the bench itself.
        let _ = held_until.wait_for(|it| it.is_some_and(|until| Instant::now() < until)).await;
    }

    /// Holds the bench, or waits for it, until it is told to stop; then gives it back.
    pub(crate) async fn keep(self: Arc<Self>, log: Arc<EventLog>, mut stop: watch::Receiver<bool>) {
        let mut lease = log.bench_lease(self.name().as_ref(), &self.owner, LEASE);
        let mut before = None;
        while !*stop.borrow() {
            let was_held = self.is_held();
            self.hold(&mut lease, &mut before).await;
            if !was_held {
                self.end_strays(&log).await;
            }
            let _ = tokio::time::timeout(BETWEEN_RENEWALS, stop.wait_for(|stop| *stop)).await;
        }
        if self.held_until.send_replace(None).is_some()
            && let Err(error) = lease.give_back().await
        {
            tracing::warn!(bench = %self.name(), %error, "the bench was not given back: another node waits for the end of the lease");
        }
    }

    /// Tries once, and says so when it comes out otherwise than before.
    async fn hold(&self, lease: &mut BenchLease, before: &mut Option<bool>) {
        let bench = self.name();
        let until = match lease.hold().await {
            Ok(until) => until,
            // What it has it has until its end; nobody else can have got it.
            Err(error) => return tracing::warn!(%bench, %error, "the lease on the bench could not be renewed"),
        };
        if until.is_some()
            && !self.is_held()
            && let Err(error) = self.end_left_behind().await
        {
            return tracing::warn!(%bench, %error, "a git of an earlier server will not end: this one does not begin");
        }
        self.held_until.send_replace(until);
        match (before.replace(until.is_some()), until) {
            (Some(true), Some(_)) | (Some(false), None) => {}
            (None | Some(false), Some(_)) => tracing::info!(%bench, "this node works at the bench"),
            (None | Some(true), None) => tracing::warn!(%bench, "another node works at the bench: this one stands by"),
        }
    }

    /// Ends what whoever had the bench before left running on this machine.
    async fn end_left_behind(&self) -> Result<(), GitError> {
        for project in &self.projects {
            project.repository.end_left_behind().await?;
        }
        Ok(())
    }
}
