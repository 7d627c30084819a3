//! The past of anything: its history with what each event changed, its state then, and why something happened.

pub(crate) mod bodies;
pub(crate) mod names;
mod reach;

use std::borrow::Cow;
use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use projections::history::{self, HistoryError, KINDS};
use projections::lineage::{self, Tree};
use projections::{agents, projects, sessions, tasks, wiki, workspaces};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use store::{Moment, MomentError};
use uuid::Uuid;

use self::bodies::{DiffBody, HistoryBody, StateBody, TreeBody};
use self::names::Names;
use crate::App;
use crate::answer::{Seen, Shown};
use crate::auth::Caller;
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::{Look, without_nulls};
use crate::openapi::route;

/// Events of a page of history, unless the client says otherwise.
const PAGE: i64 = 50;
/// How far a tree goes, unless the client says otherwise.
const DEPTH: usize = 20;
/// How many events a tree has at most, unless the client says otherwise.
const EVENTS: usize = 200;

/// What who may look at what is decided by.
const KNOWN_BY: [&str; 6] = [workspaces::NAME, projects::NAME, agents::NAME, sessions::NAME, tasks::NAME, wiki::NAME];

/// One of the kinds of aggregates.
#[derive(Deserialize)]
struct AggregateKind(String);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetHistory {
    aggregate: AggregateKind,
    id: Uuid,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    #[schemars(range(min = 0), extend("default" = 0))]
    offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetState {
    aggregate: AggregateKind,
    id: Uuid,
    /// A position of the log or an RFC 3339 time; now without.
    at: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetDiff {
    aggregate: AggregateKind,
    id: Uuid,
    /// A position of the log or an RFC 3339 time.
    from: String,
    /// A position of the log or an RFC 3339 time, not before `from`; now without.
    to: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetTree {
    /// The event's place in the log.
    #[schemars(range(min = 1))]
    position: i64,
    /// The most steps from the event.
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    depth: Option<usize>,
    /// The most events, this one included.
    #[schemars(range(min = 1, max = 1000), extend("default" = 200))]
    limit: Option<usize>,
}

/// Everything that can be wrong with an aggregate that somebody asks for.
#[rustfmt::skip]
const OF_AGGREGATE: &[Code] = &[
    Code::AggregateNotFound, Code::AggregateAccessDenied, Code::HistoryTooLong, Code::NotCeo,
    Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::ProjectNotFound, Code::ProjectAccessDenied,
    Code::AgentNotFound, Code::AgentAccessDenied, Code::SessionNotFound, Code::SessionAccessDenied,
    Code::TaskNotFound, Code::TaskAccessDenied, Code::WikiEntryNotFound, Code::WikiEntryAccessDenied,
];
const OF_EVENT: &[Code] = &[Code::EventNotFound, Code::EventAccessDenied];

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    let what = "What happened to an aggregate, oldest first, and what each event changed";
    let then = "An aggregate as it was at a position or a time";
    let differs = "What became different in an aggregate from one moment to another";
    let why = "What an event came from, step by step up to a request";
    let after = "Everything that followed from an event";
    ApiRouter::new()
        .api_route("/audit.history", get_with(get_history, route("audit", what, OF_AGGREGATE)))
        .api_route("/audit.state", get_with(get_state, route("audit", then, OF_AGGREGATE)))
        .api_route("/audit.diff", get_with(get_diff, route("audit", differs, OF_AGGREGATE)))
        .api_route("/audit.causes", get_with(get_causes, route("audit", why, OF_EVENT)))
        .api_route("/audit.effects", get_with(get_effects, route("audit", after, OF_EVENT)))
}

async fn get_history(State(app): State<Arc<App>>, look: Look<Caller, GetHistory>) -> Seen<HistoryBody> {
    app.caught_up(&look, &KNOWN_BY).await?;
    let GetHistory { aggregate, id, limit, offset } = look.input;
    let stream = app.history_in_reach(&look.by, &aggregate.0, id).await?;
    let offset = offset.unwrap_or(0);
    let (upto, limit) = (app.end().await?, limit.unwrap_or(PAGE));
    let page = history::page(&app.log, &stream, upto, offset, limit, app.history_bounds()).await.map_err(refused)?;
    let names = Names::of_actors(&app.log, &app.views, page.steps.iter().map(|it| &it.metadata)).await?;
    Ok(Shown(HistoryBody::of(&stream, page, offset, &names)))
}

async fn get_state(State(app): State<Arc<App>>, look: Look<Caller, GetState>) -> Seen<StateBody> {
    app.caught_up(&look, &KNOWN_BY).await?;
    let GetState { aggregate, id, at } = look.input;
    let stream = app.history_in_reach(&look.by, &aggregate.0, id).await?;
    let at = app.position_asked("at", at.as_deref()).await?;
    let found = history::state_at(&app.log, &stream, at, app.history_bounds()).await.map_err(refused)?;
    Ok(Shown(StateBody::of(&stream, found)))
}

async fn get_diff(State(app): State<Arc<App>>, look: Look<Caller, GetDiff>) -> Seen<DiffBody> {
    app.caught_up(&look, &KNOWN_BY).await?;
    let GetDiff { aggregate, id, from, to } = look.input;
    let stream = app.history_in_reach(&look.by, &aggregate.0, id).await?;
    let from = app.position_asked("from", Some(&from)).await?;
    let to = app.position_asked("to", to.as_deref()).await?;
    if from > to {
        let message = format!("position {from} is after position {to}, which is where `to` is");
        return Err(ApiError::validation(vec![BadField::new("from", message)]));
    }
    let found = history::difference(&app.log, &stream, from, to, app.history_bounds()).await.map_err(refused)?;
    Ok(Shown(DiffBody::of(&stream, from, found)))
}

async fn get_causes(State(app): State<Arc<App>>, look: Look<Caller, GetTree>) -> Seen<TreeBody> {
    app.caught_up(&look, &[workspaces::NAME, lineage::NAME]).await?;
    let GetTree { position, depth, limit } = look.input;
    let found = lineage::causes(&app.log, &app.views, position, bounds(depth, limit)).await?;
    app.tree(&look.by, position, found).await
}

async fn get_effects(State(app): State<Arc<App>>, look: Look<Caller, GetTree>) -> Seen<TreeBody> {
    app.caught_up(&look, &[workspaces::NAME, lineage::NAME]).await?;
    let GetTree { position, depth, limit } = look.input;
    let found = lineage::effects(&app.log, &app.views, position, bounds(depth, limit)).await?;
    app.tree(&look.by, position, found).await
}

impl App {
    /// A tree as the caller may see it.
    async fn tree(&self, by: &Caller, position: i64, found: Option<Tree>) -> Seen<TreeBody> {
        let unknown = || ApiError::new(Code::EventNotFound, format!("there is no event at position {position}"));
        let (tree, hidden) = self.tree_in_reach(by, found.ok_or_else(unknown)?).await?;
        let names = Names::of_actors(&self.log, &self.views, tree.nodes.iter().map(|it| &it.metadata)).await?;
        Ok(Shown(TreeBody::of(tree, hidden, &names)))
    }

    /// How many events of one stream are read to answer one query.
    fn history_bounds(&self) -> history::Bounds {
        history::Bounds { events: self.settings.as_of_events }
    }

    /// The position that a moment stands for; the head of the log without one.
    async fn position_asked(&self, field: &str, moment: Option<&str>) -> Result<i64, ApiError> {
        let Some(moment) = moment else { return self.end().await };
        let refused = |error: MomentError| match error {
            MomentError::Store(error) => error.into(),
            other => ApiError::validation(vec![BadField::new(field, other.to_string())]),
        };
        let moment: Moment = moment.parse().map_err(refused)?;
        self.position_of(field, &moment).await
    }
}

fn bounds(depth: Option<usize>, limit: Option<usize>) -> lineage::Bounds {
    lineage::Bounds { depth: depth.unwrap_or(DEPTH), events: limit.unwrap_or(EVENTS) }
}

fn refused(error: HistoryError) -> ApiError {
    match error {
        HistoryError::Store(error) => error.into(),
        HistoryError::TooLong(_) => {
            ApiError::new(Code::HistoryTooLong, format!("{error}; `muster audit` has no such limit"))
        }
        HistoryError::Unknown(_) | HistoryError::NotYet { .. } => {
            ApiError::new(Code::AggregateNotFound, error.to_string())
        }
    }
}

impl JsonSchema for AggregateKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AggregateKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": KINDS })
    }
}
