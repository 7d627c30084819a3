//! The means to tell a story to the log: one method per thing that people do.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use commands::agent::{self as agents, NewKey};
use commands::project::{CreateProject, ManageProject};
use commands::user::SignUp;
use commands::{Actor, Context, Decision, New};
use domain::agent::{AgentLevel, AgentStatus, ChangeAgent};
use domain::project::{ChangeProject, ProjectCommand};
use domain::workspace::{CreateWorkspace, Workspace, WorkspaceCommand};
use domain::{AgentCode, AgentId, ProjectId, RepositoryUrl, Settings, Slug, UserId, WorkspaceId};
use store::{Account, Clock, SignInSession};
use uuid::Uuid;

use crate::App;
use crate::keys::AgentKey;
use crate::passwords;

/// Tells what happened, when it happened.
pub(super) struct Story<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) clock: &'a Clock,
    beginning: DateTime<Utc>,
}

/// How an agent is introduced.
pub(super) struct Role {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) capabilities: &'static [&'static str],
    pub(super) project: Option<ProjectId>,
    pub(super) supervisor: Option<AgentId>,
}

impl<'a> Story<'a> {
    pub(super) fn new(app: &'a Arc<App>, clock: &'a Clock, beginning: DateTime<Utc>) -> Self {
        Self { app, clock, beginning }
    }

    /// Sets the scene: so many days in, at a time of day.
    pub(super) fn at(&self, day: i64, hour: i64, minute: i64) {
        let time = self.beginning + TimeDelta::days(day) + TimeDelta::hours(hour) + TimeDelta::minutes(minute);
        // Nothing of the story lies in the future.
        self.clock.set(time.min(Utc::now()));
    }

    /// Lets time pass.
    pub(super) fn later(&self, time: TimeDelta) {
        self.clock.set((self.clock.now() + time).min(Utc::now()));
    }

    pub(super) async fn owner(&self, email: &str, password: &str, name: &str) -> anyhow::Result<UserId> {
        let now = self.clock.now_micros();
        let user_id = Uuid::now_v7();
        let account = Account {
            user_id,
            email: email.to_owned(),
            name: name.to_owned(),
            avatar_url: None,
            password_hash: Some(passwords::hash(password.to_owned()).await?),
            suspended: false,
            created_at: now,
            updated_at: now,
        };
        // Signing up opens a session; nobody has its cookie, and it is long over.
        let session = SignInSession {
            session_id: Uuid::now_v7(),
            user_id,
            token_hash: Uuid::now_v7().into_bytes().to_vec(),
            created_at: now,
            expires_at: now,
        };
        self.tell(user_id.into(), &SignUp { account, session }).await?;
        Ok(user_id.into())
    }

    pub(super) async fn workspace(&self, owner: UserId, name: &str, slug: &str) -> anyhow::Result<WorkspaceId> {
        let id = Uuid::now_v7();
        let create = CreateWorkspace {
            workspace_id: id.into(),
            owner,
            name: name.to_owned(),
            slug: Slug::parse(slug)?,
            description: Some("A small fleet to look around in.".to_owned()),
            settings: Settings::new(),
            now: self.clock.now(),
        };
        let command = New::<Workspace> { name: "workspace.create", id, command: WorkspaceCommand::Create(create) };
        self.tell(owner, &command).await?;
        Ok(id.into())
    }

    pub(super) async fn project(
        &self,
        owner: UserId,
        workspace_id: WorkspaceId,
        name: &str,
        slug: &str,
    ) -> anyhow::Result<ProjectId> {
        let project_id = Uuid::now_v7().into();
        let project = domain::project::CreateProject {
            project_id,
            workspace_id,
            name: name.to_owned(),
            slug: Slug::parse(slug)?,
            description: None,
            repository_url: Some(RepositoryUrl::new(format!("https://github.com/muster-demo/{slug}"))),
            github_installation_id: None,
            mvp_document_url: None,
            now: self.clock.now(),
        };
        self.tell(owner, &CreateProject { by: owner, project }).await?;
        Ok(project_id)
    }

