//! A bench in this process on a clock that tests set: one epic, its supervisor, and workers on tasks.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use commands::factory::{AddTask, AppointSupervisor, AppointWorker, CreateEpic, DeclareDead, Verdict};
use commands::tool_call::CallTool;
use commands::{Actor, Context, Decision};
use domain::post::{Evidence, Profiles};
use domain::{AgentId, Entity, EpicId, TaskId, WorkspaceId};
use muster_tests::fleet::{Fleet, new};
use muster_tests::muster::wait_until;
use muster_tests::pull_requests::{PullRequests, TOKEN};
use muster_tests::stores;
use projections::Engine;
use reactors::bench::{Bench, BenchSettings};
use reactors::health::Health;
use reactors::perform_errands::{FreshKey, Performer, Shop};
use serde_json::{Value, json};
use store::StreamId;
use tempfile::TempDir;
use uuid::Uuid;

/// A workspace with one epic on a bench.
pub(crate) struct Workshop {
    pub(crate) place: stores::Bench,
    pub(crate) fleet: Fleet,
    pub(crate) engine: Arc<Engine>,
    pub(crate) bench: Arc<Bench>,
    pub(crate) epic: EpicId,
    pub(crate) supervisor: AgentId,
    pub(crate) folder: TempDir,
}

impl Workshop {
    /// A bench whose workers are started with this command; they start themselves without.
    pub(crate) async fn open(place: stores::Bench, worker: Option<&[&str]>) -> Self {
        Self::open_on(place, worker, "main").await
    }

    /// The same with another main branch than the repository has.
    pub(crate) async fn open_on(place: stores::Bench, worker: Option<&[&str]>, main_branch: &str) -> Self {
        let worker = worker.map(|it| format!("[agents.worker]\ncommand = {}\n", json!(it))).unwrap_or_default();
        Self::open_with(place, &worker, main_branch).await
    }

    /// The same with agents as the bench file describes them.
    pub(crate) async fn open_with(place: stores::Bench, agents: &str, main_branch: &str) -> Self {
        Self::open_at(place, agents, main_branch, None).await
    }

    /// A bench whose pull requests are on GitHub and whose agents start themselves.
    pub(crate) async fn open_on_github(place: stores::Bench, github: &PullRequests) -> Self {
        Self::open_at(place, "", "main", Some(github)).await
    }

    async fn open_at(place: stores::Bench, agents: &str, main_branch: &str, github: Option<&PullRequests>) -> Self {
        let folder = tempfile::Builder::new().prefix("muster-shop-").tempdir().unwrap();
        let bench = bench(&folder, agents, main_branch, github).await;
        let fleet = Fleet::on(place.log());
        let views = place.stores().views.clone();
        let engine = Arc::new(Engine::start(place.log(), views, projections::all(), Default::default()));
        let workspace = fleet.workspace("acme").await.unwrap();
        let project = fleet.project(workspace, "shop").await.unwrap();
        let epic_id: EpicId = new();
        let create = CreateEpic {
            by: fleet.owner,
            epic_id,
            project_id: project,
            bench: None,
            title: "A shop".to_owned(),
            description: "Sell things".to_owned(),
            design: "# A shop".to_owned(),
        };
        fleet.executor.run(&fleet.context(), &create).await.unwrap();
        let supervisor = AppointSupervisor { by: None, epic_id, profiles: Profiles::default() };
        let supervisor = fleet.executor.run(&fleet.context(), &supervisor).await.unwrap().outcome.agent_id;
        Self { place, fleet, engine, bench, epic: epic_id, supervisor, folder }
    }

    /// The workspace that the epic is in.
    pub(crate) async fn workspace(&self) -> WorkspaceId {
        serde_json::from_value(self.last("EpicCreated").await["workspace_id"].clone()).unwrap()
    }

    /// A task of the epic, and the worker on it.
    pub(crate) async fn worker(&self, title: &str) -> (TaskId, AgentId) {
        let add =
            AddTask { by: self.supervisor, task_id: new(), title: title.to_owned(), description: "Do it".to_owned() };
        let task_id = self.run(Actor::Agent(self.supervisor), &add).await;
        let appoint = AppointWorker { task_id, profiles: Profiles::default() };
        (task_id, self.run(Actor::System("test"), &appoint).await.agent_id)
    }

    /// The supervisor is found dead; who has its place.
    pub(crate) async fn supervisor_dies(&self) -> AgentId {
        let evidence =
            Evidence { last_heartbeat: self.now(), checks_missed: 2, process_alive: Some(false), last_output_at: None };
        let dead = DeclareDead { agent_id: self.supervisor, evidence, profiles: Profiles::default() };
        match self.run(Actor::System("test"), &dead).await {
            Verdict::Recovered { successor } => successor,
            verdict => panic!("{verdict:?}"),
        }
    }

