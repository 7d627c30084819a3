//! A small fleet made with real commands: an owner, a workspace, projects and agents.

use std::sync::Arc;

use commands::agent::{ChangeAgent, CreateAgent, DeleteAgent};
use commands::project::CreateProject;
use commands::task::{AssignTask, CreateTask};
use commands::{Actor, CommandError, Context, Done, Executor, On};
use domain::agent::{AgentLevel, AgentStatus};
use domain::task::GithubIssue;
use domain::workspace::{ChangeWorkspace, CreateWorkspace, Workspace, WorkspaceCommand};
use domain::{AgentCode, AgentId, ProjectId, Settings, Slug, TaskId, UserId, WorkspaceId};
use store::EventLog;
use uuid::Uuid;

use crate::stores::noon;

/// An executor, and a user to give commands as.
pub struct Fleet {
    /// Runs the commands.
    pub executor: Arc<Executor>,
    /// Owns what is made.
    pub owner: UserId,
}

impl Fleet {
    /// A fleet of a new owner on a log.
    pub fn on(log: Arc<EventLog>) -> Self {
        Self { executor: Arc::new(Executor::new(log)), owner: new() }
    }

    /// The same owner on another node.
    pub fn elsewhere(&self, log: Arc<EventLog>) -> Self {
        Self { executor: Arc::new(Executor::new(log)), owner: self.owner }
    }

    /// A command by the owner.
    pub fn context(&self) -> Context {
        Context::new(Actor::User(self.owner), noon())
    }

    /// Makes a workspace.
    pub async fn workspace(&self, slug: &str) -> Result<WorkspaceId, CommandError> {
        let id = new();
        self.executor.run(&self.context(), &create_workspace(id, self.owner, slug)).await?;
        Ok(id)
    }

    /// Gives a workspace another name.
    pub async fn rename(&self, id: WorkspaceId, name: &str) -> Result<Done<Uuid>, CommandError> {
        self.executor.run(&self.context(), &rename_workspace(id, self.owner, name)).await
    }

    /// Makes a project.
    pub async fn project(&self, workspace_id: WorkspaceId, slug: &str) -> Result<ProjectId, CommandError> {
        let project = domain::project::CreateProject {
            project_id: new(),
            workspace_id,
            name: slug.to_owned(),
            slug: Slug::parse(slug).expect("a slug"),
            description: None,
            repository_url: None,
            github_installation_id: None,
            mvp_document_url: None,
            now: noon(),
        };
        let done = self.executor.run(&self.context(), &CreateProject { by: self.owner, project }).await?;
        Ok(done.outcome)
    }

    /// Takes on an agent; of the whole organization without a project.
    pub async fn agent(
        &self,
        workspace_id: WorkspaceId,
        project_id: Option<ProjectId>,
        code: &str,
        supervisor_agent_id: Option<AgentId>,
    ) -> Result<AgentId, CommandError> {
        let agent = domain::agent::CreateAgent {
            agent_id: new(),
            workspace_id,
            project_id,
            level: if project_id.is_some() { AgentLevel::Project } else { AgentLevel::Organization },
            code: AgentCode::parse(code).expect("an agent code"),
            name: code.to_owned(),
            role_title: "Developer".to_owned(),
            capabilities: vec![],
            settings: Settings::new(),
            supervisor_agent_id,
            credential_id: new(),
            now: noon(),
        };
        let command = CreateAgent { by: self.owner, agent, key_hash: code.as_bytes().to_vec() };
        Ok(self.executor.run(&self.context(), &command).await?.outcome)
    }

    /// Gives an agent another status.
    pub async fn set_status(&self, agent_id: AgentId, status: AgentStatus) -> Result<(), CommandError> {
        let change = domain::agent::ChangeAgent {
            name: None,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            status: Some(status),
            now: noon(),
        };
        let command = ChangeAgent { by: self.owner, agent_id, change };
        self.executor.run(&self.context(), &command).await.map(drop)
    }

    /// Adds a task to a project's backlog.
    pub async fn task(&self, project_id: ProjectId, github_issue: Option<GithubIssue>) -> Result<TaskId, CommandError> {
        let command = CreateTask {
            by: self.owner,
            task_id: new(),
            project_id,
            github_issue,
            title: "Add a basket".to_owned(),
            description: None,
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Settings::new(),
        };
        Ok(self.executor.run(&self.context(), &command).await?.outcome)
    }

    /// Gives a task to an agent.
    pub async fn assign(&self, task_id: TaskId, agent_id: AgentId) -> Result<(), CommandError> {
        let command = AssignTask { by: self.owner, task_id, agent_id };
        self.executor.run(&self.context(), &command).await.map(drop)
    }

    /// Removes an agent.
    pub async fn dismiss(&self, agent_id: AgentId) -> Result<i64, CommandError> {
        let command = DeleteAgent { by: self.owner, agent_id };
        Ok(self.executor.run(&self.context(), &command).await?.position)
    }
}

/// A fresh id of any kind.
pub fn new<T: From<Uuid>>() -> T {
    Uuid::now_v7().into()
}

/// The command that makes a workspace.
pub fn create_workspace(id: WorkspaceId, owner: UserId, slug: &str) -> On<Workspace> {
    let create = CreateWorkspace {
        workspace_id: id,
        owner,
        name: slug.to_owned(),
        slug: Slug::parse(slug).expect("a slug"),
        description: None,
        settings: Settings::new(),
        now: noon(),
    };
    On { name: "workspace.create", id: id.0, command: WorkspaceCommand::Create(create) }
}

/// The command that renames a workspace.
pub fn rename_workspace(id: WorkspaceId, by: UserId, name: &str) -> On<Workspace> {
    let change =
        ChangeWorkspace { by, name: Some(name.to_owned()), slug: None, description: None, settings: None, now: noon() };
    On { name: "workspace.update", id: id.0, command: WorkspaceCommand::Change(change) }
}
