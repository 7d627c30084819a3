//! Records what a tool answered.

use domain::ToolCallId;
use domain::tool_call::{self, ToolCall, ToolCallCommand};
use serde_json::Value;

use crate::{Decision, Desk, Stop};

/// The good end of a call. It is recorded also for an agent that was relieved meanwhile: it has happened.
#[derive(Debug, Clone)]
pub struct SucceedTool {
    /// Which call.
    pub call_id: ToolCallId,
    /// What the tool answered; secrets are taken out of it.
    pub output: Value,
}

impl Decision for SucceedTool {
    type Outcome = ToolCallId;

    fn name(&self) -> &'static str {
        "tool.succeed"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ToolCallId, Stop> {
        let succeed = tool_call::SucceedTool { output: self.output.clone(), now: desk.now() };
        desk.run::<ToolCall>(self.call_id.0, ToolCallCommand::Succeed(succeed)).await?;
        Ok(self.call_id)
    }
}
