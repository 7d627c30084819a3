//! A tool call: what an agent did, with what, and what came of it. One stream per call, kept for ever.

mod call;
mod end;
#[cfg(test)]
mod examples;
mod repeat;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use call::CallTool;
pub use end::{FailTool, SucceedTool};
pub use repeat::{KnownBy, RepeatCall, known_by};

use crate::catalogue::event_kinds;
use crate::{AgentId, Demand, Entity, ToolCallId, WorkspaceId};

/// The life of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolCall {
    /// Not called yet.
    #[default]
    Absent,
    /// Called, and nothing came of it yet.
    Running(Call),
    /// Something came of it.
    Ended(Call),
}

/// Who called what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Who called.
    pub agent_id: AgentId,
    /// What was called.
    pub tool: String,
    /// When.
    pub called_at: DateTime<Utc>,
    /// What a repeat of it is known by, if its tool makes something; see [`known_by`].
    pub key: Option<String>,
}

/// Whom the failure of a tool was told by mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// The agent's supervisor.
    Supervisor,
    /// The people of the workspace.
    Human,
}

/// What is asked of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolCallCommand {
    /// See [`CallTool`].
    Call(CallTool),
    /// See [`RepeatCall`].
    Repeat(RepeatCall),
    /// See [`SucceedTool`].
    Succeed(SucceedTool),
    /// See [`FailTool`].
    Fail(FailTool),
}

/// What happened to a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolCallEvent {
    /// An agent called a tool.
    ToolCalled {
        /// Which call it is.
        call_id: ToolCallId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// Who called.
        agent_id: AgentId,
        /// What was called.
        tool: String,
        /// With what; without secrets, and not too much of it.
        input: Value,
        /// What a repeat of it is known by, if its tool makes something; see [`known_by`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// When it happened.
        called_at: DateTime<Utc>,
    },
    /// The agent made the same call again and was answered with what came of this one, because it makes something and its
    /// answer may have been lost.
    ToolCallRepeated {
        /// Who called.
        agent_id: AgentId,
        /// What was called.
        tool: String,
        /// When it happened.
        repeated_at: DateTime<Utc>,
    },
    /// The tool did what it was asked.
    ToolSucceeded {
        /// Who called.
        agent_id: AgentId,
        /// What was called.
        tool: String,
        /// What it answered; without secrets, and not too much of it.
        output: Value,
        /// When it happened.
        ended_at: DateTime<Utc>,
    },
    /// The tool did not do what it was asked.
    ToolFailed {
        /// Who called.
        agent_id: AgentId,
        /// What was called.
        tool: String,
        /// What went wrong.
        error: String,
        /// What more there is to say about it.
        details: Option<Value>,
        /// Whether nobody expected it: then something in Muster is wrong.
        critical: bool,
        /// Whom a mail told of it.
        escalated_to: Option<Escalation>,
        /// When it happened.
        ended_at: DateTime<Utc>,
    },
}

event_kinds! { ToolCallEvent of ToolCall {
    ToolCalled "1" "An agent called a tool." {
        text["input", "key"]
        plain["tool"]
    }
    ToolCallRepeated "1" "An agent made a call once more, and was answered with what came of the first." {
        text[]
        plain["tool"]
    }
    ToolSucceeded "1" "A tool did what an agent asked of it." {
        text["output"]
        plain["tool"]
    }
    ToolFailed "1" "A tool did not do what an agent asked of it, and says why." {
        text["error", "details"]
        plain["tool", "escalated_to"]
    }
}}

/// Why a command on a tool call is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ToolCallError {
    /// It was never made.
    #[error("the tool call does not exist")]
    NotFound,
    /// A stream with this id has begun already, or the same call is open.
    #[error("the tool call exists already")]
    AlreadyCalled,
    /// Something came of it already.
    #[error("the tool call has ended")]
    AlreadyEnded,
}

impl ToolCall {
    /// Who called what, if nothing came of it yet.
    pub fn running(&self) -> Result<&Call, ToolCallError> {
        match self {
            Self::Absent => Err(ToolCallError::NotFound),
            Self::Running(call) => Ok(call),
            Self::Ended(_) => Err(ToolCallError::AlreadyEnded),
        }
    }

    fn decide(&self, command: ToolCallCommand) -> Result<Vec<ToolCallEvent>, ToolCallError> {
        match command {
            ToolCallCommand::Call(it) => call::decide(self, it),
            ToolCallCommand::Repeat(it) => repeat::decide(self, it),
            ToolCallCommand::Succeed(it) => end::succeed(self, it),
            ToolCallCommand::Fail(it) => end::fail(self, it),
        }
    }
}

impl Aggregate for ToolCall {
    const TYPE: &'static str = "tool_call";
    type Command = ToolCallCommand;
    type Event = ToolCallEvent;
    type Error = ToolCallError;
    type Services = ();

    async fn handle(&mut self, command: ToolCallCommand, (): &(), sink: &EventSink<Self>) -> Result<(), ToolCallError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: ToolCallEvent) {
        match event {
            ToolCallEvent::ToolCalled { workspace_id, agent_id, tool, key, called_at, .. } => {
                *self = Self::Running(Call { workspace_id, agent_id, tool, called_at, key });
            }
            ToolCallEvent::ToolCallRepeated { .. } => {}
            ToolCallEvent::ToolSucceeded { .. } | ToolCallEvent::ToolFailed { .. } => {
                if let Self::Running(call) = self {
                    *self = Self::Ended(call.clone());
                }
            }
        }
    }
}

impl Entity for ToolCall {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Running(call) | Self::Ended(call) => Some(call.workspace_id),
        }
    }

    fn demands(&self, event: &ToolCallEvent) -> Vec<Demand<ToolCallError>> {
        match event {
            ToolCallEvent::ToolCalled { agent_id, key, .. } => repeat::begin(*agent_id, key.as_deref()),
            ToolCallEvent::ToolCallRepeated { .. } => vec![],
            ToolCallEvent::ToolSucceeded { .. } => self.running().map_or(vec![], |it| repeat::end(it, true)),
            ToolCallEvent::ToolFailed { .. } => self.running().map_or(vec![], |it| repeat::end(it, false)),
        }
    }
}
