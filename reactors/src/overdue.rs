//! Looks for what nobody else will end or take up: tool calls whose server died before they did, and launches that wait for
//! a bench that is not there.
//!
//! What is due follows from read models alone, so that no restart forgets it. Any node may do it, and all of them look:
//! each command has one id, whoever issues it.

use std::sync::Arc;
use std::time::Duration;

use commands::factory::ReportWaitingLaunch;
use commands::tool_call::FailTool;
use commands::{Actor, CommandError, Context, Decision, Executor, Idempotency};
use domain::ToolCallId;
use projections::errands::{self, WaitingLaunches};
use projections::{Engine, open_calls};
use store::reactor_key;
use store::sql::Database;
use uuid::Uuid;

const NAME: &str = "overdue";
/// The time between two looks.
const EVERY: Duration = Duration::from_secs(30);
/// Rows looked at a time; what is left is due at the next look too.
const PAGE: i64 = 500;
const CATCH_UP: Duration = Duration::from_secs(5);

/// Why a call failed whose server is gone.
const INTERRUPTED: &str = "interrupted: the server ended before the call did; what it had begun may have been done";

/// Looks for what is overdue.
#[derive(Clone)]
pub struct Overdue {
    /// Runs commands.
    pub executor: Arc<Executor>,
    /// The read models.
    pub views: Database,
    /// Keeps them current.
    pub engine: Arc<Engine>,
    /// The longest that a tool call can take, on any node.
    pub longest_call: Duration,
    /// How long a launch may wait for its bench before people are told.
    pub longest_launch: Duration,
}

impl Overdue {
    /// Looks once; says which calls were ended.
    pub async fn look(&self) -> Result<Vec<ToolCallId>, CommandError> {
        let position = self.executor.log().head().await?.position;
        if !self.engine.wait_for(&[open_calls::NAME, errands::NAME], position, CATCH_UP).await {
            return Err(CommandError::Unavailable(format!("read models have not reached {position}")));
        }
        self.report_launches().await?;
        self.end_calls().await
    }

    /// Looks now and from time to time, for ever.
    pub async fn keep_looking(self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "what is overdue could not be looked after");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Ends every call that is older than any call can be. Nobody else is told: whoever waited for it has lost the
    /// connection, and what it ordered of a bench goes on.
    async fn end_calls(&self) -> Result<Vec<ToolCallId>, CommandError> {
        let before = self.executor.log().clock().now() - self.longest_call;
        let mut ended = Vec::new();
        for call in open_calls::made_before(&self.views, before, PAGE).await? {
            let (call_id, error) = (call.id, INTERRUPTED.to_owned());
            let fail = FailTool { call_id, error, details: None, critical: false, escalates: false };
            if self.run(call_id.0, &fail).await? {
                tracing::warn!(%call_id, agent = %call.agent_id, tool = call.tool, "a tool call was interrupted");
                ended.push(call_id);
            }
        }
        Ok(ended)
    }

    /// Tells people of the oldest launch that waits, per workspace and bench, and only once.
    async fn report_launches(&self) -> Result<(), CommandError> {
        let before = self.executor.log().clock().now() - self.longest_launch;
        let mut after = 0;
        loop {
            let waiting = errands::waiting_launches(&self.views, before, after, PAGE).await?;
            // Those that people know of wait on: whoever comes after them is looked at too.
            let Some(last) = waiting.last() else { return Ok(()) };
            after = last.oldest.position;
            for WaitingLaunches { oldest, count } in &waiting {
                let waiting = usize::try_from(*count).unwrap_or(usize::MAX);
                let report = ReportWaitingLaunch { errand_id: oldest.id, since: oldest.ordered_at, waiting };
                self.run(oldest.id.0, &report).await?;
            }
        }
    }

    /// Issues a command about `subject`, at most once on all nodes; says whether a rule let it.
    async fn run<D: Decision>(&self, subject: Uuid, decision: &D) -> Result<bool, CommandError> {
        let mut context = Context::new(Actor::System(NAME), self.executor.log().clock().now());
        context.command_id = Uuid::new_v5(&subject, format!("{NAME}/{}", decision.name()).as_bytes());
        context.correlation_id = subject;
        let key = reactor_key(NAME, context.command_id);
        context.idempotency = Some(Idempotency { key, fingerprint: Vec::new(), lifetime: None });
        match self.executor.run(&context, decision).await {
            Ok(_) => Ok(true),
            // It ended meanwhile after all.
            Err(CommandError::Refused(refusal)) => {
                tracing::info!(%subject, %refusal, "what was overdue is no more");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
