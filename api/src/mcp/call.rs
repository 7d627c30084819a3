//! One call of a tool, from the permission to the record of what came of it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use commands::tool_call::{CallTool, FailTool, GOES_ON_FOR, SucceedTool};
use commands::{Actor, Context, Decision, Done, Idempotency};
use domain::tool_call::ToolCallEvent;
use domain::{ToolCallId, tools};
use futures_util::FutureExt;
use serde_json::Value;
use store::{CommandKey, StreamId};
use tokio::time::Instant;
use uuid::Uuid;

use super::catalogue::{Outcome, Tool};
use super::failure::{Failure, Told};
use super::posting::Posting;
use super::settings::LONGEST_CALL;
use crate::App;
use crate::auth::{AgentCaller, Principal};
use crate::code::Code;

/// How long the commands of a call are remembered: no call takes as long, also if it is cut short and gone on with.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
const _: () = assert!(GOES_ON_FOR.as_secs() + LONGEST_CALL.as_secs() < REMEMBERED.as_secs());

/// A call that is allowed and on record, as its tool sees it.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) app: Arc<App>,
    /// Who calls.
    pub(super) agent: AgentCaller,
    /// Its place on the floor.
    pub(super) post: Arc<Posting>,
    /// When whatever the tool waits for has taken too long.
    pub(super) deadline: Instant,
    record: Record,
}

/// What everything that follows from a call is known by.
#[derive(Clone, Copy)]
struct Record {
    id: ToolCallId,
    /// The event that the call is recorded with.
    event_id: Option<Uuid>,
}

/// What a client gets.
pub(super) enum Answered {
    /// The tool's output.
    Done(Value),
    /// The tool's output, which says that it did not succeed.
    Unsuccessful(Value),
    /// Why there is no output.
    Failed(Value),
}

/// Calls a tool for an agent. Whatever happens is an answer.
pub(super) async fn answer(app: &Arc<App>, agent: AgentCaller, tool: &'static Tool, input: Value) -> Answered {
    match recorded(app, agent, tool, input).await {
        Ok(output) => Answered::Done(output),
        Err(Failure::Unsuccessful { output, .. }) => Answered::Unsuccessful(output),
        Err(failure) => Answered::Failed(failure.told().into()),
    }
}

/// On record before anything comes of it, and again when something has.
async fn recorded(app: &Arc<App>, agent: AgentCaller, tool: &'static Tool, input: Value) -> Outcome {
    let deadline = Instant::now() + app.settings.mcp.patience;
    let call_id = ToolCallId(Uuid::now_v7());
    let call = CallTool { call_id, by: agent.agent_id, tool: tool.name.to_owned(), input: input.clone() };
    let record = patiently(app, deadline, || begun(app, &agent, &call)).await?;
    let outcome = tried(app, &agent, tool, input, deadline, record).await;
    note_end(app, &agent, record, &outcome).await;
    outcome
}

/// Puts a call on record, or finds the one that it repeats: what that one has done is not done again.
async fn begun(app: &Arc<App>, agent: &AgentCaller, call: &CallTool) -> Result<Record, Failure> {
    let new = Record { id: call.call_id, event_id: None };
    let called = match run(app, agent, new, call).await {
        // The same call may have begun at this very moment: it is found now, before it has ended.
        Err(Failure::Passing(_)) => run(app, agent, new, call).await?,
        called => called?,
    };
    let id = called.outcome;
    if let Some(event) = called.recorded.first() {
        return Ok(Record { id, event_id: Some(event.event_id) });
    }
    let stream = StreamId::new(ToolCallEvent::KINDS[0].aggregate, id.0);
    let first = app.log.read_stream(&stream, 1, Some(1)).await?.pop();
    Ok(Record { id, event_id: first.map(|event| event.event_id) })
}

