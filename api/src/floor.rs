//! The factory floor: how its agents are, and another launch for one that was not started.

use std::collections::HashMap;
use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use axum::extract::State;
use chrono::{DateTime, Utc};
use commands::factory as command;
use domain::epic::EpicState;
use domain::post::{self, HealthRules};
use domain::{AgentId, EpicId, ProjectId, WorkspaceId};
use projections::floor::{self, Filter, FloorView};
use projections::{epics, workspaces};
use reactors::bench::Bench;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::App;
use crate::answer::{Answer, Seen, Shown, Warning};
use crate::auth::{Caller, Owner, Principal};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, Look, without_nulls};
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

/// What an agent may do without asking.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Permissions {
    Strict,
    Relaxed,
    Yolo,
}

/// What came of an agent's launch.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Launch {
    Ordered,
    Started,
    LeftToItself,
    Failed,
}

/// How an agent's work in the factory ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum WorkEnd {
    Success,
    Failure,
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
    /// What came of its launch: one that `failed` waits for people.
    launch: Launch,
    model: String,
    permissions: Permissions,
    /// The how-manieth agent on its seat it is.
    attempt: u32,
    replaces: Option<Uuid>,
    successor: Option<Uuid>,
    /// Whether it is at its post and was heard of in the last two minutes, or as lately as its bench wants; a supervisor
    /// rests while a human reviews its epic.
    healthy: bool,
    /// Its last mail or tool call, or when it was posted, started or ordered to be.
    last_heartbeat: DateTime<Utc>,
    minutes_since_heartbeat: i64,
    /// How many health checks it has missed since.
    checks_missed: u32,
    checked_at: Option<DateTime<Utc>>,
    /// What it was reported silent or declared dead by.
    evidence: Option<Evidence>,
    /// Why it lost its post, if it did.
    relieved_because: Option<String>,
    /// How its work ended, if it did.
    result: Option<WorkEnd>,
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LaunchAgent {
    id: Uuid,
}

/// A launch that is on its way.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LaunchOrdered {
    agent_id: Uuid,
    /// The errand that its bench does.
    errand_id: Uuid,
    /// Only when there is something to warn of: `BENCH_NOT_HERE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

same_words!(AgentKind = post::AgentKind { Orchestrator, Supervisor, Worker });
same_words!(Permissions = post::Permissions { Strict, Relaxed, Yolo });
same_words!(Launch = post::Launch { Ordered, Started, LeftToItself, Failed });
same_words!(WorkEnd = post::WorkEnd { Success, Failure });
same_words!(PostState = post::PostState { InProgress, Done, Failed });

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const HEALTH: &[Code] = &[
        Code::WorkspaceNotFound,
        Code::WorkspaceAccessDenied,
        Code::ProjectAccessDenied,
        Code::EpicNotFound,
        Code::EpicAccessDenied,
        Code::ToolNotAllowed,
    ];
    const LAUNCH: &[Code] = &[
        Code::AgentNotFound,
        Code::AgentAccessDenied,
        Code::AgentNotPosted,
        Code::AgentRelieved,
        Code::AgentAlreadyLaunched,
        Code::ErrandUnderway,
    ];
    ApiRouter::new()
        .api_route("/agent.health", get_with(health, route("agents", "How the agents of the factory are now", HEALTH)))
        .api_route(
            "/agent.launch",
            post_with(launch, route("agents", "Launch an agent again that its bench did not start", LAUNCH)),
        )
}

async fn health(
    State(app): State<Arc<App>>,
    Look { by, input, min_position }: Look<Caller, ListHealth>,
) -> Seen<Health> {
    let post = app.admit_to_tool(&by, "mcp__orchestrator__list_supervisors").await?;
    app.wait_for_reader(by.actor(), min_position, &[workspaces::NAME, epics::NAME, floor::NAME]).await?;
    let scene = app.now();
    let workspace = scene.live_workspace_in_reach(&by, WorkspaceId(input.workspace_id)).await?;
    let epic = match input.epic_id.map(EpicId) {
        // Whoever may list supervisors may list those of an epic.
        Some(id) if post.is_some() => Some(id),
        Some(id) => Some(scene.epic_in_reach(&by, id).await?.id),
        None => None,
    };
    let kind = match (post, input.kind) {
        (Some(_), None | Some(AgentKind::Supervisor)) => Some(AgentKind::Supervisor),
        (Some(_), Some(AgentKind::Orchestrator | AgentKind::Worker)) => {
            return Err(ApiError::new(Code::ToolNotAllowed, "an orchestrator lists supervisors only"));
        }
        (None, asked) => asked,
    };
    let filter = Filter {
        workspace: workspace.id,
        project: by.project_asked(input.project_id.map(ProjectId))?,
        epic,
        kind: kind.map(Into::into),
        state: input.state.map(Into::into),
    };
    let found = floor::list(&scene.views, &filter, input.limit.unwrap_or(PAGE), input.offset.unwrap_or(0)).await?;
    let (mut agents, mut external) = (Vec::new(), HashMap::new());
    for it in found {
        agents.push(app.health_of(it, &mut external).await?);
    }
    Ok(Shown(Health { agents }))
}

