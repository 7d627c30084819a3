//! The decision log: what agents did by tools, what came of it, and what they decided.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use chrono::{DateTime, Utc};
use domain::{AgentId, WorkspaceId};
use projections::decisions::{self, DecisionView, Filter};
use projections::{agents, workspaces};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::App;
use crate::answer::{SeenAt, ShownAt};
use crate::auth::Caller;
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{LookBack, without_nulls};
use crate::openapi::route;
use crate::past::Subject;

/// Entries of a page, unless the client says otherwise.
const PAGE: i64 = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ListDecisions {
    workspace_id: Uuid,
    /// Only of one agent; for a project agent its own, unless it names another.
    agent_id: Option<Uuid>,
    /// Only from this moment on.
    since: Option<DateTime<Utc>>,
    /// Only before this moment.
    until: Option<DateTime<Utc>>,
    /// Only entries before this position of the log: the `nextBefore` of the page before.
    #[schemars(range(min = 0))]
    before: Option<i64>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
}

/// An entry of the decision log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Decision")]
struct DecisionBody {
    id: Uuid,
    workspace_id: Uuid,
    /// Null when Muster decided for no agent in particular.
    agent_id: Option<Uuid>,
    /// The tool call that it tells of; null for decisions in words.
    call_id: Option<Uuid>,
    /// A tool, `<tool>_result`, `<tool>_error`, `<tool>_critical_error`, or what was decided.
    title: String,
    /// JSON for tools, words for decisions; secrets were taken out before it was stored.
    body: String,
    created_at: DateTime<Utc>,
    position: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ManyDecisions {
    /// Newest first.
    decisions: Vec<DecisionBody>,
    /// What to ask for as `before` to go on; null when there is no more.
    next_before: Option<i64>,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] =
        &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::AgentNotFound, Code::AgentAccessDenied];
    ApiRouter::new().api_route(
        "/decision.list",
        get_with(list, route("decision", "What agents did and decided, newest first", LIST)),
    )
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListDecisions>) -> SeenAt<ManyDecisions> {
    let post = app.admit_to_tool(&look.by, "mcp__system__log_decision").await?;
    let about = Subject::Workspace(look.input.workspace_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, agents::NAME, decisions::NAME]).await?;
    let (by, asked) = (look.by, look.input);
    let workspace = scene.live_workspace_in_reach(&by, WorkspaceId(asked.workspace_id)).await?.id;
    let own = match &by {
        Caller::Agent(agent) if agent.project_id.is_some() || post.is_some() => Some(agent.agent_id),
        Caller::Agent(_) | Caller::Owner(_) => None,
    };
    if post.is_some() && asked.agent_id.is_some_and(|it| own != Some(AgentId(it))) {
        return Err(ApiError::new(Code::AgentAccessDenied, "an agent of the factory has its own decisions only"));
    }
    let agent = asked.agent_id.map(AgentId).or(own);
    if let Some(id) = agent
        && scene.agent_in_reach(&by, id).await?.workspace_id != workspace
    {
        return Err(ApiError::new(Code::AgentAccessDenied, "the agent is in another workspace"));
    }
    let filter = Filter { workspace, agent, since: asked.since, until: asked.until, before: asked.before };
    let limit = asked.limit.unwrap_or(PAGE);
    let found = decisions::list(&scene.views, &filter, limit).await?;
    let is_full = found.len() as i64 == limit;
    let next_before = found.last().filter(|_| is_full).map(|it| it.position);
    let body = ManyDecisions { decisions: found.into_iter().map(DecisionBody::from).collect(), next_before };
    Ok(ShownAt::new(&scene, &body))
}

impl From<DecisionView> for DecisionBody {
    fn from(it: DecisionView) -> Self {
        Self {
            id: it.id,
            workspace_id: it.workspace_id.0,
            agent_id: it.agent_id.map(|id| id.0),
            call_id: it.call_id.map(|id| id.0),
            title: it.title,
            body: it.body,
            created_at: it.created_at,
            position: it.position,
        }
    }
}
