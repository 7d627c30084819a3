//! Records that an agent calls a tool.

use domain::tool_call::{self, ToolCall, ToolCallCommand};
use domain::{AgentId, ToolCallId};
use serde_json::Value;

use crate::seat;
use crate::{Decision, Desk, Stop};

/// A call of a tool, before anything comes of it.
#[derive(Debug, Clone)]
pub struct CallTool {
    /// The id it gets.
    pub call_id: ToolCallId,
    /// Who calls.
    pub by: AgentId,
    /// What is called.
    pub tool: String,
    /// With what; secrets are taken out of it.
    pub input: Value,
}

impl Decision for CallTool {
    type Outcome = ToolCallId;
    /// What the tool does is caused by this event.
    const TELLS_EVENTS: bool = true;

    fn name(&self) -> &'static str {
        "tool.call"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ToolCallId, Stop> {
        let call = tool_call::CallTool {
            call_id: self.call_id,
            workspace_id: seat::acting(desk, self.by).await?.workspace_id,
            agent_id: self.by,
            tool: self.tool.clone(),
            input: self.input.clone(),
            now: desk.now(),
        };
        desk.begin::<ToolCall>(self.call_id.0, ToolCallCommand::Call(call)).await?;
        Ok(self.call_id)
    }
}
