//! What a call of a tool that makes something is known by: whoever repeats it, because its answer was lost, means that call
//! and not another.
//!
//! Such a call holds a claim while it is open. When it has made something it is the agent's last, and remains so until the
//! agent calls anything else: who does has got the answer. Inputs are compared by what the log keeps of them, so a call with
//! a secret in its input is like no other: two that differ in the secret alone could not be told apart.

use serde_json::Value;
use uuid::Uuid;

use super::{Call, ToolCallError};
use crate::claim::{Claim, Scope};
use crate::{AgentId, Demand, redact, tools};

/// How the call is found that another one repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBy {
    /// The same for calls of the same agent with the same tool and the same input.
    pub key: Uuid,
    /// Held by the call with this key that is open.
    pub open: Claim,
    /// Held by the agent's last call, whatever its key, if that made something.
    pub last: Claim,
}

/// How a call that this one repeats is found, if its tool makes something and its input can be compared.
pub fn known_by(agent_id: AgentId, tool: &str, input: Value) -> Option<KnownBy> {
    let key = key_of(agent_id, tool, &redact::record(input))?;
    Some(KnownBy { key, open: open(agent_id, key), last: last(agent_id) })
}

/// The key of a call, from its input as it is recorded.
pub(super) fn key_of(agent_id: AgentId, tool: &str, recorded: &Value) -> Option<Uuid> {
    let key = || Uuid::new_v5(&agent_id.0, format!("{tool} {recorded}").as_bytes());
    (tools::makes_something(tool) && redact::is_telling(recorded)).then(key)
}

/// What a call demands that begins.
pub(super) fn begin(agent_id: AgentId, tool: &str, recorded: &Value) -> Vec<Demand<ToolCallError>> {
    let key = key_of(agent_id, tool, recorded);
    let take = key.map(|key| Demand::Take { claim: open(agent_id, key), or: ToolCallError::AlreadyCalled });
    [Demand::Release(last(agent_id))].into_iter().chain(take).collect()
}

/// What a call demands that ends.
pub(super) fn end(call: &Call, has_made: bool) -> Vec<Demand<ToolCallError>> {
    let Some(key) = call.key else { return vec![] };
    let closed = Demand::Release(open(call.agent_id, key));
    if !has_made {
        return vec![closed];
    }
    let last = last(call.agent_id);
    vec![closed, Demand::Release(last.clone()), Demand::Take { claim: last, or: ToolCallError::AlreadyCalled }]
}

fn open(agent_id: AgentId, key: Uuid) -> Claim {
    Scope::open_calls(agent_id).claim(key)
}

fn last(agent_id: AgentId) -> Claim {
    Scope::last_call(agent_id).claim("made")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{call, fail, succeed};
    use super::super::{CallTool, ToolCall, ToolCallCommand};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, id};

    const SEND: &str = "mcp__mail__send";

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
        let KnownBy { open, last, .. } = known_by(id(30), SEND, input.clone()).expect("a claim");
        let take = |claim: &Claim| Demand::Take { claim: claim.clone(), or: ToolCallError::AlreadyCalled };
        let release = |claim: &Claim| Demand::Release(claim.clone());
        let begun = vec![release(&last), take(&open)];
        let succeeded = vec![release(&open), release(&last), take(&last)];
        assert_eq!(demands(SEND, input), [begun, succeeded, vec![release(&open)]]);
        for unknown in [("mcp__git__rebase", json!({})), (SEND, json!({ "body": "token=abc" }))] {
            assert_eq!(demands(unknown.0, unknown.1), [vec![release(&last)], vec![], vec![]]);
        }
    }

    #[test]
    fn only_the_same_agent_tool_and_input_are_the_same_call() {
        let key =
            |agent: u128, tool: &str, body: &str| known_by(id(agent), tool, json!({ "body": body })).map(|it| it.key);
        let first = key(30, SEND, "a");
        assert_eq!(first, key(30, SEND, "a"));
        for other in [key(31, SEND, "a"), key(30, "mcp__mail__reply", "a"), key(30, SEND, "b")] {
            assert_ne!(first, other);
        }
        let long = "a".repeat(20_000);
        assert_eq!(key(30, SEND, &long), key(30, SEND, &long));
        assert_ne!(key(30, SEND, &long), key(30, SEND, &format!("{long}b")));
        for not_known in [key(30, "mcp__mail__list_inbox", "a"), key(30, SEND, "token=abc")] {
            assert_eq!(not_known, None);
        }
    }
}
