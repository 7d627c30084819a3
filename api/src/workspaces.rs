//! Workspaces: routes, and the bodies that go in and out.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{delete_with, get_with, post_with, put_with};
use axum::extract::State;
use chrono::{DateTime, Utc};
use commands::workspace::{ChangeWorkspaceAndSeal, CreateWorkspaceSealed};
use commands::{New, On};
use domain::workspace::{self, Workspace, WorkspaceCommand};
use domain::{Settings, Slug, WorkspaceId};
use projections::workspaces::{self, WorkspaceView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::TextKey;
use uuid::Uuid;

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{Caller, Owner, Success};
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::{Ask, AskByQuery, LookBack, without_nulls};
use crate::openapi::route;
use crate::past::Subject;

/// The most items of a list.
pub(crate) const LONGEST_LIST: i64 = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ListWorkspaces {
    /// Also those that were deleted.
    #[serde(default)]
    include_deleted: bool,
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<i64>,
    #[schemars(range(min = 0))]
    offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetWorkspace {
    id: Uuid,
    /// Also if it was deleted.
    #[serde(default)]
    include_deleted: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct CreateWorkspace {
    #[schemars(length(min = 1, max = 255))]
    name: String,
    #[schemars(
        length(max = 255),
        regex(pattern = r"^[a-z0-9-]+$"),
        extend("x-codes" = {"pattern": "WORKSPACE_INVALID_SLUG", "maxLength": "WORKSPACE_INVALID_SLUG"})
    )]
    slug: String,
    description: Option<String>,
    settings: Option<Settings>,
    /// Keep everything that people and agents write in it under a key of its own, which an operator can destroy
    /// (`muster erase`). It cannot be turned off again.
    #[schemars(extend("const" = true))]
    seal_text: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct UpdateWorkspace {
    id: Uuid,
    #[schemars(length(min = 1, max = 255))]
    name: Option<String>,
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    slug: Option<String>,
    description: Option<String>,
    settings: Option<Settings>,
    /// From now on, keep everything that people and agents write in it under a key of its own, which an operator can
    /// destroy (`muster erase`). What was written before stays as it is, and it cannot be turned off again.
    #[schemars(extend("const" = true))]
    seal_text: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct DeleteWorkspace {
    id: Uuid,
}

/// A tenant with its owner.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Workspace")]
pub(crate) struct WorkspaceBody {
    id: Uuid,
    owner_id: Uuid,
    name: String,
    slug: String,
    description: Option<String>,
    settings: Settings,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    /// Since when its text is kept under a key of its own; only where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_sealed_at: Option<DateTime<Utc>>,
    /// When its text was last erased; only where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_erased_at: Option<DateTime<Utc>>,
    /// Only of one that was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
struct OneWorkspace {
    workspace: WorkspaceBody,
}

#[derive(Serialize, JsonSchema)]
struct ManyWorkspaces {
    workspaces: Vec<WorkspaceBody>,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const GET: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied];
    const CREATE: &[Code] = &[Code::WorkspaceSlugAlreadyExists, Code::WorkspaceInvalidSlug];
    const UPDATE: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::WorkspaceSlugAlreadyExists];
    const DELETE: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::WorkspaceNotEmpty];
    ApiRouter::new()
        .api_route("/workspace.list", get_with(list, route("workspaces", "The caller's workspaces", &[])))
        .api_route("/workspace.get", get_with(get, route("workspaces", "One workspace", GET)))
        .api_route("/workspace.create", post_with(create, route("workspaces", "Open a workspace", CREATE)))
        .api_route("/workspace.update", put_with(update, route("workspaces", "Change a workspace", UPDATE)))
        .api_route("/workspace.delete", delete_with(delete, route("workspaces", "Close an empty workspace", DELETE)))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Owner, ListWorkspaces>) -> SeenAt<ManyWorkspaces> {
    let scene = app.scene(&look, Subject::Reach, &[workspaces::NAME]).await?;
    let ListWorkspaces { include_deleted, limit, offset } = look.input;
    let (limit, offset) = (limit.unwrap_or(LONGEST_LIST), offset.unwrap_or(0));
    let owned = workspaces::list_owned(&scene.views, look.by.user_id, include_deleted, limit, offset).await?;
    Ok(ShownAt::new(&scene, &ManyWorkspaces { workspaces: owned.into_iter().map(Into::into).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Owner, GetWorkspace>) -> SeenAt<OneWorkspace> {
    let scene = app.scene(&look, Subject::Workspace(look.input.id), &[workspaces::NAME]).await?;
    let (by, id) = (Caller::Owner(look.by), WorkspaceId(look.input.id));
    let found = match look.input.include_deleted {
        true => scene.workspace_in_reach(&by, id).await?,
        false => scene.live_workspace_in_reach(&by, id).await?,
    };
    Ok(ShownAt::new(&scene, &OneWorkspace { workspace: found.into() }))
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CreateWorkspace>,
) -> Result<Answer<OneWorkspace>, ApiError> {
    let id = Uuid::now_v7();
    let create = workspace::CreateWorkspace {
        workspace_id: id.into(),
        owner: by.user_id,
        name: input.name,
        slug: slug(input.slug)?,
        description: input.description,
        settings: input.settings.unwrap_or_default(),
        now: context.now,
    };
    let done = if input.seal_text == Some(true) {
        app.run(&context, &CreateWorkspaceSealed { create, key: TextKey::generate()? }).await?
    } else {
        let command = WorkspaceCommand::Create(create);
        app.run(&context, &New::<Workspace> { name: "workspace.create", id, command }).await?
    };
    let shown: Option<WorkspaceView> = app.shown(&done, done.outcome).await?;
    Ok(Answer::of(&done, shown.map(|it| OneWorkspace { workspace: it.into() })))
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, UpdateWorkspace>,
) -> Result<Answer<OneWorkspace>, ApiError> {
    let change = workspace::ChangeWorkspace {
        by: by.user_id,
        name: input.name,
        slug: input.slug.map(slug).transpose()?,
        description: input.description,
        settings: input.settings,
        now: context.now,
    };
    let done = if input.seal_text == Some(true) {
        let workspace_id = input.id.into();
        app.run(&context, &ChangeWorkspaceAndSeal { workspace_id, change, key: TextKey::generate()? }).await?
    } else {
        let command = WorkspaceCommand::Change(change);
        app.run(&context, &On::<Workspace> { name: "workspace.update", id: input.id, command }).await?
    };
    let shown: Option<WorkspaceView> = app.shown(&done, done.outcome).await?;
    Ok(Answer::of(&done, shown.map(|it| OneWorkspace { workspace: it.into() })))
}

async fn delete(
    State(app): State<Arc<App>>,
    AskByQuery(Ask { by, input, context }): AskByQuery<Owner, DeleteWorkspace>,
) -> Result<Answer<Success>, ApiError> {
    let command = WorkspaceCommand::Delete(workspace::DeleteWorkspace { by: by.user_id, now: context.now });
    let done = app.run(&context, &On::<Workspace> { name: "workspace.delete", id: input.id, command }).await?;
    Ok(Answer::of(&done, Some(Success { success: true })))
}

/// A text that has the form of a slug by the schema already.
pub(crate) fn slug(text: String) -> Result<Slug, ApiError> {
    Slug::parse(text).map_err(|e| ApiError::validation(vec![BadField::new("slug", e.to_string())]))
}

impl From<WorkspaceView> for WorkspaceBody {
    fn from(it: WorkspaceView) -> Self {
        Self {
            id: it.id.0,
            owner_id: it.owner_id.0,
            name: it.name,
            slug: it.slug.to_string(),
            description: it.description,
            settings: it.settings,
            created_at: it.created_at,
            updated_at: it.updated_at,
            text_sealed_at: it.text_sealed_at,
            text_erased_at: it.text_erased_at,
            deleted_at: it.deleted_at,
        }
    }
}
