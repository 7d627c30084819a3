//! The timeline: a page of it, one entry of it, and who may see which part.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::body::Bytes;
use axum::extract::State;
use domain::{AgentId, ProjectId, WorkspaceId};
use projections::timeline::{self, Counted, Filter, Page};
use projections::{agents, projects, sessions, workspaces};
use quick_cache::sync::Cache;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::App;
use crate::agents::AgentBody;
use crate::answer::{SeenAt, ShownAt};
use crate::auth::Caller;
use crate::code::Code;
use crate::entries::{Entry, EventType};
use crate::error::ApiError;
use crate::input::{LookBack, without_nulls};
use crate::openapi::route;
use crate::past::{Scene, Subject};
use crate::projects::ProjectBody;
use crate::sessions::SessionBody;
use crate::stream;

/// Entries of a page, unless the client says otherwise.
const PAGE: i64 = 50;
/// How many filters' totals are remembered.
const TOTALS: usize = 1_000;
/// How long a total is built upon before everything is counted anew: a parked stream that is retried adds to the past.
const RECOUNT: Duration = Duration::from_secs(1);

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
#[cfg_attr(not(test), allow(dead_code, reason = "its JSON is put together from entries that are JSON already"))]
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

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListEvents>) -> SeenAt<ManyEvents> {
    let about = look.input.workspace_id.map_or(Subject::Reach, Subject::Workspace);
    let scene = app.scene(&look, about, &[workspaces::NAME, timeline::NAME]).await?;
    let ListEvents { workspace_id, project_id, agent_id, session_id, kind, limit, offset, before } = look.input;
    let follow = FollowEvents { workspace_id, project_id, agent_id, session_id, kind };
    let filter = Filter { before, ..scene.filter(&look.by, &follow).await? };
    let page = scene.event_page(filter, limit.unwrap_or(PAGE), offset.unwrap_or(0)).await?;
    Ok(ShownAt::text(&scene, page))
}

/// The JSON of [`ManyEvents`]. Entries are JSON already: to read all of them only to write them again would take most
/// of the time of the whole answer.
fn text_of(page: &Page) -> String {
    let size: usize = page.entries.iter().map(|it| it.json.len() + 1).sum();
    let mut text = String::with_capacity(size + 100);
    text.push_str("{\"events\":[");
    for (n, entry) in page.entries.iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        text.push_str(&entry.json);
    }
    let Page { total, has_more, total_is_lower_bound, .. } = page;
    text + &format!("],\"total\":{total},\"hasMore\":{has_more},\"totalIsLowerBound\":{total_is_lower_bound}}}")
}

/// Totals that were counted a moment ago. Counting thousands of entries for every page would cost more than the page.
pub(crate) struct Totals(Cache<Filter, (Counted, Instant)>);

impl Default for Totals {
    fn default() -> Self {
        Self(Cache::new(TOTALS))
    }
}

impl Totals {
    /// What is counted of a filter, if it was not too long ago.
    fn of(&self, filter: &Filter) -> Option<Counted> {
        let (counted, since) = self.0.get(filter)?;
        (since.elapsed() < RECOUNT).then_some(counted)
    }

    /// Keeps what is counted now. What rests on an older count is as old as that: only a whole count is a new one.
    fn keep(&self, filter: Filter, rests_on_older: bool, counted: Counted) {
        let since = rests_on_older.then(|| self.0.get(&filter)).flatten().map_or_else(Instant::now, |(_, since)| since);
        self.0.insert(filter, (counted, since));
    }
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetEvent>) -> SeenAt<EventDetails> {
    let read_models = [workspaces::NAME, projects::NAME, agents::NAME, sessions::NAME, timeline::NAME];
    let scene = app.scene(&look, Subject::Event(look.input.id), &read_models).await?;
    let found = timeline::find(&scene.views, look.input.id).await?;
    let found = found.ok_or_else(|| ApiError::new(Code::EventNotFound, "the event does not exist"))?;
    if !scene.entry_in_reach(&look.by, &found).await? {
        return Err(ApiError::new(Code::EventAccessDenied, "the event is out of your reach"));
    }
    let author = match author_of(&found.doc.json) {
        Some(author) => agents::find(&scene.views, AgentId(author)).await?.map(Into::into),
        None => None,
    };
    let project = match found.project_id {
        Some(id) => projects::find(&scene.views, id).await?.map(Into::into),
        None => None,
    };
    let session = match found.session_id {
        Some(id) => sessions::find(&scene.views, id).await?.map(Into::into),
        None => None,
    };
    let event = app.entry(found.doc).await?;
    Ok(ShownAt::new(&scene, &EventDetails { event, author, session, project }))
}

impl FollowEvents {
    /// Whether it is about one workspace.
    pub(crate) fn names_a_workspace(&self) -> bool {
        self.workspace_id.is_some()
    }
}

impl Scene<'_> {
    async fn event_page(&self, filter: Filter, limit: i64, offset: i64) -> Result<Bytes, ApiError> {
        let app = self.app;
        let stand = app.engine.stand(&[timeline::NAME]).filter(|_| self.is_live());
        let asked = (filter, limit, offset);
        if let Some(page) = app.event_pages.get(&asked, stand) {
            return Ok(page);
        }
        let (filter, known) = (&asked.0, app.totals.of(&asked.0).filter(|_| self.is_live()));
        let (mut page, counted) = timeline::list_knowing(&self.views, filter, known, limit, offset).await?;
        if let Some(counted) = counted.filter(|_| self.is_live()) {
            app.totals.keep(filter.clone(), known.is_some(), counted);
        }
        // People's names are no read model's.
        let names_nobody = page.entries.iter().all(|it| it.named_user.is_none());
        page.entries = app.with_names(page.entries).await?;
        let text = Bytes::from(text_of(&page));
        app.event_pages.keep(asked, stand.filter(|_| names_nobody), text.clone());
        Ok(text)
    }

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

fn author_of(entry: &str) -> Option<Uuid> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Authored {
        author_id: Option<Uuid>,
    }
    serde_json::from_str::<Authored>(entry).ok()?.author_id
}

#[cfg(test)]
mod tests {
    use projections::timeline::Doc;
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_page_that_is_put_together_reads_like_one_that_is_serialised() {
        for count in 0..3 {
            let entry = json!({ "id": count, "content": { "message": "\"quoted\"" } });
            let doc = || Doc { position: 1, kind: "note".into(), named_user: None, json: entry.to_string() };
            let entries = (0..count).map(|_| doc()).collect();
            let page = Page { entries, total: 7, total_is_lower_bound: false, has_more: true };
            let events = (0..count).map(|_| Entry(to_raw_value(&entry).expect("JSON"))).collect();
            let same = ManyEvents { events, total: 7, has_more: true, total_is_lower_bound: false };
            let read: Value = serde_json::from_str(&text_of(&page)).expect("JSON");
            assert_eq!(read, serde_json::to_value(same).expect("JSON"));
        }
    }
}
