//! What happens to an agent at its post.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AgentKind, Post, Profile, WorkEnd};
use crate::catalogue::event_kinds;
use crate::{AgentId, EpicId, ProjectId, Slug, TaskId, WorkspaceId};

/// What happened to an agent at its post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "events are read one at a time and not kept")]
pub enum PostEvent {
    /// An agent has a place in the factory.
    AgentPosted {
        /// Which agent.
        agent_id: AgentId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project it works in; none for the orchestrator.
        project_id: Option<ProjectId>,
        /// What it does.
        kind: AgentKind,
        /// The place that its successors inherit: the workspace, the epic or the task.
        seat: Uuid,
        /// Its epic, unless it is the orchestrator.
        epic_id: Option<EpicId>,
        /// Its task, if it is a worker.
        task_id: Option<TaskId>,
        /// Where it runs.
        bench: Slug,
        /// How it is run.
        profile: Profile,
        /// What it is told when it starts.
        mission: String,
        /// The terminal session it runs in.
        tmux_session: String,
        /// The how-manieth agent on this seat it is, from 1.
        attempt: u32,
        /// Whom it replaces.
        replaces: Option<AgentId>,
        /// When it happened.
        posted_at: DateTime<Utc>,
    },
    /// The agent was started by its bench, or left to start itself.
    AgentLaunched {
        /// Whether its bench started it.
        started: bool,
        /// When it happened.
        launched_at: DateTime<Utc>,
    },
    /// The agent could not be started.
    AgentLaunchFailed {
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
    /// People want the agent started, which its bench could not do, or left to it.
    AgentLaunchOrdered {
        /// When it happened.
        ordered_at: DateTime<Utc>,
    },
    /// The agent was silent for too long, and was asked whether it is there.
    AgentHealthChecked {
        /// When it was last heard of.
        last_heartbeat: DateTime<Utc>,
        /// How many checks it has missed.
        checks_missed: u32,
        /// When it happened.
        checked_at: DateTime<Utc>,
    },
    /// The agent is silent, but its process lives and produces output, or nobody has started it yet: it was only reported.
    AgentReportedSilent {
        /// What is known of it.
        evidence: Evidence,
        /// When it happened.
        reported_at: DateTime<Utc>,
    },
    /// The agent is dead, by this evidence.
    AgentDeclaredDead {
        /// What is known of it.
        evidence: Evidence,
        /// When it happened.
        declared_at: DateTime<Utc>,
    },
    /// The agent lost its post and may change nothing any more.
    AgentRelieved {
        /// Why.
        reason: String,
        /// Who sits there now; none when nobody does, or not yet.
        successor: Option<AgentId>,
        /// When it happened.
        relieved_at: DateTime<Utc>,
    },
    /// The agent's work is over.
    AgentDischarged {
        /// How it ended.
        result: WorkEnd,
        /// When it happened.
        discharged_at: DateTime<Utc>,
    },
}

/// What is known of an agent that is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// When it was last heard of.
    pub last_heartbeat: DateTime<Utc>,
    /// How many checks it has missed.
    pub checks_missed: u32,
    /// Whether its process lives; not known of agents that started themselves.
    pub process_alive: Option<bool>,
    /// When its process last said something on its terminal.
    pub last_output_at: Option<DateTime<Utc>>,
}

event_kinds! { PostEvent of Post {
    AgentPosted "1" "An agent got a place in the factory: orchestrator, supervisor of an epic or worker on a task." {
        text["mission"]
        plain["kind", "bench", "profile.model", "profile.permissions", "profile.disallowed_tools", "tmux_session"]
    }
    AgentLaunched "1" "An agent of the factory was started by its bench, or left to start itself."
    AgentLaunchFailed "1" "An agent of the factory could not be started by its bench."
    AgentLaunchOrdered "1" "An agent of the factory that was not started by its bench is to be launched again."
    AgentHealthChecked "1" "An agent of the factory was silent for too long and was asked whether it is there."
    AgentReportedSilent "1" "An agent of the factory is silent, though its process is alive or nobody has started it, and was reported."
    AgentDeclaredDead "1" "An agent of the factory was declared dead, with the evidence."
    AgentRelieved "1" "An agent lost its place in the factory and may change nothing there any more." {
        text["reason"]
        plain[]
    }
    AgentDischarged "1" "An agent's work in the factory is over." {
        text[]
        plain["result"]
    }
}}
