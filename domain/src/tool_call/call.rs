//! Call a tool.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{ToolCall, ToolCallError, ToolCallEvent, repeat};
use crate::{AgentId, ToolCallId, WorkspaceId, redact};

/// Records that an agent calls a tool, before anything comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTool {
    /// The id it gets.
    pub call_id: ToolCallId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Who calls.
    pub agent_id: AgentId,
    /// What is called.
    pub tool: String,
    /// With what. Secrets are taken out of it before it is recorded.
    pub input: Value,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(call: &ToolCall, command: CallTool) -> Result<Vec<ToolCallEvent>, ToolCallError> {
    match call {
        ToolCall::Absent => {}
        ToolCall::Running(_) | ToolCall::Ended(_) => return Err(ToolCallError::AlreadyCalled),
    }
    let key = repeat::key_of(command.agent_id, &command.tool, &command.input);
    Ok(vec![ToolCallEvent::ToolCalled {
        call_id: command.call_id,
        workspace_id: command.workspace_id,
        agent_id: command.agent_id,
        tool: command.tool,
        input: redact::record(command.input),
        key,
        called_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{call, called, failed};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, given, id};
    use crate::tool_call::ToolCallCommand;

    #[test]
    fn a_call_is_recorded_once() {
        given::<ToolCall>([]).when(ToolCallCommand::Call(call())).then_expect_events(vec![called()]);
        for history in [vec![called()], vec![called(), failed()]] {
            given::<ToolCall>(history)
                .when(ToolCallCommand::Call(call()))
                .then_expect_error(ToolCallError::AlreadyCalled);
        }
        assert_eq!(after::<ToolCall>([called()]).workspace(), Some(id(10)));
    }

    #[test]
    fn no_secret_of_the_input_is_recorded() {
        let telling = CallTool { input: json!({ "body": "token=abc", "apiKey": "def" }), ..call() };
        let events = decide(&ToolCall::Absent, telling).expect("a call");
        let [ToolCallEvent::ToolCalled { input, .. }] = &events[..] else { panic!("one event") };
        assert_eq!(*input, json!({ "body": "token=[redacted]", "apiKey": "[redacted]" }));
    }
}
