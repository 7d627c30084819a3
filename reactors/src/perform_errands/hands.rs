//! Does one errand: the effect first, then its outcome in one commit with what follows from it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use commands::factory::{CancelErrand, FailErrand, FinishErrand, TryErrandAgain};
use commands::{Actor, CommandError, Context, Decision, Done, Idempotency};
use domain::errand::{Work, WorkResult};
use domain::{AgentCode, ErrandId, WorkspaceId};
use futures_util::FutureExt;
use projections::errands::ErrandView;
use store::{EventLog, reactor_key};
use uuid::Uuid;

use super::trouble::{Trouble, pause};
use super::{Shop, launch, merge, merge_epic, open_epic_pull_request, open_pull_request, rebase, stop};

const NAME: &str = "perform_errands";
/// Between two tries to record an outcome while the store is away.
const BETWEEN_RECORDS: Duration = Duration::from_millis(500);
const MOST_RECORDS: usize = 20;

/// A key for an agent, and what is stored of it.
pub struct FreshKey {
    /// The key itself: told to the agent and to nobody else.
    pub text: String,
    /// What is stored of it.
    pub hash: Vec<u8>,
}

/// Makes a key for an agent of a workspace.
pub type KeyMaker = Arc<dyn Fn(WorkspaceId, &AgentCode) -> FreshKey + Send + Sync>;

/// Whoever does one errand.
pub(super) struct Hands {
    pub(super) shop: Shop,
}

impl Hands {
    pub(super) fn new(shop: Shop) -> Self {
        Self { shop }
    }

    pub(super) fn log(&self) -> &EventLog {
        self.shop.executor.log()
    }

    /// Does an errand and records how it ended; says whether that is on record.
    pub(super) async fn perform(&self, errand: ErrandView) -> bool {
        let (id, work) = (errand.id, errand.work.name());
        // A panic is a fault of ours, and counts like any other: it is tried again, and not for ever.
        let ended = AssertUnwindSafe(self.effect(&errand)).catch_unwind().await;
        let ended = ended.unwrap_or_else(|panic| Err(Trouble::fault(panic.as_ref())));
        if let Err(trouble) = &ended {
            tracing::warn!(errand = %id, work, ?trouble, "an errand met trouble");
        }
        let recorded = match ended {
            Ok(result) => self.finish(&errand, result).await,
            Err(trouble) => self.record(&errand, trouble).await,
        };
        if let Err(error) = &recorded {
            // It is still open, and is taken up again.
            tracing::warn!(errand = %id, work, %error, "the outcome of an errand is not recorded");
        }
        recorded.is_ok()
    }

    async fn effect(&self, errand: &ErrandView) -> Result<WorkResult, Trouble> {
        match &errand.work {
            Work::Launch { agent_id } => launch::perform(self, errand.id, *agent_id).await,
            Work::Stop { agent_id: _, tmux_session } => stop::perform(self, tmux_session).await,
            Work::OpenPullRequest { task_id, title, description } => {
                open_pull_request::perform(self, *task_id, title, description).await
            }
            Work::Merge { task_id } => merge::perform(self, errand.id, *task_id).await,
            Work::Rebase { task_id } => rebase::perform(self, *task_id).await,
            Work::OpenEpicPullRequest { epic_id, title, description } => {
                open_epic_pull_request::perform(self, *epic_id, title, description).await
            }
            Work::MergeEpic { epic_id, .. } => merge_epic::perform(self, *epic_id).await,
        }
    }

    async fn finish(&self, errand: &ErrandView, result: WorkResult) -> Result<(), CommandError> {
        let finish = FinishErrand { errand_id: errand.id, result: result.clone() };
        match self.run_patiently(errand.id, "finish", &finish).await {
            Err(CommandError::Refused(refusal)) => {
                tracing::info!(errand = %errand.id, %refusal, "what was done is no longer wanted");
                if let (Work::Merge { task_id }, WorkResult::Merged { merge_commit }) = (&errand.work, &result) {
                    merge::undo(self, *task_id, merge_commit).await;
                }
                self.cancel(errand.id, refusal.to_string()).await
            }
            ended => ended.map(drop),
        }
    }

    async fn record(&self, errand: &ErrandView, trouble: Trouble) -> Result<(), CommandError> {
        let errand_id = errand.id;
        let (error, details) = match trouble {
            Trouble::Ours(error) => return Err(error),
            Trouble::Unwanted(reason) => return self.cancel(errand_id, reason).await,
            Trouble::Lasting { error, details } => (error, details),
            Trouble::Passing { error, after } => match pause(errand.attempts, after) {
                Some(pause) => {
                    let pause = TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX);
                    let retry_at =
                        self.log().clock().now().checked_add_signed(pause).unwrap_or(DateTime::<Utc>::MAX_UTC);
                    let again = TryErrandAgain { errand_id, error, retry_at };
                    let step = format!("try {}", errand.attempts + 1);
                    return self.settled(self.run_patiently(errand_id, &step, &again).await);
                }
                None => (error, Some(format!("tried {} times", errand.attempts + 1))),
            },
        };
        let fail = FailErrand { errand_id, error, details };
        self.settled(self.run_patiently(errand_id, "fail", &fail).await)
    }

    async fn cancel(&self, errand_id: ErrandId, reason: String) -> Result<(), CommandError> {
        let cancel = CancelErrand { errand_id, reason };
        self.settled(self.run_patiently(errand_id, "cancel", &cancel).await)
    }

    /// An errand that is over already needs nothing more.
    fn settled<T>(&self, ended: Result<Done<T>, CommandError>) -> Result<(), CommandError> {
        match ended {
            Ok(_) => Ok(()),
            Err(CommandError::Refused(refusal)) => {
                tracing::info!(%refusal, "an errand was over already");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a command whose id follows from the errand and the step, also while the store is briefly away.
    async fn run_patiently<D: Decision>(
        &self,
        errand: ErrandId,
        step: &str,
        decision: &D,
    ) -> Result<Done<D::Outcome>, CommandError> {
        let command_id = Uuid::new_v5(&errand.0, format!("{NAME}/{step}").as_bytes());
        let mut tries = 0;
        loop {
            tries += 1;
            let mut context = self.context();
            context.command_id = command_id;
            context.idempotency =
                Some(Idempotency { key: reactor_key(NAME, command_id), fingerprint: Vec::new(), lifetime: None });
            match self.shop.executor.run(&context, decision).await {
                Err(CommandError::Unavailable(_) | CommandError::Conflict | CommandError::InFlight)
                    if tries < MOST_RECORDS =>
                {
                    tokio::time::sleep(BETWEEN_RECORDS).await;
                }
                ended => return ended,
            }
        }
    }

    /// A command of the bench's own.
    pub(super) fn context(&self) -> Context {
        Context::new(Actor::System(NAME), self.log().clock().now())
    }
}
