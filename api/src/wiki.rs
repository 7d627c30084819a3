//! The wiki: routes that read, propose and decide.
//!
//! Who reaches what: an owner the wikis of their workspaces, an organization agent those of its workspace, a project
//! agent its project's and that of the whole workspace, where it reads and does not write.

mod bodies;
mod view_counts;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with, put_with};
use axum::extract::State;
use commands::Done;
use commands::wiki as command;
use domain::wiki::{self, Author};
use domain::{ProjectId, WikiEntryId, WorkspaceId};
use projections::wiki::{self as entries, WikiEntryView};
use projections::{agents, workspaces};
use uuid::Uuid;

use bodies::{ApproveEntry, CreateEntry, GetEntry, ListEntries, RejectEntry, UpdateEntry};
use bodies::{EntryBody, EntryDetails, ManyEntries, OneEntry};
pub(crate) use view_counts::ViewCounts;

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, LookBack};
use crate::openapi::route;
use crate::past::{Scene, Subject};
use crate::workspaces::slug;

/// The most next versions that an entry is shown with.
const MOST_CHILDREN: i64 = 20;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::ProjectAccessDenied];
    const GET: &[Code] = &[Code::WikiEntryNotFound, Code::WikiEntryAccessDenied];
    const CREATE: &[Code] = &[
        Code::WorkspaceNotFound,
        Code::WorkspaceAccessDenied,
        Code::ProjectNotFound,
        Code::AgentNotFound,
        Code::AgentNotOrganizationLevel,
        Code::WikiEntrySlugAlreadyExists,
    ];
    const UPDATE: &[Code] = &[
        Code::WikiEntryNotFound,
        Code::WikiEntryAccessDenied,
        Code::WikiEntryNotCurrent,
        Code::ProjectNotFound,
        Code::AgentNotFound,
    ];
    const DECIDE: &[Code] = &[
        Code::WikiEntryNotFound,
        Code::WikiEntryAccessDenied,
        Code::WikiEntryAlreadyApproved,
        Code::WikiEntryAlreadyRejected,
        Code::WikiEntryNotCurrent,
    ];
    ApiRouter::new()
        .api_route("/wiki.list", get_with(list, route("wiki", "The entries of a wiki; finds words and tags", LIST)))
        .api_route("/wiki.get", get_with(get, route("wiki", "One version of an entry; counts as a view", GET)))
        .api_route("/wiki.create", post_with(create, route("wiki", "Propose an entry", CREATE)))
        .api_route("/wiki.update", put_with(update, route("wiki", "Propose the next version of an entry", UPDATE)))
        .api_route("/wiki.approve", post_with(approve, route("wiki", "Make a version the current one", DECIDE)))
        .api_route("/wiki.reject", post_with(reject, route("wiki", "Turn a version down", DECIDE)))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListEntries>) -> SeenAt<ManyEntries> {
    let about = Subject::Workspace(look.input.workspace_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, entries::NAME]).await?;
    let (by, asked) = (look.by, look.input);
    let workspace = scene.live_workspace_in_reach(&by, WorkspaceId(asked.workspace_id)).await?;
    let project = asked.project_id.map(|id| by.project_asked(Some(ProjectId(id)))).transpose()?.flatten();
    let (limit, offset) = (asked.limit.unwrap_or(entries::LONGEST_LIST), asked.offset.unwrap_or(0));
    let found = match asked.filter(workspace.id, project) {
        Some(filter) => entries::list(&scene.views, &filter, limit, offset).await?,
        None => vec![],
    };
    Ok(ShownAt::new(&scene, &ManyEntries { entries: found.into_iter().map(|it| scene.entry_body(it)).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetEntry>) -> SeenAt<EntryDetails> {
    let about = Subject::WikiEntry(look.input.id);
    let scene = app.scene(&look, about, &[workspaces::NAME, agents::NAME, entries::NAME]).await?;
    let found = scene.wiki_entry_in_reach(&look.by, WikiEntryId(look.input.id)).await?;
    if scene.is_live() {
        // Whoever looks at the past changes nothing, not even this.
        app.wiki_views.note(found.id, app.clock.now());
    }
    Ok(ShownAt::new(&scene, &scene.entry_details(found).await?))
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Caller, CreateEntry>,
) -> Result<Answer<OneEntry>, ApiError> {
    let entry = wiki::ProposeEntry {
        entry_id: WikiEntryId(Uuid::now_v7()),
        workspace_id: WorkspaceId(input.workspace_id),
        project_id: input.project_id.map(ProjectId),
        by: author(&by),
        level: None,
        title: input.title,
        slug: slug(input.slug)?,
        content: input.content,
        tags: input.tags.unwrap_or_default(),
        now: context.now,
    };
    let done = app.run(&context, &command::ProposeEntry { entry }).await?;
    app.entry_answer(&done).await
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Caller, UpdateEntry>,
) -> Result<Answer<OneEntry>, ApiError> {
    let propose = command::ProposeNextVersion {
        by: author(&by),
        entry_id: WikiEntryId(Uuid::now_v7()),
        parent_entry_id: WikiEntryId(input.id),
        title: input.title,
        content: input.content,
        tags: input.tags,
        now: context.now,
    };
    let done = app.run(&context, &propose).await?;
    app.entry_answer(&done).await
}

async fn approve(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, ApproveEntry>,
) -> Result<Answer<OneEntry>, ApiError> {
    let approve = command::ApproveEntry { by: by.user_id, entry_id: WikiEntryId(input.id) };
    let done = app.run(&context, &approve).await?;
    app.entry_answer(&done).await
}

async fn reject(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, RejectEntry>,
) -> Result<Answer<OneEntry>, ApiError> {
    let reject = command::RejectEntry { by: by.user_id, entry_id: WikiEntryId(input.id), reason: input.reason };
    let done = app.run(&context, &reject).await?;
    app.entry_answer(&done).await
}

fn author(by: &Caller) -> Author {
    match by {
        Caller::Owner(owner) => Author::User(owner.user_id),
        Caller::Agent(agent) => Author::Agent(agent.agent_id),
    }
}

impl App {
    async fn entry_answer(&self, done: &Done<WikiEntryId>) -> Result<Answer<OneEntry>, ApiError> {
        let shown: Option<WikiEntryView> = self.shown(done, done.outcome.0).await?;
        // A repeat gets what the first answer said, whoever has read the entry since.
        let body = |it: WikiEntryView| if done.replayed { it.into() } else { self.now().entry_body(it) };
        Ok(Answer::of(done, shown.map(|it| OneEntry { entry: body(it) })))
    }
}

impl Scene<'_> {
    /// An entry with who wrote and approved it, and its versions before and after.
    async fn entry_details(&self, entry: WikiEntryView) -> Result<EntryDetails, ApiError> {
        let author = match entry.proposed_by_agent_id {
            Some(id) => agents::find(&self.views, id).await?,
            None => None,
        };
        let approver = match entry.approved_by {
            Some(id) => self.app.log.accounts().by_id(id.0).await?,
            None => None,
        };
        let parent = match entry.parent_entry_id {
            Some(id) => entries::find(&self.views, id).await?,
            None => None,
        };
        let children = entries::children(&self.views, entry.id, MOST_CHILDREN).await?;
        Ok(EntryDetails {
            author: author.map(Into::into),
            approver: approver.map(Into::into),
            parent_entry: parent.map(|it| self.entry_body(it)),
            child_entries: children.into_iter().map(|it| self.entry_body(it)).collect(),
            entry: self.entry_body(entry),
        })
    }

    /// An entry as it is shown: with the views that this node has not told the log of yet.
    fn entry_body(&self, mut entry: WikiEntryView) -> EntryBody {
        if let Some(views) = self.app.wiki_views.of(entry.id).filter(|_| self.is_live()) {
            entry.view_count += views.count;
            entry.last_viewed_at = entry.last_viewed_at.max(Some(views.last));
        }
        entry.into()
    }
}
