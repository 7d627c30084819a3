//! What goes in and out of the agents' routes.

use chrono::{DateTime, Utc};
use domain::{AgentCode, Settings};
use projections::agents::AgentView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{ApiError, BadField};
use crate::input::without_nulls;
use crate::scores::KpiBody;
use crate::sessions::SessionBody;
use crate::words::same_words;

/// How far an agent reaches.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum AgentLevel {
    Organization,
    Project,
}

/// Whether an agent may work.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum AgentStatus {
    Active,
    Probation,
    Inactive,
    Terminated,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ListAgents {
    pub(super) workspace_id: Uuid,
    /// Only those of one project.
    pub(super) project_id: Option<Uuid>,
    /// Only those of one level.
    pub(super) agent_level: Option<AgentLevel>,
    /// Only those of one status.
    pub(super) status: Option<AgentStatus>,
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetAgent {
    pub(super) id: Uuid,
    /// Also if it was deleted.
    #[serde(default)]
    pub(super) include_deleted: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct CreateAgent {
    pub(super) workspace_id: Uuid,
    /// For agents of the project level, and only for those.
    pub(super) project_id: Option<Uuid>,
    pub(super) agent_level: AgentLevel,
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    pub(super) agent_code: String,
    #[schemars(length(min = 1, max = 255))]
    pub(super) name: String,
    #[schemars(length(min = 1, max = 255))]
    pub(super) role_title: String,
    #[schemars(length(max = 1000))]
    pub(super) capabilities: Option<Vec<String>>,
    pub(super) settings: Option<Settings>,
    /// The agent that is to hear of its problems.
    pub(super) supervisor_agent_id: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct UpdateAgent {
    pub(super) id: Uuid,
    #[schemars(length(min = 1, max = 255))]
    pub(super) name: Option<String>,
    #[schemars(length(min = 1, max = 255))]
    pub(super) role_title: Option<String>,
    pub(super) status: Option<AgentStatus>,
    #[schemars(length(max = 1000))]
    pub(super) capabilities: Option<Vec<String>>,
    pub(super) settings: Option<Settings>,
    /// The agent that is to hear of its problems.
    pub(super) supervisor_agent_id: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct RotateCredentials {
    pub(super) id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct DeleteAgent {
    pub(super) id: Uuid,
}

/// An AI that works in a workspace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Agent")]
pub(crate) struct AgentBody {
    id: Uuid,
    workspace_id: Uuid,
    project_id: Option<Uuid>,
    agent_level: AgentLevel,
    agent_code: String,
    name: String,
    role_title: String,
    status: AgentStatus,
    trust_score: f64,
    capabilities: Vec<String>,
    settings: Settings,
    supervisor_agent_id: Option<Uuid>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    /// Only of one that was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneAgent {
    pub(super) agent: AgentBody,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ManyAgents {
    pub(super) agents: Vec<AgentBody>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentDetails {
    pub(super) agent: AgentBody,
    /// The last ten KPI records.
    #[serde(rename = "recentKPIs")]
    pub(super) recent_kpis: Vec<KpiBody>,
    /// The last ten sessions.
    pub(super) recent_sessions: Vec<SessionBody>,
}

/// What an agent signs in with.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credentials {
    pub(super) agent_id: Uuid,
    /// Shown once: null when the request is a repeat.
    pub(super) api_key: Option<String>,
    pub(super) agent_code: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AgentWithKey {
    pub(super) agent: AgentBody,
    pub(super) credentials: Credentials,
}

/// A text that has the form of an agent code by the schema already.
pub(super) fn agent_code(text: String) -> Result<AgentCode, ApiError> {
    AgentCode::parse(text).map_err(|e| ApiError::validation(vec![BadField::new("agentCode", e.to_string())]))
}

same_words!(AgentLevel = domain::agent::AgentLevel { Organization, Project });
same_words!(AgentStatus = domain::agent::AgentStatus { Active, Probation, Inactive, Terminated });

impl From<AgentView> for AgentBody {
    fn from(it: AgentView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            project_id: it.project_id.map(|id| id.0),
            agent_level: it.agent_level.into(),
            agent_code: it.agent_code.to_string(),
            name: it.name,
            role_title: it.role_title,
            status: it.status.into(),
            trust_score: it.trust_score,
            capabilities: it.capabilities,
            settings: it.settings,
            supervisor_agent_id: it.supervisor_agent_id.map(|id| id.0),
            created_at: it.created_at,
            updated_at: it.updated_at,
            deleted_at: it.deleted_at,
        }
    }
}