async fn launch(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, LaunchAgent>,
) -> Result<Answer<LaunchOrdered>, ApiError> {
    let agent_id = AgentId(input.id);
    let known = app.on_the_floor(agent_id).await?;
    let heard_of = known.as_ref().is_some_and(|it| it.heard_of);
    let done = app.run(&context, &command::LaunchAgent { by: by.user_id, agent_id, heard_of }).await?;
    let warnings = known.map_or_else(Vec::new, |it| Warning::of_bench(&it.bench, app.bench_of(&it).is_some()));
    Ok(Answer::of(&done, Some(LaunchOrdered { agent_id: agent_id.0, errand_id: done.outcome.0, warnings })))
}

/// Whether agents of a kind in a project start themselves.
type KnownExternal = HashMap<(post::AgentKind, Option<ProjectId>), bool>;

impl App {
    /// An agent of the factory by all that is on record; none for agents that are not of the factory.
    async fn on_the_floor(&self, agent: AgentId) -> Result<Option<FloorView>, ApiError> {
        let position = self.log.head().await?.position;
        if !self.engine.wait_for(&[floor::NAME], position, self.settings.patience).await {
            return Err(ApiError::unavailable("the floor is not shown up to now yet"));
        }
        Ok(floor::find(&self.views, agent).await?)
    }

    /// Whether an agent is at its post, and rests or was heard of as lately as its bench wants; as the document wants
    /// where that bench is not on this node.
    pub(crate) async fn is_healthy(&self, it: &FloorView) -> Result<bool, ApiError> {
        if it.state != post::PostState::InProgress {
            return Ok(false);
        }
        let rules = self.bench_of(it).map_or_else(HealthRules::default, |here| here.settings().rules);
        let now = self.clock.now();
        let is_lately = |at: DateTime<Utc>| now - at <= rules.silence;
        if is_lately(it.last_heartbeat) {
            return Ok(true);
        }
        // A supervisor waits while a human reviews its epic, however long that takes, and has its time when it comes back.
        let (post::AgentKind::Supervisor, Some(epic)) = (it.kind, it.epic_id) else { return Ok(false) };
        let Some(epic) = epics::find(&self.views, epic).await? else { return Ok(false) };
        Ok(epic.state == EpicState::AwaitingHumanReview || epic.sent_back_at.is_some_and(is_lately))
    }

    /// `known` says of which kinds and projects it was looked up before whether their agents start themselves.
    async fn health_of(&self, it: FloorView, known: &mut KnownExternal) -> Result<AgentHealth, ApiError> {
        let healthy = self.is_healthy(&it).await?;
        let external = match (self.bench_of(&it), known.get(&(it.kind, it.project_id))) {
            (None, _) => None,
            (Some(_), Some(known)) => Some(*known),
            (Some(here), None) => {
                let external = here.is_external(&self.views, it.kind, it.project_id).await?;
                known.insert((it.kind, it.project_id), external);
                Some(external)
            }
        };
        Ok(shown(it, healthy, external, self.clock.now()))
    }

    /// The bench that an agent runs on, if it is on this node.
    fn bench_of(&self, it: &FloorView) -> Option<&Bench> {
        self.settings.bench.as_deref().filter(|here| *here.name() == it.bench)
    }
}

fn shown(it: FloorView, healthy: bool, external: Option<bool>, now: DateTime<Utc>) -> AgentHealth {
    let silence = now - it.last_heartbeat;
    AgentHealth {
        agent_id: it.agent_id.0,
        kind: it.kind.into(),
        state: it.state.into(),
        project_id: it.project_id.map(|id| id.0),
        epic_id: it.epic_id.map(|id| id.0),
        task_id: it.task_id.map(|id| id.0),
        bench: it.bench.to_string(),
        tmux_session: it.tmux_session,
        external,
        launch: it.launch.into(),
        model: it.profile.model,
        permissions: it.profile.permissions.into(),
        attempt: it.attempt,
        replaces: it.replaces.map(|id| id.0),
        successor: it.successor.map(|id| id.0),
        healthy,
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
        relieved_because: it.relieved_because,
        result: it.result.map(Into::into),
        posted_at: it.posted_at,
        ended_at: it.ended_at,
    }
}
