//! Records that a tool failed, and tells by mail who must hear of it, in one commit.

use domain::ToolCallId;
use domain::mail::Sender;
use domain::post::AgentKind;
use domain::tool_call::{self, Call, Escalation, ToolCall, ToolCallCommand};
use domain::tools::is_critical;
use serde_json::Value;

use crate::mail::{Letter, To, post};
use crate::seat;
use crate::{Decision, Desk, Stop};

/// The bad end of a call. It is recorded also for an agent that was relieved meanwhile: it has happened.
///
/// A failure that nobody expected is told to the people of the workspace. The expected failure of a tool without which
/// an agent cannot go on is told to its supervisor, or to people if it has none above it. Any other is the agent's own.
#[derive(Debug, Clone)]
pub struct FailTool {
    /// Which call.
    pub call_id: ToolCallId,
    /// What went wrong, in words that the agent may see; secrets are taken out of it.
    pub error: String,
    /// What more there is to say about it.
    pub details: Option<Value>,
    /// Whether nobody expected it.
    pub critical: bool,
    /// Whether anybody else is to hear of it. Of a call that was not tried, that still goes on, or whose work was called
    /// off on purpose, nobody is.
    pub escalates: bool,
}

impl Decision for FailTool {
    type Outcome = ToolCallId;

    fn name(&self) -> &'static str {
        "tool.fail"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ToolCallId, Stop> {
        let loaded = desk.load::<ToolCall>(self.call_id.0).await?;
        let call = loaded.state.running()?.clone();
        let above = seat::above(desk, call.agent_id).await?;
        let to = match (self.critical, is_critical(&call.tool)) {
            (true, _) => Some(To::Human),
            (false, true) if self.escalates => Some(above.supervisor.map_or(To::Human, To::Agent)),
            (false, true | false) => None,
        };
        let fail = tool_call::FailTool {
            error: self.error.clone(),
            details: self.details.clone(),
            critical: self.critical,
            escalated_to: to.map(|it| match it {
                To::Agent(_) => Escalation::Supervisor,
                To::Human => Escalation::Human,
            }),
            now: desk.now(),
        };
        desk.run::<ToolCall>(self.call_id.0, ToolCallCommand::Fail(fail)).await?;
        if let Some(to) = to {
            post(desk, self.letter(&call, above.kind, to)).await?;
        }
        Ok(self.call_id)
    }
}

impl FailTool {
    fn letter(&self, call: &Call, kind: Option<AgentKind>, to: To) -> Letter {
        let Call { workspace_id, agent_id, tool, .. } = call;
        let error = domain::redact::text(&self.error);
        let kind = kind.map_or_else(String::new, |it| format!(" {it}"));
        let (subject, body) = if self.critical {
            (
                format!("CRITICAL: Unexpected Error in {tool}"),
                format!(
                    "Agent{kind} ({agent_id}) encountered an unexpected exception.\n\nTool: {tool}\nError: {error}\n\n\
                     This indicates a bug in the tool implementation. Immediate attention required."
                ),
            )
        } else {
            (
                format!("Critical Tool Failure: {tool}"),
                format!(
                    "Agent{kind} encountered a critical failure while executing {tool}.\n\nError: {error}\n\n\
                     This may require manual intervention. Check the agent's decision logs for details."
                ),
            )
        };
        Letter { workspace_id: *workspace_id, from: Sender::Agent(*agent_id), to, subject, body }
    }
}
