//! The factory floor: how its agents are.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use chrono::{DateTime, Utc};
use domain::post::HealthRules;
use domain::{EpicId, ProjectId, WorkspaceId};
use projections::floor::{self, Filter, FloorView};
use projections::{epics, workspaces};
use reactors::bench::Bench;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::App;
use crate::answer::{Seen, Shown};
use crate::auth::{Caller, Principal};
use crate::code::Code;
use crate::input::{Look, without_nulls};
use crate::openapi::route;
use crate::words::same_words;

/// Agents of a page, unless the client says otherwise.
const PAGE: i64 = 50;

/// What an agent does in the factory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
enum AgentKind {
    Orchestrator,
    Supervisor,
    Worker,
}

/// How an agent stands in the factory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
enum PostState {
    InProgress,
    Done,
    Failed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ListHealth {
    workspace_id: Uuid,
    project_id: Option<Uuid>,
    epic_id: Option<Uuid>,
    #[serde(rename = "type")]
    kind: Option<AgentKind>,
    /// `IN_PROGRESS` for those who are at their posts.
    state: Option<PostState>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    #[schemars(range(min = 0))]
    offset: Option<i64>,
}

/// How an agent of the factory is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentHealth {
    agent_id: Uuid,
    #[serde(rename = "type")]
    kind: AgentKind,
    state: PostState,
    project_id: Option<Uuid>,
    epic_id: Option<Uuid>,
    task_id: Option<Uuid>,
    bench: String,
    tmux_session: String,
    /// Whether such agents start themselves, because their bench has no command for them or no tmux; null when that
    /// bench is not on this node.
    external: Option<bool>,
    model: String,
    /// The how-manieth agent on its seat it is.
    attempt: u32,
    replaces: Option<Uuid>,
    successor: Option<Uuid>,
    /// Whether it is at its post and was heard of in the last two minutes, or as lately as its bench wants.
    healthy: bool,
    /// Its last mail or tool call, or when it was posted.
    last_heartbeat: DateTime<Utc>,
    minutes_since_heartbeat: i64,
    /// How many health checks it has missed since.
    checks_missed: u32,
    checked_at: Option<DateTime<Utc>>,
    /// What it was reported silent or declared dead by.
    evidence: Option<Evidence>,
    posted_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
}

/// What is known of an agent that is silent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Evidence {
    last_heartbeat: DateTime<Utc>,
    checks_missed: u32,
    /// Null when nobody can tell.
    process_alive: Option<bool>,
    last_output_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
struct Health {
    agents: Vec<AgentHealth>,
}

same_words!(AgentKind = domain::post::AgentKind { Orchestrator, Supervisor, Worker });
same_words!(PostState = domain::post::PostState { InProgress, Done, Failed });

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const HEALTH: &[Code] = &[
        Code::WorkspaceNotFound,
        Code::WorkspaceAccessDenied,
        Code::ProjectAccessDenied,
        Code::EpicNotFound,
        Code::EpicAccessDenied,
    ];
    ApiRouter::new()
        .api_route("/agent.health", get_with(health, route("agents", "How the agents of the factory are now", HEALTH)))
}

async fn health(
    State(app): State<Arc<App>>,
    Look { by, input, min_position }: Look<Caller, ListHealth>,
) -> Seen<Health> {
    app.wait_for_reader(by.actor(), min_position, &[workspaces::NAME, epics::NAME, floor::NAME]).await?;
    let scene = app.now();
    let workspace = scene.live_workspace_in_reach(&by, WorkspaceId(input.workspace_id)).await?;
    let epic = match input.epic_id {
        Some(id) => Some(scene.epic_in_reach(&by, EpicId(id)).await?.id),
        None => None,
    };
    let filter = Filter {
        workspace: workspace.id,
        project: by.project_asked(input.project_id.map(ProjectId))?,
        epic,
        kind: input.kind.map(Into::into),
        state: input.state.map(Into::into),
    };
    let found = floor::list(&scene.views, &filter, input.limit.unwrap_or(PAGE), input.offset.unwrap_or(0)).await?;
    let now = app.clock.now();
    let bench = app.settings.bench.as_deref();
    Ok(Shown(Health { agents: found.into_iter().map(|it| shown(it, bench, now)).collect() }))
}

fn shown(it: FloorView, bench: Option<&Bench>, now: DateTime<Utc>) -> AgentHealth {
    let silence = now - it.last_heartbeat;
    let bench = bench.filter(|here| *here.name() == it.bench);
    let rules = bench.map_or_else(HealthRules::default, |here| here.settings().rules);
    let is_there = it.state == domain::post::PostState::InProgress;
    AgentHealth {
        agent_id: it.agent_id.0,
        kind: it.kind.into(),
        state: it.state.into(),
        project_id: it.project_id.map(|id| id.0),
        epic_id: it.epic_id.map(|id| id.0),
        task_id: it.task_id.map(|id| id.0),
        bench: it.bench.to_string(),
        tmux_session: it.tmux_session,
        external: bench.map(|here| here.is_external(it.kind)),
        model: it.profile.model,
        attempt: it.attempt,
        replaces: it.replaces.map(|id| id.0),
        successor: it.successor.map(|id| id.0),
        healthy: is_there && silence <= rules.silence,
        last_heartbeat: it.last_heartbeat,
        minutes_since_heartbeat: silence.num_minutes().max(0),
        checks_missed: it.checks_missed,
        checked_at: it.checked_at,
        evidence: it.evidence.map(|it| Evidence {
            last_heartbeat: it.last_heartbeat,
            checks_missed: it.checks_missed,
            process_alive: it.process_alive,
            last_output_at: it.last_output_at,
        }),
        posted_at: it.posted_at,
        ended_at: it.ended_at,
    }
}
