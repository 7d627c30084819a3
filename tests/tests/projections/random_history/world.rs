//! The world that the history is about, and the random commands that it is given.

use std::collections::HashMap;

use chrono::TimeDelta;
use domain::agent::*;
use domain::project::*;
use domain::pull_request::PullRequest;
use domain::repository::Repository;
use domain::scorecard::Scorecard;
use domain::session::Session;
use domain::task::{LiveTask, Task};
use domain::wiki::WikiEntry;
use domain::workspace::*;
use domain::{AgentCode, AgentId, CredentialId, ProjectId, RepositoryUrl, ReviewDecision, Slug, UserId, WorkspaceId};
use muster_tests::stores::noon;
use uuid::Uuid;

use super::dice::Dice;
use super::page::{Actor, Page, Stream};

const SEED: u64 = 20_260_301;
const PER_COMMIT: usize = 400;
pub(super) const OWNER: UserId = UserId(Uuid::from_u128(1));
pub(super) const BY_OWNER: Actor = ("user", OWNER.0);
pub(super) const BY_GITHUB: Actor = ("system", Uuid::nil());
const STATUSES: [AgentStatus; 3] = [AgentStatus::Active, AgentStatus::Probation, AgentStatus::Inactive];
pub(super) const REVIEWS: [ReviewDecision; 3] =
    [ReviewDecision::Approve, ReviewDecision::RequestChanges, ReviewDecision::Comment];

/// Every stream there is, but for sessions that are over.
pub(super) struct World {
    pub(super) page: Page,
    pub(super) dice: Dice,
    pub(super) workspaces: Vec<Stream<Workspace>>,
    pub(super) projects: Vec<Stream<Project>>,
    pub(super) repositories: HashMap<ProjectId, Stream<Repository>>,
    pub(super) agents: Vec<Stream<Agent>>,
    pub(super) scorecards: HashMap<AgentId, Stream<Scorecard>>,
    pub(super) sessions: Vec<Stream<Session>>,
    pub(super) tasks: Vec<Stream<Task>>,
    pub(super) entries: Vec<Stream<WikiEntry>>,
    pub(super) pull_requests: Vec<Stream<PullRequest>>,
}

impl World {
    /// Three workspaces with thirty projects, sixty agents and some work.
    pub(super) async fn new() -> Self {
        let page = Page { now: noon(), ..Page::default() };
        let mut world = Self {
            page,
            dice: Dice(SEED),
            workspaces: vec![],
            projects: vec![],
            repositories: HashMap::new(),
            agents: vec![],
            scorecards: HashMap::new(),
            sessions: vec![],
            tasks: vec![],
            entries: vec![],
            pull_requests: vec![],
        };
        for n in 0..60 {
            if n < 3 {
                world.create_workspace().await;
            }
            if n < 30 {
                world.create_project().await;
            }
            world.create_agent().await;
            world.start_session().await;
            world.create_task().await;
            world.propose_entry().await;
            world.open_pull_request().await;
        }
        world
    }

    /// Gives random commands until the commit is full.
    pub(super) async fn fill_page(&mut self) {
        while self.page.size < PER_COMMIT {
            self.page.now += TimeDelta::seconds(self.dice.number(60));
            match self.dice.below(100) {
                0 => self.work_on_workspaces().await,
                1..=3 => self.work_on_projects().await,
                4..=8 => self.work_on_agents().await,
                9..=11 => self.keep_score().await,
                12..=39 => self.work_in_session().await,
                40..=64 => self.work_on_tasks().await,
                65..=76 => self.work_on_wiki().await,
                77..=88 => self.tell_of_pull_request().await,
                _ => self.tell_of_repository().await,
            }
        }
        self.page.size = 0;
    }

    /// A project that is there, and its workspace.
    pub(super) fn project(&mut self) -> (WorkspaceId, ProjectId) {
        loop {
            let at = self.dice.pick(&self.projects);
            if let Ok(live) = self.projects[at].state.live() {
                return (live.workspace_id, live.project_id);
            }
        }
    }

    /// An agent that is there.
    pub(super) fn agent(&mut self) -> LiveAgent {
        loop {
            let at = self.dice.pick(&self.agents);
            if let Ok(live) = self.agents[at].state.live() {
                return live.clone();
            }
        }
    }

    pub(super) fn task(&mut self) -> LiveTask {
        let at = self.dice.pick(&self.tasks);
        self.tasks[at].state.live().unwrap().clone()
    }

    async fn create_workspace(&mut self) {
        let id = self.dice.id();
        let create = CreateWorkspace {
            workspace_id: WorkspaceId(id),
            owner: OWNER,
            name: self.dice.text(),
            slug: Slug::parse(id.to_string()).unwrap(),
            description: self.dice.maybe(),
            settings: self.dice.settings(),
            now: self.page.now,
        };
        self.page.begin(&mut self.workspaces, id, BY_OWNER, WorkspaceCommand::Create(create)).await;
    }

