//! A small factory floor, made without any bench: a supervisor on an epic, a worker on a task, and who comes after.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use commands::mail::{ReadMail, ReplyMail, SendMail, To};
use commands::{Actor, CommandError, Context, Decision, New, On, Refusal};
use domain::epic::{AppointEpicSupervisor, CreateEpic, Epic, EpicCommand};
use domain::post::{AgentKind, Post, PostAgent, PostCommand, Profiles, RelieveAgent};
use domain::{AgentId, EpicId, MailId, Party, ProjectId, Slug, TaskId, WorkspaceId};
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};
use projections::mail::{self, Inbox, MailView};
use projections::offline::verify;
use projections::{Engine, Projection};
use store::sql::Database;
use uuid::Uuid;

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Ada's floor.
pub(crate) struct Floor {
    pub(crate) bench: Bench,
    pub(crate) fleet: Fleet,
    pub(crate) workspace: WorkspaceId,
    pub(crate) project: ProjectId,
    pub(crate) epic: EpicId,
    pub(crate) task: TaskId,
    pub(crate) supervisor: AgentId,
    pub(crate) worker: AgentId,
}

impl Floor {
    pub(crate) async fn new(bench: Bench) -> Self {
        let fleet = Fleet::on(bench.log());
        let workspace = fleet.workspace("acme").await.unwrap();
        let project = fleet.project(workspace, "shop").await.unwrap();
        let task = fleet.task(project, None).await.unwrap();
        let epic = EpicId(new());
        let supervisor = fleet.agent(workspace, Some(project), "supervisor", None).await.unwrap();
        let worker = fleet.agent(workspace, Some(project), "worker", None).await.unwrap();
        let floor = Self { bench, fleet, workspace, project, epic, task, supervisor, worker };
        floor.open_epic().await;
        floor.post(supervisor, AgentKind::Supervisor, epic.0).await;
        floor.post(worker, AgentKind::Worker, task.0).await;
        floor
    }

    async fn open_epic(&self) {
        let create = CreateEpic {
            epic_id: self.epic,
            workspace_id: self.workspace,
            project_id: self.project,
            bench: Slug::parse("main").unwrap(),
            title: "Baskets".to_owned(),
            description: String::new(),
            design: String::new(),
            by: self.fleet.owner,
            now: noon(),
        };
        let command = EpicCommand::Create(create);
        self.must(&New::<Epic> { name: "epic.create", id: self.epic.0, command }).await;
        let appoint = AppointEpicSupervisor { agent_id: self.supervisor, replaces: None, now: noon() };
        let command = EpicCommand::AppointSupervisor(appoint);
        self.must(&On::<Epic> { name: "epic.appoint", id: self.epic.0, command }).await;
    }

    /// Gives an agent a seat.
    pub(crate) async fn post(&self, agent_id: AgentId, kind: AgentKind, seat: Uuid) {
        let post = PostAgent {
            agent_id,
            workspace_id: self.workspace,
            project_id: Some(self.project),
            kind,
            seat,
            epic_id: Some(self.epic),
            task_id: (kind == AgentKind::Worker).then_some(self.task),
            bench: Slug::parse("main").unwrap(),
            profile: Profiles::default().of(kind).clone(),
            mission: "Build it".to_owned(),
            attempt: 1,
            replaces: None,
            now: noon(),
        };
        self.must(&New::<Post> { name: "post", id: agent_id.0, command: PostCommand::Post(Box::new(post)) }).await;
    }

    /// Takes an agent's seat from it.
    pub(crate) async fn relieve(&self, agent: AgentId) {
        let relieve = RelieveAgent { reason: "silent".to_owned(), successor: None, now: noon() };
        self.must(&On::<Post> { name: "relieve", id: agent.0, command: PostCommand::Relieve(relieve) }).await;
    }

    /// The worker dies, and another takes its seat.
    pub(crate) async fn replace_worker(&self) -> AgentId {
        self.relieve(self.worker).await;
        let successor = self.fleet.agent(self.workspace, Some(self.project), "worker-2", None).await.unwrap();
        self.post(successor, AgentKind::Worker, self.task.0).await;
        successor
    }

    pub(crate) async fn run<D: Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        let context = Context::new(Actor::System("test"), noon());
        Ok(self.fleet.executor.run(&context, decision).await?.outcome)
    }

    pub(crate) async fn must<D: Decision>(&self, decision: &D) -> D::Outcome {
        self.run(decision).await.unwrap()
    }

    /// The same, some minutes after noon.
    pub(crate) async fn must_at<D: Decision>(&self, minute: i64, decision: &D) -> D::Outcome {
        let context = Context::new(Actor::System("test"), noon() + TimeDelta::minutes(minute));
        self.fleet.executor.run(&context, decision).await.unwrap().outcome
    }

    pub(crate) fn owner(&self) -> Party {
        Party::User(self.fleet.owner)
    }

    pub(crate) async fn send(&self, by: Party, to: To, subject: &str) -> Result<MailId, CommandError> {
        let (subject, body) = (subject.to_owned(), "Please look".to_owned());
        self.run(&SendMail { by, workspace_id: self.workspace, to, subject, body }).await
    }

    pub(crate) async fn reply(&self, by: Party, in_reply_to: MailId) -> Result<MailId, CommandError> {
        self.run(&ReplyMail { by, in_reply_to, body: "Done".to_owned() }).await
    }

    pub(crate) async fn read(&self, by: Party, mail_id: MailId) -> Result<MailId, CommandError> {
        self.run(&ReadMail { by, mail_id }).await
    }

    /// The same floor after everything was stopped and started again.
    pub(crate) async fn restarted(self) -> Self {
        let Self { mut bench, fleet, workspace, project, epic, task, supervisor, worker } = self;
        let owner = fleet.owner;
        drop(fleet);
        bench.reopen().await;
        let fleet = Fleet { owner, ..Fleet::on(bench.log()) };
        Self { bench, fleet, workspace, project, epic, task, supervisor, worker }
    }

    pub(crate) fn views(&self) -> &Database {
        &self.bench.stores().views
    }

    /// Brings every read model up to date, and shows that a rebuild would be the same.
    pub(crate) async fn project(&self) {
        let engine = Engine::start(self.bench.log(), self.views().clone(), projections::all(), Default::default());
        let head = self.bench.log().head().await.unwrap().position;
        let all: Vec<Arc<dyn Projection>> = projections::all();
        let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
        assert!(engine.wait_for(&names, head, PATIENCE).await);
        engine.shutdown().await;
        for projection in &all {
            let report = verify(&self.bench.log(), self.views(), projection, &mut |_, _| {}).await.unwrap();
            assert!(report.is_clean(), "{report:?}");
        }
    }

    /// What is in an agent's inbox, newest first.
    pub(crate) async fn inbox(&self, agent: AgentId, only_unread: bool) -> Vec<MailView> {
        let seat = mail::seat_of(self.views(), agent).await.unwrap();
        mail::inbox(self.views(), self.workspace, Inbox::Seat(seat), only_unread, 100, 0).await.unwrap()
    }

    /// What is in the inbox of people, newest first.
    pub(crate) async fn human_inbox(&self) -> Vec<MailView> {
        mail::inbox(self.views(), self.workspace, Inbox::Human, false, 100, 0).await.unwrap()
    }
}

pub(crate) fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