async fn tried(
    app: &Arc<App>,
    agent: &AgentCaller,
    tool: &'static Tool,
    input: Value,
    deadline: Instant,
    record: Record,
) -> Outcome {
    let not_allowed = |why: String| Failure::NotCalled(Told::new(Code::ToolNotAllowed.text(), why));
    let post = app.posting_of(agent.agent_id).await?;
    let post = post.ok_or_else(|| not_allowed("the agent has no post on the factory floor".to_owned()))?;
    tools::permit(post.kind, tool.name).map_err(|why| not_allowed(why.to_string()))?;
    (tool.check)(&input).map_err(|bad| Failure::NotCalled(Failure::from(bad).told().clone()))?;
    let call = Call { app: app.clone(), agent: agent.clone(), post, deadline, record };
    patiently(app, deadline, || async {
        let running = AssertUnwindSafe((tool.run)(call.clone(), input.clone())).catch_unwind();
        running.await.unwrap_or_else(|_| Err(Failure::unexpected(&"a tool panicked")))
    })
    .await
}

/// Tries again what fails for a passing reason, after a wait that grows, as long as there is time.
async fn patiently<T, F>(app: &App, deadline: Instant, again: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut waits = app.settings.mcp.backoff.iter();
    loop {
        match again().await {
            Err(Failure::Passing(told)) => match waits.next() {
                Some(wait) if Instant::now() + *wait < deadline => tokio::time::sleep(*wait).await,
                Some(_) | None => return Err(Failure::Passing(told)),
            },
            ended => return ended,
        }
    }
}

/// Puts the end of a call on record. If that cannot be done the answer stands all the same: what was done is done.
async fn note_end(app: &Arc<App>, agent: &AgentCaller, record: Record, outcome: &Outcome) {
    let deadline = Instant::now() + app.settings.mcp.patience;
    let noted = match outcome {
        Ok(output) => {
            let succeed = SucceedTool { call_id: record.id, output: output.clone() };
            patiently(app, deadline, || run(app, agent, record, &succeed)).await.map(|_| ())
        }
        Err(failure) => {
            let told = failure.told();
            let fail = FailTool {
                call_id: record.id,
                error: told.error.clone(),
                details: told.details.clone().map(Value::String),
                critical: matches!(failure, Failure::Unexpected(_)),
                escalates: failure.escalates(),
            };
            patiently(app, deadline, || run(app, agent, record, &fail)).await.map(|_| ())
        }
    };
    if let Err(failure) = noted {
        tracing::error!(call_id = %record.id, error = failure.told().error, "the end of a tool call is not on record");
    }
}

impl Call {
    /// Runs a command of the agent. A call that is tried again does it once.
    pub(super) async fn run<D: Decision>(&self, decision: &D) -> Result<Done<D::Outcome>, Failure> {
        run(&self.app, &self.agent, self.record, decision).await
    }

    /// Waits until the read models show what the agent wrote.
    pub(super) async fn caught_up(&self, read_models: &[&str]) -> Result<(), Failure> {
        Ok(self.app.wait_for_reader(self.agent.actor(), None, read_models).await?)
    }
}

async fn run<D: Decision>(
    app: &App,
    agent: &AgentCaller,
    record: Record,
    decision: &D,
) -> Result<Done<D::Outcome>, Failure> {
    let Record { id, event_id } = record;
    let mut context = Context::new(Actor::Agent(agent.agent_id), app.clock.now());
    // Ids that a decision makes follow from this, so that one that is made again makes the same.
    context.command_id = Uuid::new_v5(&id.0, decision.name().as_bytes());
    context.correlation_id = id.0;
    context.causation_id = event_id;
    let route = format!("mcp {}", decision.name());
    context.idempotency = Some(Idempotency {
        key: CommandKey { principal: agent.name(), route, key: id.0.to_string() },
        fingerprint: id.0.as_bytes().to_vec(),
        lifetime: Some(REMEMBERED),
    });
    Ok(app.run(&context, decision).await?)
}
