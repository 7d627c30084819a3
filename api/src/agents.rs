//! Agents: routes, and the bodies that go in and out.

mod bodies;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{delete_with, get_with, post_with, put_with};
use axum::body::Bytes;
use axum::extract::State;
use commands::agent::{self as command, NewKey};
use domain::agent::{self, AgentError};
use domain::{AgentId, CredentialId, ProjectId, WorkspaceId};
use projections::agent_profile::{self, AgentProfile};
use projections::agents::{self, AgentView, Filter};
use projections::{scorecards, sessions, workspaces};
use serde_json::json;
use uuid::Uuid;

pub(crate) use bodies::{AgentBody, AgentStatus};
use bodies::{
    AgentDetails, AgentWithKey, CreateAgent, Credentials, DeleteAgent, GetAgent, ListAgents, ManyAgents, OneAgent,
    RotateCredentials, UpdateAgent, agent_code,
};

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt, json_of};
use crate::auth::keys::AgentKey;
use crate::auth::{Caller, Owner, Success};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, AskByQuery, LookBack};
use crate::openapi::route;
use crate::past::{Scene, Subject};
use crate::scores::RECENT_KPIS;
use crate::still_true::HasBytes;
use crate::workspaces::LONGEST_LIST;

/// The most sessions that `agent.get` shows.
const RECENT_SESSIONS: i64 = 10;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::ProjectAccessDenied];
    const GET: &[Code] = &[Code::AgentNotFound, Code::AgentAccessDenied];
    const CREATE: &[Code] = &[
        Code::WorkspaceNotFound,
        Code::WorkspaceAccessDenied,
        Code::ProjectNotFound,
        Code::AgentNotFound,
        Code::AgentCodeAlreadyExists,
        Code::AgentInvalidLevel,
    ];
    const DELETE: &[Code] =
        &[Code::AgentNotFound, Code::AgentAccessDenied, Code::AgentHasActiveSession, Code::AgentHasAssignedTasks];
    const UPDATE: &[Code] = &[Code::AgentNotFound, Code::AgentAccessDenied, Code::ProjectNotFound];
    ApiRouter::new()
        .api_route("/agent.list", get_with(list, route("agents", "A workspace's agents", LIST)))
        .api_route("/agent.get", get_with(get, route("agents", "One agent", GET)))
        .api_route("/agent.create", post_with(create, route("agents", "Take on an agent; shows its key once", CREATE)))
        .api_route("/agent.update", put_with(update, route("agents", "Change an agent", UPDATE)))
        .api_route("/agent.rotateCredentials", post_with(rotate, route("agents", "Give an agent a new key", GET)))
        .api_route("/agent.delete", delete_with(delete, route("agents", "Remove an agent", DELETE)))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListAgents>) -> SeenAt<ManyAgents> {
    let about = Subject::Workspace(look.input.workspace_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, agents::NAME]).await?;
    let asked = look.input;
    let workspace = scene.live_workspace_in_reach(&look.by, WorkspaceId(asked.workspace_id)).await?;
    let filter = Filter {
        workspace: workspace.id,
        project: look.by.project_asked(asked.project_id.map(ProjectId))?,
        level: asked.agent_level.map(Into::into),
        status: asked.status.map(Into::into),
    };
    let (limit, offset) = (asked.limit.unwrap_or(LONGEST_LIST), asked.offset.unwrap_or(0));
    let found = agents::list(&scene.views, &filter, limit, offset).await?;
    Ok(ShownAt::new(&scene, &ManyAgents { agents: found.into_iter().map(Into::into).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetAgent>) -> SeenAt<AgentDetails> {
    let read_models = [workspaces::NAME, agents::NAME, scorecards::NAME, sessions::NAME];
    let scene = app.scene(&look, Subject::Agent(look.input.id), &read_models).await?;
    let no_agent = || ApiError::new(Code::AgentNotFound, "the agent does not exist");
    let page = scene.agent_page(AgentId(look.input.id)).await?.ok_or_else(no_agent)?;
    scene.admit_to_agent(&look.by, page.workspace, page.project).await?;
    if page.is_deleted && !look.input.include_deleted {
        return Err(no_agent());
    }
    Ok(ShownAt::text(&scene, page.json))
}

/// An agent as `agent.get` shows it, with what decides who may see it.
#[derive(Clone)]
pub(crate) struct AgentPage {
    workspace: WorkspaceId,
    project: Option<ProjectId>,
    is_deleted: bool,
    json: Bytes,
}

impl HasBytes for AgentPage {
    fn bytes(&self) -> usize {
        self.json.len()
    }
}

impl Scene<'_> {
    async fn agent_page(&self, id: AgentId) -> Result<Option<AgentPage>, ApiError> {
        let app = self.app;
        let stand = app.engine.stand(&[agents::NAME, scorecards::NAME, sessions::NAME]).filter(|_| self.is_live());
        if let Some(page) = app.agent_pages.get(&id, stand) {
            return Ok(Some(page));
        }
        let found = agent_profile::find(&self.views, id, RECENT_KPIS, RECENT_SESSIONS).await?;
        let Some(AgentProfile { agent, kpis, sessions }) = found else { return Ok(None) };
        let (workspace, project, is_deleted) = (agent.workspace_id, agent.project_id, agent.deleted_at.is_some());
        let recent_kpis = kpis.into_iter().map(Into::into).collect();
        let recent_sessions = sessions.into_iter().map(Into::into).collect();
        let json = json_of(&AgentDetails { agent: agent.into(), recent_kpis, recent_sessions });
        let page = AgentPage { workspace, project, is_deleted, json };
        app.agent_pages.keep(id, stand, page.clone());
        Ok(Some(page))
    }
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CreateAgent>,
) -> Result<Answer<AgentWithKey>, ApiError> {
    let code = agent_code(input.agent_code)?;
    let key = AgentKey::generate(WorkspaceId(input.workspace_id), &code);
    let agent = agent::CreateAgent {
        agent_id: AgentId(Uuid::now_v7()),
        workspace_id: WorkspaceId(input.workspace_id),
        project_id: input.project_id.map(ProjectId),
        level: input.agent_level.into(),
        code: code.clone(),
        name: input.name,
        role_title: input.role_title,
        capabilities: input.capabilities.unwrap_or_default(),
        settings: input.settings.unwrap_or_default(),
        supervisor_agent_id: input.supervisor_agent_id.map(AgentId),
        credential_id: CredentialId(Uuid::now_v7()),
        now: context.now,
    };
    let key_hash = app.hash_key(key.text());
    let done = app.run(&context, &command::CreateAgent { by: by.user_id, agent, key_hash }).await?;
    let shown: Option<AgentView> = app.shown(&done, done.outcome.0).await?;
    Ok(with_key(&done, shown, key, code.as_ref()))
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, UpdateAgent>,
) -> Result<Answer<OneAgent>, ApiError> {
    let change = agent::ChangeAgent {
        name: input.name,
        role_title: input.role_title,
        capabilities: input.capabilities,
        settings: input.settings,
        supervisor_agent_id: input.supervisor_agent_id.map(AgentId),
        status: input.status.map(Into::into),
        now: context.now,
    };
    let change = command::ChangeAgent { by: by.user_id, agent_id: AgentId(input.id), change };
    let done = app.run(&context, &change).await?;
    let shown: Option<AgentView> = app.shown(&done, done.outcome.0).await?;
    Ok(Answer::of(&done, shown.map(|it| OneAgent { agent: it.into() })))
}

async fn rotate(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, RotateCredentials>,
) -> Result<Answer<AgentWithKey>, ApiError> {
    // The key carries the agent's code and workspace, and neither ever changes.
    let agent: Option<AgentView> = app.as_of(input.id, i64::MAX).await?;
    let agent = agent.ok_or(AgentError::NotFound)?;
    let key = AgentKey::generate(agent.workspace_id, &agent.agent_code);
    let new_key = NewKey { credential_id: CredentialId(Uuid::now_v7()), key_hash: app.hash_key(key.text()) };
    let rotate = command::RotateCredentials { by: by.user_id, agent_id: agent.id, key: new_key };
    let done = app.run(&context, &rotate).await?;
    let shown: Option<AgentView> = app.shown(&done, done.outcome.0).await?;
    Ok(with_key(&done, shown, key, agent.agent_code.as_ref()))
}

async fn delete(
    State(app): State<Arc<App>>,
    AskByQuery(Ask { by, input, context: around }): AskByQuery<Owner, DeleteAgent>,
) -> Result<Answer<Success>, ApiError> {
    let delete = command::DeleteAgent { by: by.user_id, agent_id: AgentId(input.id) };
    let done = app.run(&around, &delete).await?;
    Ok(Answer::of(&done, Some(Success { success: true })))
}

/// The agent and its new key. A repeat gets no key: the one that was made then is not known any more.
fn with_key(
    done: &commands::Done<AgentId>,
    shown: Option<AgentView>,
    key: AgentKey,
    agent_code: &str,
) -> Answer<AgentWithKey> {
    let api_key = (!done.replayed).then(|| key.text().to_owned());
    let credentials = Credentials { agent_id: done.outcome.0, api_key, agent_code: agent_code.to_owned() };
    // A key is told even when the agent cannot be shown yet: it is never told again.
    let otherwise = json!({ "credentials": credentials });
    Answer::of_or(done, shown.map(|it| AgentWithKey { agent: it.into(), credentials }), otherwise)
}
