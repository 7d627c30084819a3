//! What goes in and out of the sessions' routes.

use chrono::{DateTime, Utc};
use domain::Settings;
use domain::pull::RoleChange;
use projections::sessions::SessionView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::agents::AgentBody;
use crate::answer::Warning;
use crate::entries::Entry;
use crate::input::without_nulls;
use crate::projects::ProjectBody;
use crate::scores::KpiChange;
use crate::tasks::TaskBody;
use crate::words::same_words;

/// How far a session has come.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum SessionStatus {
    Started,
    Logging,
    Stopped,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct StartSession {
    /// Where the agent is to work.
    pub(super) project_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct LogSession {
    pub(super) session_id: Uuid,
    #[schemars(length(min = 1))]
    pub(super) message: String,
    /// What goes with it: a file, how far it is.
    pub(super) context: Option<Settings>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct StopSession {
    pub(super) session_id: Uuid,
    /// Tasks of the session's project.
    #[schemars(length(max = 100))]
    pub(super) tasks_worked_on: Option<Vec<Uuid>>,
    /// What the agent did, in its own words.
    pub(super) summary: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetSession {
    pub(super) id: Uuid,
}

/// A stretch of an agent's work.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Session")]
pub(crate) struct SessionBody {
    id: Uuid,
    agent_id: Uuid,
    project_id: Uuid,
    status: SessionStatus,
    started_at: DateTime<Utc>,
    stopped_at: Option<DateTime<Utc>>,
    duration_seconds: Option<i64>,
    tasks_worked_on: Vec<Uuid>,
    /// The role that the agent had, how much it pulled, and its summary.
    metadata: Settings,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneEvent {
    pub(super) event: Entry,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartedSession {
    pub(super) session: SessionBody,
    pub(super) pulled_updates: PulledUpdates,
    /// Only when there is something to warn of: `AGENT_ON_PROBATION`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<Warning>,
}

/// What is new for an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PulledUpdates {
    /// What the agent has to do in this project: by priority, then by deadline; at most 100.
    pub(super) tasks: Vec<TaskBody>,
    /// Events that mention the agent, oldest first, at most 100; what does not fit comes with the next pull.
    pub(super) messages: Vec<Entry>,
    /// What changed in its role since its last session started.
    pub(super) role_changes: Vec<RoleChangeBody>,
}

/// A change to an agent's role.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[schemars(rename = "RoleChange")]
pub(super) enum RoleChangeBody {
    /// Capabilities that came or went.
    Capabilities {
        field: String,
        #[serde(rename = "type")]
        kind: &'static str,
        values: Vec<String>,
        changed_at: DateTime<Utc>,
    },
    /// A setting that is another one.
    Setting {
        field: String,
        #[serde(rename = "type")]
        kind: &'static str,
        old_value: Option<Value>,
        new_value: Option<Value>,
        changed_at: DateTime<Utc>,
    },
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoppedSession {
    pub(super) session: SessionBody,
    /// How the agent's KPIs changed; null when they were not calculated again, or not yet.
    pub(super) kpi_update: Option<KpiChange>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionDetails {
    pub(super) session: SessionBody,
    /// Oldest first, at most 1,000; `event.list` has all of them.
    pub(super) events: Vec<Entry>,
    pub(super) agent: AgentBody,
    pub(super) project: ProjectBody,
}

same_words!(SessionStatus = domain::session::SessionStatus { Started, Logging, Stopped });

impl From<SessionView> for SessionBody {
    fn from(it: SessionView) -> Self {
        Self {
            metadata: it.metadata(),
            id: it.id.0,
            agent_id: it.agent_id.0,
            project_id: it.project_id.0,
            status: it.status.into(),
            started_at: it.started_at,
            stopped_at: it.stopped_at,
            duration_seconds: it.duration_seconds,
            tasks_worked_on: it.tasks_worked_on.into_iter().map(|id| id.0).collect(),
            created_at: it.started_at,
            updated_at: it.updated_at,
        }
    }
}

impl RoleChangeBody {
    pub(super) fn new(change: RoleChange, changed_at: DateTime<Utc>) -> Self {
        let (field, kind) = (change.field(), change.kind());
        match change {
            RoleChange::CapabilitiesAdded(values) | RoleChange::CapabilitiesRemoved(values) => {
                Self::Capabilities { field, kind, values, changed_at }
            }
            RoleChange::SettingChanged { key: _, old, new } => {
                Self::Setting { field, kind, old_value: old, new_value: new, changed_at }
            }
        }
    }
}
