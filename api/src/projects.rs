//! Projects: routes, and the bodies that go in and out.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{delete_with, get_with, post_with, put_with};
use axum::extract::State;
use chrono::{DateTime, Utc};
use commands::project::{self as command, ManageProject};
use domain::project::{self, ProjectCommand};
use domain::{ProjectId, RepositoryUrl, WorkspaceId};
use projections::projects::{self, ProjectView};
use projections::workspaces;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{Caller, Owner, Success};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, AskByQuery, LookBack, without_nulls};
use crate::openapi::route;
use crate::past::Subject;
use crate::workspaces::{LONGEST_LIST, slug};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ListProjects {
    workspace_id: Uuid,
    /// Also those that are not worked on.
    #[serde(default)]
    include_inactive: bool,
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
struct GetProject {
    id: Uuid,
    /// Also if it was deleted.
    #[serde(default)]
    include_deleted: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct CreateProject {
    workspace_id: Uuid,
    #[schemars(length(min = 1, max = 255))]
    name: String,
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    slug: String,
    description: Option<String>,
    #[schemars(url, length(max = 2048), regex(pattern = r"^(https?|ssh|git)://"))]
    repository_url: Option<String>,
    #[schemars(range(min = -9007199254740991_i64, max = 9007199254740991_i64))]
    github_installation_id: Option<Whole>,
    #[schemars(url, length(max = 2048), regex(pattern = r"^https?://"))]
    mvp_document_url: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct UpdateProject {
    id: Uuid,
    #[schemars(length(min = 1, max = 255))]
    name: Option<String>,
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    slug: Option<String>,
    description: Option<String>,
    #[schemars(url, length(max = 2048), regex(pattern = r"^(https?|ssh|git)://"))]
    repository_url: Option<String>,
    #[schemars(range(min = -9007199254740991_i64, max = 9007199254740991_i64))]
    github_installation_id: Option<Whole>,
    #[schemars(url, length(max = 2048), regex(pattern = r"^https?://"))]
    mvp_document_url: Option<String>,
    is_active: Option<bool>,
}

/// A whole number, also when it is written `7.0`: JSON knows no difference.
#[derive(Deserialize, JsonSchema)]
#[serde(from = "f64")]
#[schemars(inline, with = "i64")]
pub(crate) struct Whole(pub(crate) i64);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct DeleteProject {
    id: Uuid,
}

/// One body of work in a workspace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Project")]
pub(crate) struct ProjectBody {
    id: Uuid,
    workspace_id: Uuid,
    name: String,
    slug: String,
    description: Option<String>,
    repository_url: Option<String>,
    github_installation_id: Option<i64>,
    mvp_document_url: Option<String>,
    is_active: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    /// Only of one that was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
struct OneProject {
    project: ProjectBody,
}

#[derive(Serialize, JsonSchema)]
struct ManyProjects {
    projects: Vec<ProjectBody>,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied];
    const GET: &[Code] = &[Code::ProjectNotFound, Code::ProjectAccessDenied];
    const TAKEN: &[Code] = &[Code::ProjectSlugAlreadyExists, Code::ProjectRepositoryAlreadyLinked];
    const CREATE: &[&[Code]] = &[LIST, TAKEN, &[Code::ProjectInvalidGithubInstallation]];
    const UPDATE: &[&[Code]] = &[GET, TAKEN, &[Code::ProjectInvalidGithubInstallation]];
    const DELETE: &[Code] =
        &[Code::ProjectNotFound, Code::ProjectAccessDenied, Code::ProjectHasActiveAgents, Code::ProjectHasActiveTasks];
    let (create_codes, update_codes) = (CREATE.concat(), UPDATE.concat());
    ApiRouter::new()
        .api_route("/project.list", get_with(list, route("projects", "A workspace's projects", LIST)))
        .api_route("/project.get", get_with(get, route("projects", "One project", GET)))
        .api_route("/project.create", post_with(create, route("projects", "Start a project", &create_codes)))
        .api_route("/project.update", put_with(update, route("projects", "Change a project", &update_codes)))
        .api_route("/project.delete", delete_with(delete, route("projects", "Close a project", DELETE)))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListProjects>) -> SeenAt<ManyProjects> {
    let about = Subject::Workspace(look.input.workspace_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, projects::NAME]).await?;
    let ListProjects { workspace_id, include_inactive, include_deleted, limit, offset } = look.input;
    let workspace = scene.live_workspace_in_reach(&look.by, WorkspaceId(workspace_id)).await?;
    let (limit, offset) = (limit.unwrap_or(LONGEST_LIST), offset.unwrap_or(0));
    let found = match look.by.project_asked(None)? {
        None => projects::list(&scene.views, workspace.id, include_inactive, include_deleted, limit, offset).await?,
        Some(own) => {
            let wanted = |it: &ProjectView| {
                (include_inactive || it.is_active) && (include_deleted || it.deleted_at.is_none()) && offset == 0
            };
            projects::find(&scene.views, own).await?.filter(wanted).into_iter().collect()
        }
    };
    Ok(ShownAt::new(&scene, &ManyProjects { projects: found.into_iter().map(Into::into).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetProject>) -> SeenAt<OneProject> {
    let scene = app.scene(&look, Subject::Project(look.input.id), &[workspaces::NAME, projects::NAME]).await?;
    let found = scene.project_in_reach(&look.by, ProjectId(look.input.id)).await?;
    if found.deleted_at.is_some() && !look.input.include_deleted {
        return Err(ApiError::new(Code::ProjectNotFound, "the project does not exist"));
    }
    Ok(ShownAt::new(&scene, &OneProject { project: found.into() }))
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CreateProject>,
) -> Result<Answer<OneProject>, ApiError> {
    let project = project::CreateProject {
        project_id: ProjectId(Uuid::now_v7()),
        workspace_id: WorkspaceId(input.workspace_id),
        name: input.name,
        slug: slug(input.slug)?,
        description: input.description,
        repository_url: input.repository_url.map(RepositoryUrl::new),
        github_installation_id: input.github_installation_id.map(|it| it.0),
        mvp_document_url: input.mvp_document_url,
        now: context.now,
    };
    let done = app.run(&context, &command::CreateProject { by: by.user_id, project }).await?;
    let shown: Option<ProjectView> = app.shown(&done, done.outcome.0).await?;
    Ok(Answer::of(&done, shown.map(|it| OneProject { project: it.into() })))
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, UpdateProject>,
) -> Result<Answer<OneProject>, ApiError> {
    let command = ProjectCommand::Change(project::ChangeProject {
        name: input.name,
        slug: input.slug.map(slug).transpose()?,
        description: input.description,
        repository_url: input.repository_url.map(RepositoryUrl::new),
        github_installation_id: input.github_installation_id.map(|it| it.0),
        mvp_document_url: input.mvp_document_url,
        is_active: input.is_active,
        now: context.now,
    });
    let manage = ManageProject { by: by.user_id, project_id: ProjectId(input.id), command };
    let done = app.run(&context, &manage).await?;
    let shown: Option<ProjectView> = app.shown(&done, done.outcome.0).await?;
    Ok(Answer::of(&done, shown.map(|it| OneProject { project: it.into() })))
}

async fn delete(
    State(app): State<Arc<App>>,
    AskByQuery(Ask { by, input, context }): AskByQuery<Owner, DeleteProject>,
) -> Result<Answer<Success>, ApiError> {
    let command = ProjectCommand::Delete(project::DeleteProject { now: context.now });
    let manage = ManageProject { by: by.user_id, project_id: ProjectId(input.id), command };
    let done = app.run(&context, &manage).await?;
    Ok(Answer::of(&done, Some(Success { success: true })))
}

impl From<f64> for Whole {
    fn from(number: f64) -> Self {
        // The schema lets only whole numbers through, and of those only ones that a float holds exactly.
        Self(number as i64)
    }
}

impl From<ProjectView> for ProjectBody {
    fn from(it: ProjectView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            name: it.name,
            slug: it.slug.to_string(),
            description: it.description,
            repository_url: it.repository_url.map(|it| it.to_string()),
            github_installation_id: it.github_installation_id,
            mvp_document_url: it.mvp_document_url,
            is_active: it.is_active,
            created_at: it.created_at,
            updated_at: it.updated_at,
            deleted_at: it.deleted_at,
        }
    }
}
