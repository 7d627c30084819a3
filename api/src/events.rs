//! The timeline: a page of it, one entry of it, and who may see which part.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use domain::{AgentId, ProjectId, WorkspaceId};
use projections::timeline::{self, Filter};
use projections::{agents, projects, sessions, workspaces};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::App;
use crate::agents::AgentBody;
use crate::answer::{Seen, Shown};
use crate::auth::Caller;
use crate::code::Code;
use crate::entries::{Entry, EventType};
use crate::error::ApiError;
use crate::input::{Look, without_nulls};
use crate::openapi::route;
use crate::projects::ProjectBody;
use crate::sessions::SessionBody;
use crate::stream;

/// Entries of a page, unless the client says otherwise.
const PAGE: i64 = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ListEvents {
    /// Only of one workspace; of all that the caller may see without.
    workspace_id: Option<Uuid>,
    project_id: Option<Uuid>,
    /// Only what one agent did, or what was done to it.
    agent_id: Option<Uuid>,
    session_id: Option<Uuid>,
    #[serde(rename = "type")]
    kind: Option<EventType>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    limit: Option<i64>,
    #[schemars(range(min = 0), extend("default" = 0))]
    offset: Option<i64>,
    /// Only entries before this position of the log: pages that do not shift when new entries come.
    #[schemars(range(min = 0))]
    before: Option<i64>,
}

/// The same filters, for following the timeline as it grows.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(crate) struct FollowEvents {
    /// Only of one workspace; of all that the caller may see without.
    workspace_id: Option<Uuid>,
    project_id: Option<Uuid>,
    /// Only what one agent did, or what was done to it.
    agent_id: Option<Uuid>,
    session_id: Option<Uuid>,
    #[serde(rename = "type")]
    kind: Option<EventType>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetEvent {
    id: Uuid,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ManyEvents {
    events: Vec<Entry>,
    /// Exact up to 10,000.
    total: i64,
    has_more: bool,
    /// Whether there are more than `total`.
    total_is_lower_bound: bool,
}

#[derive(Serialize, JsonSchema)]
struct EventDetails {
    event: Entry,
    /// The agent who acted, if it was one.
    author: Option<AgentBody>,
    session: Option<SessionBody>,
    project: Option<ProjectBody>,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::ProjectAccessDenied];
    const GET: &[Code] = &[Code::EventNotFound, Code::EventAccessDenied];
    ApiRouter::new()
        .api_route("/event.list", get_with(list, route("events", "The timeline, newest first", LIST)))
        .api_route("/event.get", get_with(get, route("events", "One entry of the timeline", GET)))
}

/// Apart from the others, because it may take as long as it likes.
pub(crate) fn stream_route() -> ApiRouter<Arc<App>> {
    const STREAM: &[Code] =
        &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::ProjectAccessDenied, Code::CursorStale];
    let summary = "Follow the timeline as server-sent events";
    ApiRouter::new().api_route("/event.stream", get_with(stream::follow, route("events", summary, STREAM)))
}

async fn list(State(app): State<Arc<App>>, look: Look<Caller, ListEvents>) -> Seen<ManyEvents> {
    app.caught_up(&look, &[workspaces::NAME, timeline::NAME]).await?;
    let ListEvents { workspace_id, project_id, agent_id, session_id, kind, limit, offset, before } = look.input;
    let follow = FollowEvents { workspace_id, project_id, agent_id, session_id, kind };
    let filter = Filter { before, ..app.filter(&look.by, &follow).await? };
    let page = timeline::list(&app.views, &filter, limit.unwrap_or(PAGE), offset.unwrap_or(0)).await?;
    Ok(Shown(ManyEvents {
        events: app.entries(page.entries).await?,
        total: page.total,
        has_more: page.has_more,
        total_is_lower_bound: page.total_is_lower_bound,
    }))
}

async fn get(State(app): State<Arc<App>>, look: Look<Caller, GetEvent>) -> Seen<EventDetails> {
    let read_models = [workspaces::NAME, projects::NAME, agents::NAME, sessions::NAME, timeline::NAME];
    app.caught_up(&look, &read_models).await?;
    let found = timeline::find(&app.views, look.input.id).await?;
    let found = found.ok_or_else(|| ApiError::new(Code::EventNotFound, "the event does not exist"))?;
    if !app.entry_in_reach(&look.by, &found).await? {
        return Err(ApiError::new(Code::EventAccessDenied, "the event is out of your reach"));
    }
    let author = match author_of(&found.doc.json) {
        Some(author) => agents::find(&app.views, AgentId(author)).await?.map(Into::into),
        None => None,
    };
    let project = match found.project_id {
        Some(id) => projects::find(&app.views, id).await?.map(Into::into),
        None => None,
    };
    let session = match found.session_id {
        Some(id) => sessions::find(&app.views, id).await?.map(Into::into),
        None => None,
    };
    Ok(Shown(EventDetails { event: app.entry(found.doc).await?, author, session, project }))
}

impl App {
    /// The part of the timeline that a caller asks for, within what it may see.
    pub(crate) async fn filter(&self, by: &Caller, asked: &FollowEvents) -> Result<Filter, ApiError> {
        let workspaces = match asked.workspace_id {
            Some(id) => vec![self.workspace_in_reach(by, WorkspaceId(id)).await?.id],
            None => self.workspaces_in_reach(by).await?,
        };
        Ok(Filter {
            workspaces,
            project: by.project_asked(asked.project_id.map(ProjectId))?,
            agent: asked.agent_id.map(AgentId),
            session: asked.session_id,
            kind: asked.kind.as_ref().map(|it| it.0.clone()),
            before: None,
        })
    }
}

fn author_of(entry: &RawValue) -> Option<Uuid> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Authored {
        author_id: Option<Uuid>,
    }
    serde_json::from_str::<Authored>(entry.get()).ok()?.author_id
}
