//! An errand: something to be done outside, on one bench, at least once. The outbox of the factory.
//!
//! It is ordered in the commit that makes it necessary, and its outcome is recorded in one commit with what follows
//! from it. Whoever does it may crash in between, so doing it twice must do no harm.

mod cancel;
mod event;
#[cfg(test)]
mod examples;
mod fail;
mod finish;
mod order;
mod retry;
mod work;

use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use cancel::CancelErrand;
pub use event::ErrandEvent;
pub use fail::FailErrand;
pub use finish::FinishErrand;
pub use order::OrderErrand;
pub use retry::RetryErrand;
pub use work::{Work, WorkResult};

use crate::{Demand, Entity, ErrandId, Slug, WorkspaceId};

/// The life of an errand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// Not ordered yet.
    #[default]
    Absent,
    /// Ordered, whether or not it is over.
    Live(Box<LiveErrand>),
}

/// An errand that was ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveErrand {
    /// Which errand it is.
    pub errand_id: ErrandId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The bench that is to do it.
    pub bench: Slug,
    /// What is to be done.
    pub work: Work,
    /// How often it was tried in vain.
    pub tries: u32,
    /// How it ended, once it has.
    pub end: Option<ErrandEnd>,
}

/// How an errand ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrandEnd {
    /// With a result.
    Done(WorkResult),
    /// In vain.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// Nobody wants it any more.
    Cancelled,
}

/// What is asked of an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrandCommand {
    /// See [`OrderErrand`].
    Order(OrderErrand),
    /// See [`RetryErrand`].
    Retry(RetryErrand),
    /// See [`FinishErrand`].
    Finish(FinishErrand),
    /// See [`FailErrand`].
    Fail(FailErrand),
    /// See [`CancelErrand`].
    Cancel(CancelErrand),
}

/// Why a command on an errand is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrandError {
    /// It was never ordered.
    #[error("the errand does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the errand exists already")]
    AlreadyExists,
    /// Another errand for the same thing is under way.
    #[error("other work on this is under way: {0}")]
    Underway(&'static str),
    /// Nobody wants it any more.
    #[error("the errand was cancelled")]
    Cancelled,
    /// It ended otherwise.
    #[error("the errand is over")]
    Over,
    /// The result is not one of this work.
    #[error("this is no result of {0}")]
    WrongResult(&'static str),
}

impl Errand {
    /// The errand, if it was ordered.
    pub fn live(&self) -> Result<&LiveErrand, ErrandError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent => Err(ErrandError::NotFound),
        }
    }

    /// The errand, if it is under way.
    pub fn under_way(&self) -> Result<&LiveErrand, ErrandError> {
        let live = self.live()?;
        match live.end {
            None => Ok(live),
            Some(ErrandEnd::Cancelled) => Err(ErrandError::Cancelled),
            Some(ErrandEnd::Done(_) | ErrandEnd::Failed { .. }) => Err(ErrandError::Over),
        }
    }

    fn decide(&self, command: ErrandCommand) -> Result<Vec<ErrandEvent>, ErrandError> {
        match command {
            ErrandCommand::Order(it) => order::decide(self, it),
            ErrandCommand::Retry(it) => retry::decide(self, it),
            ErrandCommand::Finish(it) => finish::decide(self, it),
            ErrandCommand::Fail(it) => fail::decide(self, it),
            ErrandCommand::Cancel(it) => cancel::decide(self, it),
        }
    }
}

impl Aggregate for Errand {
    const TYPE: &'static str = "errand";
    type Command = ErrandCommand;
    type Event = ErrandEvent;
    type Error = ErrandError;
    type Services = ();

    async fn handle(&mut self, command: ErrandCommand, (): &(), sink: &EventSink<Self>) -> Result<(), ErrandError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: ErrandEvent) {
        match (self, event) {
            (this, ErrandEvent::ErrandOrdered { errand_id, workspace_id, bench, work, ordered_at: _ }) => {
                let (tries, end) = (0, None);
                *this = Self::Live(Box::new(LiveErrand { errand_id, workspace_id, bench, work, tries, end }));
            }
            (Self::Live(live), event) => live.apply(event),
            (Self::Absent, _) => {}
        }
    }
}

impl LiveErrand {
    fn apply(&mut self, event: ErrandEvent) {
        match event {
            ErrandEvent::ErrandOrdered { .. } => {}
            ErrandEvent::ErrandTried { attempt, .. } => self.tries = attempt,
            ErrandEvent::ErrandDone { result, .. } => self.end = Some(ErrandEnd::Done(result)),
            ErrandEvent::ErrandFailed { error, .. } => self.end = Some(ErrandEnd::Failed { error }),
            ErrandEvent::ErrandCancelled { .. } => self.end = Some(ErrandEnd::Cancelled),
        }
    }
}

impl Entity for Errand {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.live().ok().map(|live| live.workspace_id)
    }

    fn demands(&self, event: &ErrandEvent) -> Vec<Demand<ErrandError>> {
        match event {
            ErrandEvent::ErrandOrdered { work, .. } => {
                vec![Demand::Take { claim: work.claim(), or: ErrandError::Underway(work.name()) }]
            }
            ErrandEvent::ErrandDone { .. } | ErrandEvent::ErrandFailed { .. } | ErrandEvent::ErrandCancelled { .. } => {
                self.under_way().ok().map(|live| Demand::Release(live.work.claim())).into_iter().collect()
            }
            ErrandEvent::ErrandTried { .. } => vec![],
        }
    }
}
