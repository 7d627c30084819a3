//! What an open call of a tool that makes something is known by: whoever repeats it means that call, not another.

use serde_json::Value;
use uuid::Uuid;

use crate::claim::{Claim, Scope};
use crate::{AgentId, redact, tools};

/// What a call holds until it has ended, if its tool makes something: no other call of the same agent with the same tool
/// and the same input begins meanwhile.
pub fn claim_of(agent_id: AgentId, tool: &str, input: Value) -> Option<Claim> {
    // Only what is recorded of an input can be compared.
    key_of(agent_id, tool, &redact::record(input)).map(|key| claim(agent_id, key))
}

pub(super) fn claim(agent_id: AgentId, key: Uuid) -> Claim {
    Scope::open_calls(agent_id).claim(key)
}

/// The key of a call, from its input as it is recorded.
pub(super) fn key_of(agent_id: AgentId, tool: &str, recorded: &Value) -> Option<Uuid> {
    let key = || Uuid::new_v5(&agent_id.0, format!("{tool} {recorded}").as_bytes());
    tools::makes_something(tool).then(key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{call, succeed};
    use super::super::{CallTool, ToolCall, ToolCallCommand, ToolCallError, ToolCallEvent};
    use super::*;
    use crate::examples::{after, id};
    use crate::{Demand, Entity};

    const SEND: &str = "mcp__mail__send";

    fn demands(tool: &str, input: Value) -> (Vec<Demand<ToolCallError>>, Vec<Demand<ToolCallError>>) {
        let command = ToolCallCommand::Call(CallTool { tool: tool.to_owned(), input, ..call() });
        let called = ToolCall::Absent.decide(command).expect("a call");
        let running: ToolCall = after(called.clone());
        let ended: Vec<ToolCallEvent> = running.decide(ToolCallCommand::Succeed(succeed())).expect("an end");
        (ToolCall::Absent.demands(&called[0]), running.demands(&ended[0]))
    }

    #[test]
    fn a_call_that_makes_something_holds_its_claim_from_its_beginning_to_its_end() {
        let input = json!({ "body": "token=abc" });
        let claim = claim_of(id(30), SEND, input.clone()).expect("a claim");
        let take = Demand::Take { claim: claim.clone(), or: ToolCallError::AlreadyCalled };
        assert_eq!(demands(SEND, input), (vec![take], vec![Demand::Release(claim)]));
        assert_eq!(demands("mcp__git__rebase", json!({})), (vec![], vec![]));
    }

    #[test]
    fn only_the_same_agent_tool_and_input_are_the_same_call() {
        let claim = |agent: u128, tool: &str, body: &str| claim_of(id(agent), tool, json!({ "body": body }));
        let first = claim(30, SEND, "a");
        assert_eq!(first, claim(30, SEND, "a"));
        for other in [claim(31, SEND, "a"), claim(30, "mcp__mail__reply", "a"), claim(30, SEND, "b")] {
            assert_ne!(first, other);
        }
        assert_eq!(claim(30, "mcp__mail__list_inbox", "a"), None);
    }
}
