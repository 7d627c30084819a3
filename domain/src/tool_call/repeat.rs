//! What a call of a tool that makes something is known by: whoever repeats it, because its answer was lost, means that call
//! and not another.
//!
//! Such a call holds a claim while it is open. When it has made something it is the agent's last, and remains so until the
//! agent calls anything else: who does has got the answer. The key is a hash of the whole input, which must say no more than
//! what the log keeps of it anyway: a call with something in its input that the log does not keep is like no other.

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use super::{Call, ToolCall, ToolCallError, ToolCallEvent};
use crate::claim::{Claim, Scope};
use crate::{AgentId, Demand, redact, tools};

/// The tool whose input is kept as records are, without what may be a secret. Of what the others make, tasks and mails,
/// only what is a secret by its own form is left out.
const WRITES_RECORDS: &str = "mcp__system__log_decision";

/// How the call is found that another one repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBy {
    /// The same for calls of the same agent with the same tool and the same input.
    pub key: String,
    /// Held by the call with this key that is open.
    pub open: Claim,
    /// Held by the agent's last call, whatever its key, if that made something.
    pub last: Claim,
}

/// Records that an agent made a call once more and is answered with what comes of the first. It is a sign of life like any
/// other call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatCall {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(call: &ToolCall, command: RepeatCall) -> Result<Vec<ToolCallEvent>, ToolCallError> {
    let (ToolCall::Running(call) | ToolCall::Ended(call)) = call else { return Err(ToolCallError::NotFound) };
    let (agent_id, tool) = (call.agent_id, call.tool.clone());
    Ok(vec![ToolCallEvent::ToolCallRepeated { agent_id, tool, repeated_at: command.now }])
}

/// How a call that this one repeats is found, if its tool makes something and the log keeps all of its input.
pub fn known_by(agent_id: AgentId, tool: &str, input: &Value) -> Option<KnownBy> {
    let key = key_of(agent_id, tool, input)?;
    Some(KnownBy { open: open(agent_id, &key), last: last(agent_id), key })
}

/// The key of a call.
pub(super) fn key_of(agent_id: AgentId, tool: &str, input: &Value) -> Option<String> {
    let without_secrets = if tool == WRITES_RECORDS { redact::text } else { redact::spoken };
    // Not with a blank in between, as the first keys were: a claim of theirs may have been left behind.
    let key = || Uuid::new_v5(&agent_id.0, format!("{tool}\n{input}").as_bytes()).to_string();
    (tools::makes_something(tool) && redact::leaves_all(input, without_secrets)).then(key)
}

/// What a call demands that begins.
pub(super) fn begin(agent_id: AgentId, key: Option<&str>) -> Vec<Demand<ToolCallError>> {
    let take = key.map(|key| Demand::Take { claim: open(agent_id, key), or: ToolCallError::AlreadyCalled });
    [Demand::Release(last(agent_id))].into_iter().chain(take).collect()
}

/// What a call demands that ends.
pub(super) fn end(call: &Call, has_made: bool) -> Vec<Demand<ToolCallError>> {
    let Some(key) = &call.key else { return vec![] };
    let closed = Demand::Release(open(call.agent_id, key));
    if !has_made {
        return vec![closed];
    }
    let last = last(call.agent_id);
    vec![closed, Demand::Release(last.clone()), Demand::Take { claim: last, or: ToolCallError::AlreadyCalled }]
}

fn open(agent_id: AgentId, key: &str) -> Claim {
    Scope::open_calls(agent_id).claim(key)
}

