//! What happens in a session.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Advice, AgentSnapshot, ProblemReport, PulledCounts, Question, ReviewRequest, ReviewResponse, Session};
use crate::catalogue::event_kinds;
use crate::{AgentId, ProjectId, SessionId, Settings, TaskId, WorkspaceId};

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SessionEvent {
    /// The agent is at work.
    SessionStarted {
        /// Which session it is.
        session_id: SessionId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// Where the agent works.
        project_id: ProjectId,
        /// Who works.
        agent_id: AgentId,
        /// Whether the agent works in every project of its workspace.
        is_organization_level: bool,
        /// How much was new for the agent.
        pulled: PulledCounts,
        /// The log position up to which the agent has been given its messages.
        delivered_up_to: i64,
        /// The role that the agent was told it has.
        agent_snapshot: AgentSnapshot,
        /// When it happened.
        started_at: DateTime<Utc>,
    },
    /// The agent said what it is doing.
    SessionLogged {
        /// What it said.
        message: String,
        /// What goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<Settings>,
        /// When it happened.
        logged_at: DateTime<Utc>,
    },
    /// The agent reported a problem.
    ProblemReported {
        /// The report.
        content: ProblemReport,
        /// Who is to hear of it.
        mentions: Vec<AgentId>,
        /// When it happened.
        published_at: DateTime<Utc>,
    },
    /// An organization agent gave advice.
    AdviceGiven {
        /// The advice.
        content: Advice,
        /// Who is to hear of it.
        mentions: Vec<AgentId>,
        /// When it happened.
        published_at: DateTime<Utc>,
    },
    /// The agent asked a question.
    QuestionAsked {
        /// The question.
        content: Question,
        /// Who is to hear of it.
        mentions: Vec<AgentId>,
        /// When it happened.
        published_at: DateTime<Utc>,
    },
    /// The agent asked for a review.
    ReviewRequested {
        /// What is to be reviewed.
        content: ReviewRequest,
        /// Who is to hear of it.
        mentions: Vec<AgentId>,
        /// When it happened.
        published_at: DateTime<Utc>,
    },
    /// The agent reviewed another's work.
    ReviewResponded {
        /// The review.
        content: ReviewResponse,
        /// Who is to hear of it.
        mentions: Vec<AgentId>,
        /// When it happened.
        published_at: DateTime<Utc>,
    },
    /// The agent ended its work.
    SessionStopped {
        /// How long it worked.
        duration_seconds: i64,
        /// What it worked on.
        tasks_worked_on: Vec<TaskId>,
        /// What it did, in its own words.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// When it happened.
        stopped_at: DateTime<Utc>,
    },
    /// The session was taken from its agent.
    SessionRevoked {
        /// Why.
        reason: String,
        /// How long it lasted.
        duration_seconds: i64,
        /// When it happened.
        revoked_at: DateTime<Utc>,
    },
}

event_kinds! { SessionEvent of Session {
    SessionStarted "1" "An agent began to work in a project and pulled what was new for it." {
        text["agent_snapshot.capabilities", "agent_snapshot.settings"]
        plain["agent_snapshot.settings.githubUsername"]
    }
    SessionLogged "1" "An agent said what it is doing." {
        text["message", "context"]
        plain[]
    }
    ProblemReported "1" "An agent reported a problem; its supervisor hears of it." {
        text[
            "content.title",
            "content.description",
            "content.context.file",
            "content.context.error",
            "content.context.stack_trace"
        ]
        plain["content.severity", "content.category"]
    }
    AdviceGiven "1" "An organization agent gave advice to other agents." {
        text["content.topic", "content.advice", "content.context"]
        plain[]
    }
    QuestionAsked "1" "An agent asked a question; its supervisor hears of it." {
        text["content.question", "content.context.related_file", "content.context.what_ive_tried"]
        plain["content.urgency"]
    }
    ReviewRequested "1" "An agent asked for a review of its pull request." {
        text["content.title", "content.description", "content.requested_by.agent_name"]
        plain["content.github_pull_request_url"]
    }
    ReviewResponded "1" "An agent approved a pull request, requested changes, or commented on it." {
        text["content.comments", "content.requested_changes", "content.reviewer.agent_name"]
        plain["content.decision"]
    }
    SessionStopped "1" "An agent ended its work and said what it had worked on." {
        text["summary"]
        plain[]
    }
    SessionRevoked "1" "A session was taken from its agent, which can change nothing under it any more." {
        text["reason"]
        plain[]
    }
}}
