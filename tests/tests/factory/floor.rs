//! A factory in which a test plays the bench, the supervisor and every worker.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use commands::factory::{
    AddTask, AppointOrchestrator, AppointSupervisor, AppointWorker, Appointed, ApproveTask, CreateEpic, FinishErrand,
    RebaseTask, SubmitTask, UpdateTaskState,
};
use commands::{Actor, CommandError, Context, Decision, Refusal};
use cqrs_es::Aggregate;
use domain::decision::{DecisionEntry, DecisionEvent};
use domain::epic::{Epic, LiveEpic};
use domain::errand::{Errand, ErrandEvent, Work, WorkResult};
use domain::mail::{Mail, MailEvent, Sender};
use domain::post::{LivePost, Post, Profiles};
use domain::task::{LiveTask, Task, TaskState};
use domain::{AgentId, Entity, EpicId, ErrandId, MailId, ProjectId, TaskId, WorkspaceId};
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};
use serde_json::Value;
use store::sql::Database;
use store::{StoredEvent, StreamId};
use uuid::Uuid;

/// The longest that a test waits for a read model.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A factory with one epic and its supervisor.
pub(crate) struct Floor {
    pub(crate) fleet: Fleet,
    pub(crate) bench: Bench,
    pub(crate) acme: WorkspaceId,
    pub(crate) shop: ProjectId,
    pub(crate) epic: EpicId,
    pub(crate) supervisor: AgentId,
}

impl Floor {
    pub(crate) async fn open(bench: Bench) -> Self {
        let fleet = Fleet::on(bench.log());
        let acme = fleet.workspace("acme").await.unwrap();
        let shop = fleet.project(acme, "shop").await.unwrap();
        let epic = new();
        let mut floor = Self { fleet, bench, acme, shop, epic, supervisor: new() };
        floor.human(&create_epic(&floor, epic)).await.unwrap();
        let appoint = AppointSupervisor { by: None, epic_id: epic, profiles: Profiles::default() };
        floor.supervisor = floor.system(&appoint).await.unwrap().agent_id;
        floor
    }

