//! Waiting for what the bench does: an errand's stream is looked at until it has ended, or time is up.

use std::time::Duration;

use commands::Decision;
use domain::ErrandId;
use domain::errand::{ErrandEvent, WorkResult};
use store::{StoreError, StreamId};
use tokio::time::{Instant, sleep, timeout_at};

use super::call::Call;
use super::failure::{self, Failure, Told};
use crate::auth::Principal;

/// The shortest time between two looks: a busy log wakes whoever waits all the time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

impl Call {
    /// Orders an errand, or finds the one that goes on, and waits for what comes of it.
    ///
    /// An errand may end while nobody waits for it. Then the order is refused, because what it is for is so already:
    /// `already` tells what the tool answers in that case, if it is the case. It asks the log: a read model may not have
    /// heard of what the order was refused for.
    pub(super) async fn order<D, O, F>(
        &self,
        decision: &D,
        answer: impl FnOnce(WorkResult) -> Result<O, Failure>,
        already: impl FnOnce() -> F,
    ) -> Result<O, Failure>
    where
        D: Decision<Outcome = ErrandId>,
        F: Future<Output = Result<Option<O>, Failure>>,
    {
        match self.run(decision).await {
            Ok(ordered) => answer(self.outcome(ordered.outcome).await?),
            Err(refusal @ Failure::Refused(_)) => already().await?.ok_or(refusal),
            Err(failure) => Err(failure),
        }
    }

    /// What came of an errand. Whoever asks again for an errand that goes on waits for the same.
    pub(super) async fn outcome(&self, errand: ErrandId) -> Result<WorkResult, Failure> {
        let stream = StreamId::new(ErrandEvent::KINDS[0].aggregate, errand.0);
        let (mut woken, mut shutdown) = (self.app.log.subscribe(), self.app.shutdown());
        let mut seen = 0;
        loop {
            woken.mark_unchanged();
            for event in self.app.log.read_stream(&stream, seen + 1, None).await? {
                seen = event.sequence;
                let event = domain::decode::<ErrandEvent>(&event.event_type, &event.event_version, &event.payload);
                if let Some(ended) = end_of(event.map_err(|error| Failure::unexpected(&error))?) {
                    // What follows from it is in the same commit, and whoever waited for it sees that too.
                    self.app.will_see(self.agent.actor(), self.app.log.head().await?.position);
                    return ended;
                }
            }
            let goes_on = tokio::select! {
                changed = timeout_at(self.deadline, woken.changed()) => matches!(changed, Ok(Ok(()))),
                // A server that stops has no time to wait; the errand is not lost by that.
                _ = shutdown.wait_for(|it| *it) => false,
            };
            if !goes_on || Instant::now() >= self.deadline {
                return Err(going_on(errand));
            }
            sleep(BETWEEN_LOOKS).await;
        }
    }
}

/// How an event ends the errand, if it does.
fn end_of(event: ErrandEvent) -> Option<Result<WorkResult, Failure>> {
    match event {
        ErrandEvent::ErrandOrdered { .. } | ErrandEvent::ErrandTried { .. } => None,
        ErrandEvent::ErrandDone { result, .. } => Some(Ok(result)),
        ErrandEvent::ErrandFailed { error, details, .. } => {
            let told = Told::new(failure::BENCH_REFUSED, error);
            Some(Err(Failure::Refused(match details {
                Some(details) => told.with(details),
                None => told,
            })))
        }
        ErrandEvent::ErrandCancelled { reason, .. } => {
            let told = Told::new(failure::BENCH_REFUSED, "nobody wants this any more");
            Some(Err(Failure::CalledOff(told.with(reason))))
        }
    }
}

fn going_on(errand: ErrandId) -> Failure {
    let told = Told::new(failure::STILL_GOING_ON, "this is still going on; call again with the same input");
    Failure::GoingOn(told.with(format!("errand {errand}")))
}

/// A result that the work cannot have.
pub(super) fn wrong_result(result: &WorkResult) -> Failure {
    Failure::unexpected(&format!("an errand ended in what it cannot: {result:?}"))
}

/// For look-ups that find nothing where something must be.
pub(super) fn found<T>(what: Result<Option<T>, StoreError>, name: &str) -> Result<T, Failure> {
    what?.ok_or_else(|| Failure::unexpected(&format!("{name} is not in its read model")))
}