fn last(agent_id: AgentId) -> Claim {
    Scope::last_call(agent_id).claim("made")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{call, called, fail, failed, succeed, succeeded};
    use super::super::{CallTool, ToolCallCommand};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, at, given, id};

    const SEND: &str = "mcp__mail__send";
    const LOG: &str = "mcp__system__log_decision";
    const SECRET: &str = "postgres://ada:hunter2@db";

    /// What a call demands when it begins, when it has succeeded and when it has failed.
    fn demands(tool: &str, input: Value) -> [Vec<Demand<ToolCallError>>; 3] {
        let command = ToolCallCommand::Call(CallTool { tool: tool.to_owned(), input, ..call() });
        let called = ToolCall::Absent.decide(command).expect("a call");
        let running: ToolCall = after(called.clone());
        let end = |command| running.demands(&running.decide(command).expect("an end")[0]);
        let ends = [ToolCallCommand::Succeed(succeed()), ToolCallCommand::Fail(fail())].map(end);
        let [succeeded, failed] = ends;
        [ToolCall::Absent.demands(&called[0]), succeeded, failed]
    }

    #[test]
    fn a_call_that_makes_something_is_open_once_and_then_the_last() {
        let input = json!({ "body": "Hello" });
        let KnownBy { open, last, .. } = known_by(id(30), SEND, &input).expect("a claim");
        let take = |claim: &Claim| Demand::Take { claim: claim.clone(), or: ToolCallError::AlreadyCalled };
        let release = |claim: &Claim| Demand::Release(claim.clone());
        let begun = vec![release(&last), take(&open)];
        let succeeded = vec![release(&open), release(&last), take(&last)];
        assert_eq!(demands(SEND, input), [begun, succeeded, vec![release(&open)]]);
        for unknown in [("mcp__git__rebase", json!({})), (SEND, json!({ "body": SECRET }))] {
            assert_eq!(demands(unknown.0, unknown.1), [vec![release(&last)], vec![], vec![]]);
        }
    }

    #[test]
    fn only_the_same_agent_tool_and_input_are_the_same_call() {
        let key =
            |agent: u128, tool: &str, body: &str| known_by(id(agent), tool, &json!({ "body": body })).map(|it| it.key);
        let first = key(30, SEND, "a");
        assert_eq!(first, key(30, SEND, "a"));
        for other in [key(31, SEND, "a"), key(30, "mcp__mail__reply", "a"), key(30, SEND, "b")] {
            assert_ne!(first, other);
        }
        let long = "a".repeat(20_000);
        assert_eq!(key(30, SEND, &long), key(30, SEND, &long));
        assert_ne!(key(30, SEND, &long), key(30, SEND, &format!("{long}b")));
        assert_eq!(key(30, "mcp__mail__list_inbox", "a"), None);
    }

    #[test]
    fn a_call_whose_input_is_not_all_kept_is_like_no_other() {
        let is_known =
            |tool: &str, body: &str| known_by(id(30), tool, &json!({ "lines": [{ "body": body }] })).is_some();
        // Talk about code is kept in mails and tasks, and may hide a secret in the decision log.
        let code = "add the field `password: String`";
        let known = [SEND, "mcp__epic__create_task", LOG].map(|tool| [is_known(tool, code), is_known(tool, SECRET)]);
        assert_eq!(known, [[true, false], [true, false], [false, false]]);
        assert!(is_known(LOG, "Split the epic") && is_known(SEND, redact::REDACTED));
        assert_eq!(known_by(id(30), SEND, &json!({ "body": "Hello", "password": "x" })), None);
    }

    #[test]
    fn a_call_is_repeated_once_it_is_made_and_stays_as_it_was() {
        let again = || ToolCallCommand::Repeat(RepeatCall { now: at(3) });
        let tool = call().tool;
        let repeated = ToolCallEvent::ToolCallRepeated { agent_id: id(30), tool, repeated_at: at(3) };
        for history in [vec![called()], vec![called(), succeeded()], vec![called(), failed()]] {
            given::<ToolCall>(history.clone()).when(again()).then_expect_events(vec![repeated.clone()]);
            let before: ToolCall = after(history.clone());
            assert_eq!(after::<ToolCall>([history, vec![repeated.clone()]].concat()), before);
        }
        given::<ToolCall>([]).when(again()).then_expect_error(ToolCallError::NotFound);
    }
}
