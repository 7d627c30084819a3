//! A tool call to test with: call 85 of agent 30.

use serde_json::json;

use super::{CallTool, Escalation, FailTool, SucceedTool, ToolCallEvent};
use crate::examples::{at, id};

const TOOL: &str = "mcp__git__rebase";

pub(super) fn call() -> CallTool {
    CallTool {
        call_id: id(85),
        workspace_id: id(10),
        agent_id: id(30),
        tool: TOOL.to_owned(),
        input: json!({}),
        now: at(0),
    }
}

pub(super) fn called() -> ToolCallEvent {
    let CallTool { call_id, workspace_id, agent_id, tool, input, now: called_at } = call();
    ToolCallEvent::ToolCalled { call_id, workspace_id, agent_id, tool, input, key: None, called_at }
}

pub(super) fn succeed() -> SucceedTool {
    SucceedTool { output: json!({ "success": true, "conflicts": 0 }), now: at(1) }
}

pub(super) fn succeeded() -> ToolCallEvent {
    let SucceedTool { output, now: ended_at } = succeed();
    ToolCallEvent::ToolSucceeded { agent_id: id(30), tool: TOOL.to_owned(), output, ended_at }
}

pub(super) fn fail() -> FailTool {
    FailTool {
        error: "Rebase conflict".to_owned(),
        details: Some(json!({ "conflictFiles": ["auth.ts"] })),
        critical: false,
        escalated_to: Some(Escalation::Supervisor),
        now: at(1),
    }
}

pub(super) fn failed() -> ToolCallEvent {
    let FailTool { error, details, critical, escalated_to, now: ended_at } = fail();
    let (agent_id, tool) = (id(30), TOOL.to_owned());
    ToolCallEvent::ToolFailed { agent_id, tool, error, details, critical, escalated_to, ended_at }
}