    /// A command of the owner.
    pub(crate) async fn human<D: Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        Ok(self.fleet.executor.run(&self.fleet.context(), decision).await?.outcome)
    }

    /// A command of Muster itself.
    pub(crate) async fn system<D: Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        self.system_at(0, decision).await
    }

    /// The same, some minutes later.
    pub(crate) async fn system_at<D: Decision>(&self, minute: i64, decision: &D) -> Result<D::Outcome, CommandError> {
        let context = Context::new(Actor::System("test"), at(minute));
        Ok(self.fleet.executor.run(&context, decision).await?.outcome)
    }

    /// A command of an agent.
    pub(crate) async fn agent<D: Decision>(&self, by: AgentId, decision: &D) -> Result<D::Outcome, CommandError> {
        let context = Context::new(Actor::Agent(by), noon());
        Ok(self.fleet.executor.run(&context, decision).await?.outcome)
    }

    /// The supervisor adds a task.
    pub(crate) async fn task(&self, title: &str) -> TaskId {
        let (title, description) = (title.to_owned(), format!("Do {title}"));
        let add = AddTask { by: self.supervisor, task_id: new(), title, description };
        self.agent(self.supervisor, &add).await.unwrap()
    }

    /// A task gets its worker.
    pub(crate) async fn worker(&self, task_id: TaskId) -> Appointed {
        self.system(&AppointWorker { task_id, profiles: Profiles::default() }).await.unwrap()
    }

    /// A task, whose worker has started.
    pub(crate) async fn begun(&self, title: &str) -> (TaskId, AgentId) {
        let task = self.task(title).await;
        let worker = self.worker(task).await.agent_id;
        let update = UpdateTaskState { by: worker, to: TaskState::InProgress };
        self.agent(worker, &update).await.unwrap();
        (task, worker)
    }

    /// A task whose pull request waits for review.
    pub(crate) async fn submitted(&self, title: &str) -> (TaskId, AgentId) {
        let (task, worker) = self.begun(title).await;
        self.submits(task, worker).await;
        (task, worker)
    }

    /// The worker submits its task, and the bench opens the pull request.
    pub(crate) async fn submits(&self, task: TaskId, worker: AgentId) {
        let errand = self.agent(worker, &submit(worker)).await.unwrap();
        self.finish(errand, WorkResult::PullRequestOpened { pr_url: url(task), head: Some("abc".to_owned()) })
            .await
            .unwrap();
    }

    /// The supervisor approves a task; the errand merges it.
    pub(crate) async fn approve(&self, task_id: TaskId) -> Result<ErrandId, CommandError> {
        let approve = ApproveTask { by: self.supervisor, task_id, pr_url: url(task_id) };
        self.agent(self.supervisor, &approve).await
    }

    /// The supervisor approves a task, and the bench merges it.
    pub(crate) async fn merges(&self, task_id: TaskId) {
        let errand = self.approve(task_id).await.unwrap();
        self.finish(errand, merged()).await.unwrap();
    }

    /// The worker rebases its task; the errand does it.
    pub(crate) async fn rebase(&self, worker: AgentId) -> Result<ErrandId, CommandError> {
        self.agent(worker, &RebaseTask { by: worker }).await
    }

    /// What came of an errand.
    pub(crate) async fn finish(&self, errand_id: ErrandId, result: WorkResult) -> Result<ErrandId, CommandError> {
        self.system(&FinishErrand { errand_id, result }).await
    }

    /// The bench has started an agent.
    pub(crate) async fn started(&self, agent: AgentId) {
        self.launched(agent, true).await;
    }

    /// The bench has started an agent, or leaves it to start itself.
    pub(crate) async fn launched(&self, agent: AgentId, started: bool) {
        self.finish(self.launch_of(agent).await, WorkResult::Launched { started }).await.unwrap();
    }

    /// The errand that starts an agent.
    pub(crate) async fn launch_of(&self, agent: AgentId) -> ErrandId {
        let events = self.bench.everything().await;
        let ordered = events.iter().filter(|it| it.event_type == "ErrandOrdered").map(decoded::<Errand>);
        let mut launch = ordered.filter_map(|it| match it {
            ErrandEvent::ErrandOrdered { errand_id, work: Work::Launch { agent_id }, .. } => {
                (agent_id == agent).then_some(errand_id)
            }
            _ => None,
        });
        launch.next_back().unwrap()
    }

    pub(crate) async fn state(&self, task: TaskId) -> TaskState {
        self.live_task(task).await.in_epic().unwrap().state
    }

    pub(crate) async fn live_task(&self, task: TaskId) -> LiveTask {
        self.folded::<Task>(task.0).await.live().unwrap().clone()
    }

    pub(crate) async fn live_epic(&self) -> LiveEpic {
        self.folded::<Epic>(self.epic.0).await.live().unwrap().clone()
    }

    pub(crate) async fn post(&self, agent: AgentId) -> LivePost {
        self.folded::<Post>(agent.0).await.live().unwrap().clone()
    }

    /// The tasks in the review queue, in its order.
    pub(crate) async fn queue(&self) -> Vec<TaskId> {
        self.live_epic().await.queue.iter().map(|it| it.task_id).collect()
    }

    /// An aggregate as the log has it.
    pub(crate) async fn folded<A: Entity>(&self, id: Uuid) -> A {
        let mut state = A::default();
        for event in self.bench.stream(&StreamId::new(A::TYPE, id)).await {
            state.apply(decoded::<A>(&event));
        }
        state
    }

    /// The workspace's orchestrator, appointed if there is none.
    pub(crate) async fn orchestrator(&self) -> AgentId {
        let appoint = AppointOrchestrator { workspace_id: self.acme, bench: None, profiles: Profiles::default() };
        self.system(&appoint).await.unwrap().agent_id
    }

    pub(crate) fn views(&self) -> &Database {
        &self.bench.stores().views
    }

    /// The last mail so far, and who wrote it.
    pub(crate) async fn last_mail(&self) -> (MailId, Sender) {
        let events = self.bench.everything().await;
        let last = events.iter().rfind(|it| it.event_type == "MailSent").map(decoded::<Mail>);
        let Some(MailEvent::MailSent { mail_id, from, .. }) = last else { panic!("no mail") };
        (mail_id, from)
    }

    /// The subjects of every mail so far, in the order of the log.
    pub(crate) async fn mails(&self) -> Vec<String> {
        let events = self.bench.everything().await;
        let sent = events.into_iter().filter(|it| it.event_type == "MailSent");
        let payload = |it: StoredEvent| serde_json::from_str::<Value>(&it.payload).unwrap();
        sent.map(|it| payload(it)["MailSent"]["subject"].as_str().unwrap().to_owned()).collect()
    }

    /// What was put on record in words so far, in the order of the log: whose it is, what, and the rest.
    pub(crate) async fn decisions(&self) -> Vec<(Option<AgentId>, String, Value)> {
        let events = self.bench.everything().await;
        let logged = events.iter().filter(|it| it.event_type == "DecisionLogged").map(decoded::<DecisionEntry>);
        let told = logged.map(|DecisionEvent::DecisionLogged { agent_id, title, body, .. }| {
            (agent_id, title, serde_json::from_str(&body).unwrap())
        });
        told.collect()
    }

    /// The titles of what was put on record in words as an agent's.
    pub(crate) async fn titles_of(&self, agent: AgentId) -> Vec<String> {
        self.decisions().await.into_iter().filter(|it| it.0 == Some(agent)).map(|it| it.1).collect()
    }

    /// How often an event happened.
    pub(crate) async fn count(&self, event_type: &str) -> usize {
        self.bench.everything().await.iter().filter(|it| it.event_type == event_type).count()
    }
}

pub(crate) fn decoded<A: Aggregate>(event: &StoredEvent) -> A::Event {
    domain::decode(&event.event_type, &event.event_version, &event.payload).unwrap()
}

/// A moment that is so many minutes after noon.
pub(crate) fn at(minute: i64) -> DateTime<Utc> {
    noon() + TimeDelta::minutes(minute)
}

pub(crate) fn url(task: TaskId) -> String {
    format!("local://pull/{task}")
}

pub(crate) fn merged() -> WorkResult {
    WorkResult::Merged { merge_commit: "fff000".to_owned() }
}

pub(crate) fn submit(by: AgentId) -> SubmitTask {
    SubmitTask { by, title: "A pull request".to_owned(), description: "It works".to_owned() }
}

pub(crate) fn create_epic(floor: &Floor, epic_id: EpicId) -> CreateEpic {
    CreateEpic {
        by: floor.fleet.owner,
        epic_id,
        project_id: floor.shop,
        bench: None,
        title: "Shopping".to_owned(),
        description: "A shop".to_owned(),
        design: "# Shop".to_owned(),
    }
}

pub(crate) fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