    async fn work_on_workspaces(&mut self) {
        let (by, now) = (OWNER, self.page.now);
        let at = self.dice.pick(&self.workspaces);
        match self.dice.below(20) {
            0 => {
                // Closed again at once: any other is full.
                self.create_workspace().await;
                let closed = self.workspaces.pop();
                let delete = WorkspaceCommand::Delete(DeleteWorkspace { by, now });
                self.page.run(&mut closed.unwrap(), BY_OWNER, delete).await;
            }
            _ => {
                let (name, description) = (Some(self.dice.text()), self.dice.maybe());
                let settings = Some(self.dice.settings());
                let change = ChangeWorkspace { by, name, slug: None, description, settings, now };
                self.page.run(&mut self.workspaces[at], BY_OWNER, WorkspaceCommand::Change(change)).await;
            }
        }
    }

    async fn create_project(&mut self) {
        let (id, at) = (self.dice.id(), self.dice.pick(&self.workspaces));
        let create = CreateProject {
            project_id: ProjectId(id),
            workspace_id: WorkspaceId(self.workspaces[at].id),
            name: self.dice.text(),
            slug: Slug::parse(id.to_string()).unwrap(),
            description: self.dice.maybe(),
            repository_url: Some(RepositoryUrl::new(format!("https://github.com/acme/{id}"))),
            github_installation_id: Some(self.dice.number(9)),
            mvp_document_url: None,
            now: self.page.now,
        };
        self.page.begin(&mut self.projects, id, BY_OWNER, ProjectCommand::Create(create)).await;
    }

    async fn work_on_projects(&mut self) {
        let now = self.page.now;
        match self.dice.below(8) {
            0 if self.projects.len() < 80 => self.create_project().await,
            1 => {
                let newest = self.projects.last_mut().unwrap();
                self.page.run(newest, BY_OWNER, ProjectCommand::Delete(DeleteProject { now })).await;
            }
            _ => {
                let change = ChangeProject {
                    name: self.dice.maybe(),
                    slug: None,
                    description: self.dice.maybe(),
                    repository_url: None,
                    github_installation_id: Some(self.dice.number(9)),
                    mvp_document_url: self.dice.maybe(),
                    is_active: Some(self.dice.below(3) > 0),
                    now,
                };
                let at = self.dice.pick(&self.projects);
                self.page.run(&mut self.projects[at], BY_OWNER, ProjectCommand::Change(change)).await;
            }
        }
    }

    async fn create_agent(&mut self) {
        let (id, (workspace_id, project_id)) = (self.dice.id(), self.project());
        let project_id = Some(project_id).filter(|_| self.dice.below(2) == 0);
        let supervisor = (self.agents.len() > 3).then(|| self.agent().agent_id);
        let create = CreateAgent {
            agent_id: AgentId(id),
            workspace_id,
            project_id,
            level: if project_id.is_some() { AgentLevel::Project } else { AgentLevel::Organization },
            code: AgentCode::parse(id.to_string()).unwrap(),
            name: self.dice.text(),
            role_title: self.dice.text(),
            capabilities: vec![self.dice.text()],
            settings: self.dice.settings(),
            supervisor_agent_id: supervisor,
            credential_id: CredentialId(self.dice.id()),
            now: self.page.now,
        };
        self.page.begin(&mut self.agents, id, BY_OWNER, AgentCommand::Create(create)).await;
    }

    async fn work_on_agents(&mut self) {
        let (now, at, supervisor) = (self.page.now, self.dice.pick(&self.agents), self.agent());
        let command = match self.dice.below(12) {
            0 if self.agents.len() < 200 => return self.create_agent().await,
            0..=2 => AgentCommand::Delete(DeleteAgent { now }),
            3..=4 => {
                AgentCommand::RotateCredentials(RotateCredentials { credential_id: CredentialId(self.dice.id()), now })
            }
            5..=6 => {
                let held = self.agents[at].state.live().ok().and_then(|it| it.supervisor_agent_id);
                let supervisor_agent_id = held.unwrap_or(supervisor.agent_id);
                AgentCommand::LoseSupervisor(LoseSupervisor { supervisor_agent_id, now })
            }
            _ => {
                let status = Some(self.dice.of(&STATUSES));
                self.change_agent(status, Some(supervisor.agent_id))
            }
        };
        self.page.run(&mut self.agents[at], BY_OWNER, command).await;
    }

    pub(super) fn change_agent(&mut self, status: Option<AgentStatus>, supervisor: Option<AgentId>) -> AgentCommand {
        let (name, role_title) = (self.dice.maybe(), self.dice.maybe());
        let (capabilities, settings) = (Some(vec![self.dice.text()]), Some(self.dice.settings()));
        let (supervisor_agent_id, now) = (supervisor, self.page.now);
        AgentCommand::Change(ChangeAgent { name, role_title, capabilities, settings, supervisor_agent_id, status, now })
    }
}