    /// Everything that is to be done outside is done, and no more comes of it.
    pub(crate) async fn perform(&self) {
        let performer = Performer::start(self.shop());
        wait_until("every errand is over", async || {
            let events = self.place.everything().await;
            let count = |types: &[&str]| events.iter().filter(|it| types.contains(&&*it.event_type)).count();
            count(&["ErrandOrdered"]) == count(&["ErrandDone", "ErrandFailed", "ErrandCancelled"])
        })
        .await;
        performer.shutdown().await;
    }

    /// What the bench works with.
    pub(crate) fn shop(&self) -> Shop {
        Shop {
            bench: Arc::clone(&self.bench),
            executor: Arc::clone(&self.fleet.executor),
            views: self.place.stores().views.clone(),
            engine: Arc::clone(&self.engine),
            keys: Arc::new(|_, code| FreshKey { text: format!("key of {code}"), hash: vec![7; 32] }),
        }
    }

    /// Looks after the agents, on this node.
    pub(crate) fn health(&self) -> Health {
        self.health_on(&self.fleet)
    }

    /// Looks after the agents, on any node.
    pub(crate) fn health_on(&self, fleet: &Fleet) -> Health {
        Health {
            bench: Arc::clone(&self.bench),
            executor: Arc::clone(&fleet.executor),
            views: self.place.stores().views.clone(),
            engine: Arc::clone(&self.engine),
        }
    }

    /// So many seconds go by.
    pub(crate) fn pass(&self, seconds: i64) {
        self.place.clock.set(self.now() + TimeDelta::seconds(seconds));
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.place.clock.now()
    }

    /// An agent calls a tool: it is there.
    pub(crate) async fn hear_of(&self, agent: AgentId) {
        let call = CallTool { call_id: new(), by: agent, tool: "mcp__agent__get_status".to_owned(), input: json!({}) };
        self.run(Actor::Agent(agent), &call).await;
    }

    pub(crate) async fn run<D: Decision>(&self, actor: Actor, decision: &D) -> D::Outcome {
        self.fleet.executor.run(&Context::new(actor, self.now()), decision).await.unwrap().outcome
    }

    /// An aggregate as the log has it.
    pub(crate) async fn folded<A: Entity>(&self, id: Uuid) -> A {
        let mut state = A::default();
        for event in self.place.stream(&StreamId::new(A::TYPE, id)).await {
            state.apply(domain::decode(&event.event_type, &event.event_version, &event.payload).unwrap());
        }
        state
    }

    /// How often something happened.
    pub(crate) async fn count(&self, event_type: &str) -> usize {
        self.place.everything().await.iter().filter(|it| it.event_type == event_type).count()
    }

    /// What was said when something happened last.
    pub(crate) async fn last(&self, event_type: &str) -> Value {
        let events = self.place.everything().await;
        let last = events.iter().rfind(|it| it.event_type == event_type);
        let payload = &last.unwrap_or_else(|| panic!("no {event_type}")).payload;
        serde_json::from_str::<Value>(payload).unwrap()[event_type].clone()
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let socket = self.folder.path().join("bench/tmux.sock");
        let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
    }
}

async fn bench(folder: &TempDir, agents: &str, main_branch: &str, github: Option<&PullRequests>) -> Arc<Bench> {
    let repository = folder.path().join("shop");
    fs::create_dir_all(&repository).unwrap();
    let git = |args: &[&str]| {
        assert!(Command::new("git").arg("-C").arg(&repository).args(args).status().unwrap().success());
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&[
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@localhost",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "Begin",
    ]);
    if let Some(github) = github {
        git(&["remote", "add", "origin", github.origin().to_str().unwrap()]);
    }
    let forge = github.map_or_else(|| json!("local").to_string(), |it| it.bench_entry("TOKEN"));
    let text = format!(
        "folder = {}\n{agents}[projects.\"acme/shop\"]\nrepository = {}\nmain_branch = \"{main_branch}\"\nforge = {forge}\n",
        json!(folder.path().join("bench")),
        json!(repository)
    );
    let file = folder.path().join("bench.toml");
    fs::write(&file, text).unwrap();
    let settings = BenchSettings::read(Some(&file), |name| (name == "TOKEN").then(|| TOKEN.to_owned()), folder.path())
        .unwrap()
        .unwrap();
    Bench::open(settings, "127.0.0.1:1").await.unwrap()
}
