//! A session: one stretch of an agent's work, and the lease under which it works.

mod content;
mod event;
#[cfg(test)]
mod examples;
mod lease;
mod log;
mod publish;
mod revoke;
mod start;
mod stop;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use content::{
    Advice, AgentSnapshot, Confidence, NamedAgent, ProblemCategory, ProblemContext, ProblemReport, PulledCounts,
    Question, QuestionContext, ReviewRequest, ReviewResponse, Urgency,
};
pub use event::SessionEvent;
pub use lease::{active_session, lease};
pub use log::LogProgress;
pub use publish::{Publication, Publish};
pub use revoke::RevokeSession;
pub use start::StartSession;
pub use stop::StopSession;

use crate::agent::AgentStatus;
use crate::{AgentId, Demand, Entity, ProjectId, SessionId, TaskId, WorkspaceId};

/// The life of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Session {
    /// Not started yet.
    #[default]
    Absent,
    /// The agent is at work.
    Open(OpenSession),
    /// The agent ended it, or it was taken from the agent.
    Stopped {
        /// The tenant that its events still belong to.
        workspace_id: WorkspaceId,
        /// Who worked.
        agent_id: AgentId,
    },
}

/// A session in which an agent is at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSession {
    /// Which session it is.
    pub session_id: SessionId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Where the agent works.
    pub project_id: ProjectId,
    /// Who works.
    pub agent_id: AgentId,
    /// Whether the agent works in every project of its workspace.
    pub is_organization_level: bool,
    /// How far it has come.
    pub status: SessionStatus,
    /// When it started.
    pub started_at: DateTime<Utc>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// Nothing was logged yet.
    Started,
    /// Something was logged.
    Logging,
    /// It is over.
    Stopped,
}

/// Who gives a session a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Which agent.
    pub agent_id: AgentId,
    /// Of which workspace.
    pub workspace_id: WorkspaceId,
}

/// What an agent, or Muster, asks of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionCommand {
    /// See [`StartSession`].
    Start(StartSession),
    /// See [`LogProgress`].
    Log(LogProgress),
    /// See [`Publish`].
    Publish(Publish),
    /// See [`StopSession`].
    Stop(StopSession),
    /// See [`RevokeSession`].
    Revoke(RevokeSession),
}

/// Why a command on a session is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SessionError {
    /// It was never started.
    #[error("the session does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the session exists already")]
    AlreadyExists,
    /// It is in another workspace.
    #[error("the session belongs to another workspace")]
    AccessDenied,
    /// It is another agent's.
    #[error("the session belongs to another agent")]
    Mismatch,
    /// It is over.
    #[error("the session is stopped")]
    AlreadyStopped,
    /// An agent has one session at a time.
    #[error("the agent has an active session")]
    AgentHasActiveSession,
    /// The agent may not work.
    #[error("the agent is {0}")]
    AgentInactive(AgentStatus),
    /// The agent does not work in that project.
    #[error("the agent does not work in this project")]
    ProjectAccessDenied,
    /// Only agents of the organization level do this.
    #[error("only organization agents give advice")]
    NotOrganizationLevel,
    /// An agent speaks for itself alone.
    #[error("the content names agent {0} as its author")]
    SpeaksForAnother(AgentId),
    /// A mention is not an agent of the workspace.
    #[error("{0} is no agent of this workspace")]
    UnknownMention(AgentId),
    /// A task worked on is not a task of the session's project.
    #[error("{0} is no task of this project")]
    UnknownTask(TaskId),
}

impl Session {
    /// The session, if the caller may give it commands.
    pub fn admit(&self, caller: Caller) -> Result<&OpenSession, SessionError> {
        let (workspace_id, agent_id) = match self {
            Self::Absent => return Err(SessionError::NotFound),
            Self::Open(OpenSession { workspace_id, agent_id, .. }) | Self::Stopped { workspace_id, agent_id } => {
                (*workspace_id, *agent_id)
            }
        };
        if workspace_id != caller.workspace_id {
            return Err(SessionError::AccessDenied);
        }
        if agent_id != caller.agent_id {
            return Err(SessionError::Mismatch);
        }
        match self {
            Self::Open(open) => Ok(open),
            Self::Absent | Self::Stopped { .. } => Err(SessionError::AlreadyStopped),
        }
    }

    fn decide(&self, command: SessionCommand) -> Result<Vec<SessionEvent>, SessionError> {
        match command {
            SessionCommand::Start(it) => start::decide(self, it),
            SessionCommand::Log(it) => log::decide(self, it),
            SessionCommand::Publish(it) => publish::decide(self, it),
            SessionCommand::Stop(it) => stop::decide(self, it),
            SessionCommand::Revoke(it) => revoke::decide(self, it),
        }
    }
}

impl OpenSession {
    /// How long it has lasted, in whole seconds; a clock that ran backwards counts as no time.
    pub fn seconds_until(&self, now: DateTime<Utc>) -> i64 {
        (now - self.started_at).num_seconds().max(0)
    }
}

impl Aggregate for Session {
    const TYPE: &'static str = "session";
    type Command = SessionCommand;
    type Event = SessionEvent;
    type Error = SessionError;
    type Services = ();

    async fn handle(&mut self, command: SessionCommand, (): &(), sink: &EventSink<Self>) -> Result<(), SessionError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::SessionStarted {
                session_id,
                workspace_id,
                project_id,
                agent_id,
                is_organization_level,
                pulled: _,
                delivered_up_to: _,
                agent_snapshot: _,
                started_at,
            } => {
                *self = Self::Open(OpenSession {
                    session_id,
                    workspace_id,
                    project_id,
                    agent_id,
                    is_organization_level,
                    status: SessionStatus::Started,
                    started_at,
                });
            }
            SessionEvent::SessionLogged { .. } => {
                if let Self::Open(open) = self {
                    open.status = SessionStatus::Logging;
                }
            }
            SessionEvent::ProblemReported { .. }
            | SessionEvent::AdviceGiven { .. }
            | SessionEvent::QuestionAsked { .. }
            | SessionEvent::ReviewRequested { .. }
            | SessionEvent::ReviewResponded { .. } => {}
            SessionEvent::SessionStopped { .. } | SessionEvent::SessionRevoked { .. } => {
                if let Self::Open(OpenSession { workspace_id, agent_id, .. }) = *self {
                    *self = Self::Stopped { workspace_id, agent_id };
                }
            }
        }
    }
}

impl Entity for Session {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Open(OpenSession { workspace_id, .. }) | Self::Stopped { workspace_id, .. } => Some(*workspace_id),
        }
    }

    fn demands(&self, event: &SessionEvent) -> Vec<Demand<SessionError>> {
        match event {
            SessionEvent::SessionStarted { agent_id, .. } => {
                vec![Demand::Take { claim: active_session(*agent_id), or: SessionError::AgentHasActiveSession }]
            }
            SessionEvent::SessionStopped { .. } | SessionEvent::SessionRevoked { .. } => match self {
                Self::Open(open) => vec![Demand::Release(active_session(open.agent_id))],
                Self::Absent | Self::Stopped { .. } => vec![],
            },
            // A session's own events need no lease: its stream knows whether it is over.
            SessionEvent::SessionLogged { .. }
            | SessionEvent::ProblemReported { .. }
            | SessionEvent::AdviceGiven { .. }
            | SessionEvent::QuestionAsked { .. }
            | SessionEvent::ReviewRequested { .. }
            | SessionEvent::ReviewResponded { .. } => vec![],
        }
    }
}
