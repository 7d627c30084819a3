//! Records that an agent calls a tool, or finds the call that it repeats.

use std::time::Duration;

use domain::tool_call::{self, ToolCall, ToolCallCommand};
use domain::{AgentId, ToolCallId};
use serde_json::Value;

use crate::seat;
use crate::{Decision, Desk, Stop};

/// How long a call that was cut short can be gone on with; then it counts as lost.
pub const GOES_ON_FOR: Duration = Duration::from_secs(30 * 60);

/// Why a call failed that was cut short and not gone on with.
const LOST: &str = "interrupted: the call was cut short; what it had begun may have been done";

/// A call of a tool, before anything comes of it.
///
/// A tool that makes something would make it twice if it were called again because its answer was lost. So whoever repeats
/// such a call while it is open, or as the next thing after it, goes on with it: the outcome is that call, which says that
/// it was repeated.
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
        let workspace_id = seat::acting(desk, self.by).await?.workspace_id;
        if let Some(open) = self.repeated(desk).await? {
            return Ok(open);
        }
        let call = tool_call::CallTool {
            call_id: self.call_id,
            workspace_id,
            agent_id: self.by,
            tool: self.tool.clone(),
            input: self.input.clone(),
            now: desk.now(),
        };
        desk.begin::<ToolCall>(self.call_id.0, ToolCallCommand::Call(call)).await?;
        Ok(self.call_id)
    }
}

impl CallTool {
    /// The call that this one repeats, if there is one.
    async fn repeated(&self, desk: &mut Desk<'_>) -> Result<Option<ToolCallId>, Stop> {
        let Some(known) = tool_call::known_by(self.by, &self.tool, &self.input) else { return Ok(None) };
        let is_open = desk.holder::<ToolCall>(known.open).await?;
        let holder = match is_open {
            Some(open) => Some(open),
            None => desk.holder::<ToolCall>(known.last).await?,
        };
        let Some(holder) = holder else { return Ok(None) };
        let found = desk.load::<ToolCall>(holder).await?;
        let (ToolCall::Running(call) | ToolCall::Ended(call)) = &*found.state else { return Ok(None) };
        if call.key == Some(known.key) && desk.now() < call.called_at + GOES_ON_FOR {
            let again = tool_call::RepeatCall { now: desk.now() };
            desk.run::<ToolCall>(holder, ToolCallCommand::Repeat(again)).await?;
            return Ok(Some(ToolCallId(holder)));
        }
        if is_open.is_some() && found.state.running().is_ok() {
            let (error, now) = (LOST.to_owned(), desk.now());
            let lost = tool_call::FailTool { error, details: None, critical: false, escalated_to: None, now };
            desk.run::<ToolCall>(holder, ToolCallCommand::Fail(lost)).await?;
        }
        Ok(None)
    }
}
