//! End a tool call: it did what it was asked, or it did not.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Escalation, ToolCall, ToolCallError, ToolCallEvent};
use crate::redact;

/// The longest error, in characters.
const LONGEST_ERROR: usize = 2_000;

/// Records what a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct SucceedTool {
    /// What it answered. Secrets are taken out of it before it is recorded.
    pub output: Value,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// Records that a tool failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailTool {
    /// What went wrong. Secrets are taken out of it before it is recorded.
    pub error: String,
    /// What more there is to say about it.
    pub details: Option<Value>,
    /// Whether nobody expected it.
    pub critical: bool,
    /// Whom a mail tells of it, in the same commit.
    pub escalated_to: Option<Escalation>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn succeed(call: &ToolCall, command: SucceedTool) -> Result<Vec<ToolCallEvent>, ToolCallError> {
    let running = call.running()?;
    Ok(vec![ToolCallEvent::ToolSucceeded {
        agent_id: running.agent_id,
        tool: running.tool.clone(),
        output: redact::record(command.output),
        ended_at: command.now,
    }])
}

pub(crate) fn fail(call: &ToolCall, command: FailTool) -> Result<Vec<ToolCallEvent>, ToolCallError> {
    let running = call.running()?;
    Ok(vec![ToolCallEvent::ToolFailed {
        agent_id: running.agent_id,
        tool: running.tool.clone(),
        error: redact::lines(&command.error, LONGEST_ERROR),
        details: command.details.map(redact::record),
        critical: command.critical,
        escalated_to: command.escalated_to,
        ended_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{called, fail, failed, succeed, succeeded};
    use super::*;
    use crate::examples::given;
    use crate::tool_call::ToolCallCommand;

    #[test]
    fn a_call_succeeds_or_fails() {
        given::<ToolCall>([called()]).when(ToolCallCommand::Succeed(succeed())).then_expect_events(vec![succeeded()]);
        given::<ToolCall>([called()]).when(ToolCallCommand::Fail(fail())).then_expect_events(vec![failed()]);
    }

    #[test]
    fn a_call_ends_once_and_only_if_it_began() {
        for (history, refusal) in [
            (vec![], ToolCallError::NotFound),
            (vec![called(), succeeded()], ToolCallError::AlreadyEnded),
            (vec![called(), failed()], ToolCallError::AlreadyEnded),
        ] {
            given::<ToolCall>(history.clone())
                .when(ToolCallCommand::Succeed(succeed()))
                .then_expect_error(refusal.clone());
            given::<ToolCall>(history).when(ToolCallCommand::Fail(fail())).then_expect_error(refusal);
        }
    }

    #[test]
    fn no_secret_of_the_outcome_is_recorded() {
        let running = crate::examples::after::<ToolCall>([called()]);
        let output = json!({ "url": "https://a:b@c/d" });
        let events = super::succeed(&running, SucceedTool { output, ..succeed() }).expect("an end");
        assert!(json!(events).to_string().contains("https://a:[redacted]@c/d"));
        let error = "push failed: https://a:b@c/d".to_owned();
        let details = Some(json!({ "token": "x" }));
        let events = super::fail(&running, FailTool { error, details, ..fail() }).expect("an end");
        assert!(!json!(events).to_string().contains(":b@") && !json!(events).to_string().contains("\"x\""));
    }
}