    pub(super) async fn describe(&self, owner: UserId, project_id: ProjectId, text: &str) -> anyhow::Result<()> {
        let change = ChangeProject {
            name: None,
            slug: None,
            description: Some(text.to_owned()),
            repository_url: None,
            github_installation_id: None,
            mvp_document_url: None,
            is_active: None,
            now: self.clock.now(),
        };
        let command = ProjectCommand::Change(change);
        self.tell(owner, &ManageProject { by: owner, project_id, command }).await
    }

    pub(super) async fn hire(&self, owner: UserId, workspace_id: WorkspaceId, role: Role) -> anyhow::Result<AgentId> {
        let id: AgentId = Uuid::now_v7().into();
        let code = AgentCode::parse(role.code)?;
        let key = AgentKey::generate(workspace_id, &code).text().to_owned();
        let agent = domain::agent::CreateAgent {
            agent_id: id,
            workspace_id,
            project_id: role.project,
            level: if role.project.is_some() { AgentLevel::Project } else { AgentLevel::Organization },
            code,
            name: role.name.to_owned(),
            role_title: role.title.to_owned(),
            capabilities: role.capabilities.iter().map(ToString::to_string).collect(),
            settings: Settings::new(),
            supervisor_agent_id: role.supervisor,
            credential_id: Uuid::now_v7().into(),
            now: self.clock.now(),
        };
        let key_hash = self.app.hash_key(&key);
        self.tell(owner, &agents::CreateAgent { by: owner, agent, key_hash }).await?;
        Ok(id)
    }

    pub(super) async fn set_status(&self, owner: UserId, agent: AgentId, status: AgentStatus) -> anyhow::Result<()> {
        self.change(owner, agent, ChangeAgent { status: Some(status), ..self.no_change() }).await
    }

    pub(super) async fn teach(&self, owner: UserId, agent: AgentId, capabilities: &[&str]) -> anyhow::Result<()> {
        let capabilities = Some(capabilities.iter().map(ToString::to_string).collect());
        self.change(owner, agent, ChangeAgent { capabilities, ..self.no_change() }).await
    }

    pub(super) async fn promote(&self, owner: UserId, agent: AgentId, title: &str) -> anyhow::Result<()> {
        self.change(owner, agent, ChangeAgent { role_title: Some(title.to_owned()), ..self.no_change() }).await
    }

    /// Gives an agent a new key and returns it.
    pub(super) async fn rotate(
        &self,
        owner: UserId,
        workspace_id: WorkspaceId,
        agent: AgentId,
        code: &str,
    ) -> anyhow::Result<String> {
        let key = AgentKey::generate(workspace_id, &AgentCode::parse(code)?).text().to_owned();
        let new = NewKey { credential_id: Uuid::now_v7().into(), key_hash: self.app.hash_key(&key) };
        self.tell(owner, &agents::RotateCredentials { by: owner, agent_id: agent, key: new }).await?;
        Ok(key)
    }

    pub(super) async fn dismiss(&self, owner: UserId, agent: AgentId) -> anyhow::Result<()> {
        self.tell(owner, &agents::DeleteAgent { by: owner, agent_id: agent }).await
    }

    async fn change(&self, owner: UserId, agent: AgentId, change: ChangeAgent) -> anyhow::Result<()> {
        self.tell(owner, &agents::ChangeAgent { by: owner, agent_id: agent, change }).await
    }

    fn no_change(&self) -> ChangeAgent {
        ChangeAgent {
            name: None,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            status: None,
            now: self.clock.now(),
        }
    }

    pub(super) async fn tell<D: Decision>(&self, actor: UserId, decision: &D) -> anyhow::Result<()> {
        let context = Context::new(Actor::User(actor), self.clock.now());
        self.app.executor.run(&context, decision).await?;
        Ok(())
    }
}
