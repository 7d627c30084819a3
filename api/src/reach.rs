//! Reach: what a caller may look at. An owner their workspaces, an agent its workspace, a project agent its project.

use domain::{AgentId, ProjectId, SessionId, TaskId, WikiEntryId, WorkspaceId};
use projections::agents::{self, AgentView};
use projections::projects::{self, ProjectView};
use projections::sessions::{self, SessionView};
use projections::tasks::{self, TaskView};
use projections::timeline::Found;
use projections::wiki::{self, WikiEntryView};
use projections::workspaces::{self, WorkspaceView};

use crate::App;
use crate::auth::Caller;
use crate::code::Code;
use crate::error::ApiError;
use crate::past::Scene;

/// The most workspaces that one query looks through.
const MOST_WORKSPACES: i64 = 1_000;

impl Scene<'_> {
    /// A workspace that the caller may look into.
    pub(crate) async fn workspace_in_reach(&self, by: &Caller, id: WorkspaceId) -> Result<WorkspaceView, ApiError> {
        let found = workspaces::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::WorkspaceNotFound, "the workspace does not exist"))?;
        let within = match by {
            Caller::Owner(owner) => found.owner_id == owner.user_id,
            Caller::Agent(agent) => found.id == agent.workspace_id,
        };
        if within { Ok(found) } else { Err(ApiError::new(Code::WorkspaceAccessDenied, "the workspace is not yours")) }
    }

    /// A workspace in use that the caller may look into.
    pub(crate) async fn live_workspace_in_reach(
        &self,
        by: &Caller,
        id: WorkspaceId,
    ) -> Result<WorkspaceView, ApiError> {
        let found = self.workspace_in_reach(by, id).await?;
        let gone = || ApiError::new(Code::WorkspaceNotFound, "the workspace does not exist");
        if found.deleted_at.is_some() { Err(gone()) } else { Ok(found) }
    }

    /// A project that the caller may look at.
    pub(crate) async fn project_in_reach(&self, by: &Caller, id: ProjectId) -> Result<ProjectView, ApiError> {
        let found = projects::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::ProjectNotFound, "the project does not exist"))?;
        if self.app.reaches(by, found.workspace_id, Some(found.id)).await? {
            return Ok(found);
        }
        Err(ApiError::new(Code::ProjectAccessDenied, "the project is out of your reach"))
    }

    /// An agent that the caller may look at.
    pub(crate) async fn agent_in_reach(&self, by: &Caller, id: AgentId) -> Result<AgentView, ApiError> {
        let found = agents::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::AgentNotFound, "the agent does not exist"))?;
        self.admit_to_agent(by, found.workspace_id, found.project_id).await?;
        Ok(found)
    }

    /// Refuses a caller who may not look at an agent.
    pub(crate) async fn admit_to_agent(
        &self,
        by: &Caller,
        workspace: WorkspaceId,
        project: Option<ProjectId>,
    ) -> Result<(), ApiError> {
        if self.app.reaches(by, workspace, project).await? {
            return Ok(());
        }
        Err(ApiError::new(Code::AgentAccessDenied, "the agent is out of your reach"))
    }

    /// A session that the caller may look at.
    pub(crate) async fn session_in_reach(&self, by: &Caller, id: SessionId) -> Result<SessionView, ApiError> {
        let found = sessions::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::SessionNotFound, "the session does not exist"))?;
        if self.app.reaches(by, found.workspace_id, Some(found.project_id)).await? {
            return Ok(found);
        }
        Err(ApiError::new(Code::SessionAccessDenied, "the session is out of your reach"))
    }

    /// A task that the caller may look at.
    pub(crate) async fn task_in_reach(&self, by: &Caller, id: TaskId) -> Result<TaskView, ApiError> {
        let found = tasks::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::TaskNotFound, "the task does not exist"))?;
        let denied = || ApiError::new(Code::TaskAccessDenied, "the task is out of your reach");
        if !self.app.reaches(by, found.workspace_id, Some(found.project_id)).await? {
            return Err(denied());
        }
        if let Some(post) = self.app.posting_of_caller(by).await? {
            let is_own = post.task_id == Some(found.id);
            let tool = if is_own { "mcp__agent__get_task" } else { "mcp__epic__list_tasks" };
            self.app.admit_to_tool(by, tool).await?;
            let epic = found.factory.as_ref().map(|it| it.epic_id);
            if !is_own && epic != post.epic_id {
                return Err(denied());
            }
        }
        Ok(found)
    }

    /// A wiki entry that the caller may look at: the wiki of the whole workspace is for all of its agents.
    pub(crate) async fn wiki_entry_in_reach(&self, by: &Caller, id: WikiEntryId) -> Result<WikiEntryView, ApiError> {
        let found = wiki::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::WikiEntryNotFound, "the wiki entry does not exist"))?;
        let own_project = match by {
            Caller::Agent(agent) => agent.project_id,
            Caller::Owner(_) => None,
        };
        if self.app.reaches(by, found.workspace_id, found.project_id.or(own_project)).await? {
            return Ok(found);
        }
        Err(ApiError::new(Code::WikiEntryAccessDenied, "the wiki entry is out of your reach"))
    }

    /// Whether the caller may look at a timeline entry.
    pub(crate) async fn entry_in_reach(&self, by: &Caller, found: &Found) -> Result<bool, ApiError> {
        self.app.reaches(by, found.workspace_id, found.project_id).await
    }

    /// Every workspace whose timeline the caller may read: also deleted ones, for their history is the caller's too.
    pub(crate) async fn workspaces_in_reach(&self, by: &Caller) -> Result<Vec<WorkspaceId>, ApiError> {
        match by {
            Caller::Owner(owner) => {
                let owned = workspaces::list_owned(&self.views, owner.user_id, true, MOST_WORKSPACES, 0).await?;
                Ok(owned.into_iter().map(|it| it.id).collect())
            }
            Caller::Agent(agent) => Ok(vec![agent.workspace_id]),
        }
    }
}

impl App {
    /// Whether the caller may look into a project, or, without one, at what is the whole workspace's.
    pub(crate) async fn reaches(
        &self,
        by: &Caller,
        workspace: WorkspaceId,
        project: Option<ProjectId>,
    ) -> Result<bool, ApiError> {
        match by {
            Caller::Owner(owner) => {
                if let Some(known) = self.owners.get(&workspace) {
                    return Ok(known == owner.user_id);
                }
                let Some(found) = workspaces::find(&self.views, workspace).await? else { return Ok(false) };
                self.owners.insert(workspace, found.owner_id);
                Ok(found.owner_id == owner.user_id)
            }
            Caller::Agent(agent) => {
                let within_project = agent.project_id.is_none() || agent.project_id == project;
                Ok(agent.workspace_id == workspace && within_project)
            }
        }
    }
}

impl Caller {
    /// The project that a query is about: a project agent asks only for its own, whether it says so or not.
    pub(crate) fn project_asked(&self, asked: Option<ProjectId>) -> Result<Option<ProjectId>, ApiError> {
        let Self::Agent(agent) = self else { return Ok(asked) };
        match (agent.project_id, asked) {
            (Some(own), Some(asked)) if own != asked => {
                Err(ApiError::new(Code::ProjectAccessDenied, "the project is out of your reach"))
            }
            (Some(own), _) => Ok(Some(own)),
            (None, asked) => Ok(asked),
        }
    }
}
