//! A floor to test on: an epic with an orchestrator, a supervisor and a worker, and a bench that only pretends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::{BenchError, Diff, HttpSettings, Looking, McpSettings, PullRequestState, Workplace};
use commands::factory::{
    AppointOrchestrator, AppointSupervisor, AppointWorker, CreateEpic, DeclareDead, FailErrand, FinishErrand,
};
use commands::{Actor, CommandError, Context, Decision, Done, Executor, Refusal};
use domain::errand::{ErrandEvent, Work, WorkResult};
use domain::post::{Evidence, PostError, Profiles};
use domain::{AgentId, EpicId, ErrandId, ProjectId, TaskId, UserId, WorkspaceId};
use muster_tests::mcp::{self, ToolAnswer};
use muster_tests::server::{Client, Server, settings};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use store::EventLog;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// The orchestrator, the supervisor and the worker of one epic with one task.
pub(crate) struct Floor {
    pub(crate) server: Server,
    pub(crate) owner: Client,
    pub(crate) orchestrator: Client,
    pub(crate) supervisor: Client,
    pub(crate) worker: Client,
    pub(crate) workspace_id: String,
    pub(crate) project_id: String,
    pub(crate) epic_id: String,
    pub(crate) task_id: String,
    user_id: UserId,
}

impl Floor {
    /// A floor whose errands nobody does.
    pub(crate) async fn new(bench: Bench) -> Self {
        Self::with(bench, quick()).await
    }

    pub(crate) async fn with(bench: Bench, mcp: McpSettings) -> Self {
        let server = Server::start_with(bench, HttpSettings { mcp, ..settings() }).await;
        let owner = server.owner("ada").await;
        let session = owner.get("/api/auth/session").await.ok().body;
        let user_id = UserId(uuid(session["user"]["id"].as_str().unwrap()));
        let workspace_id = owner.workspace("acme").await;
        let project_id = owner.project(&workspace_id, "shop").await;
        let nobody = server.nobody();
        let mut floor = Self {
            orchestrator: nobody.clone(),
            supervisor: nobody.clone(),
            worker: nobody,
            epic_id: String::new(),
            task_id: String::new(),
            server,
            owner,
            workspace_id,
            project_id,
            user_id,
        };
        floor.epic_id = floor.epic("Baskets").await;
        let appoint = AppointOrchestrator {
            workspace_id: WorkspaceId(uuid(&floor.workspace_id)),
            bench: None,
            profiles: Profiles::default(),
        };
        let orchestrator = floor.run(&appoint).await.outcome.agent_id;
        floor.orchestrator = floor.agent(orchestrator).await;
        floor.supervisor = floor.supervisor_of(&floor.epic_id).await;
        floor.task_id = floor.task("Add a basket").await;
        floor.worker = floor.worker_of(&floor.task_id).await;
        floor
    }

    /// Another epic of the project.
    pub(crate) async fn epic(&self, title: &str) -> String {
        let epic_id = EpicId(Uuid::now_v7());
        let create = CreateEpic {
            by: self.user_id,
            epic_id,
            project_id: ProjectId(uuid(&self.project_id)),
            bench: None,
            title: title.to_owned(),
            description: "What shoppers have in mind".to_owned(),
            design: "# Design".to_owned(),
        };
        self.run(&create).await;
        epic_id.to_string()
    }

    /// The supervisor of an epic, appointed if there is none.
    pub(crate) async fn supervisor_of(&self, epic: &str) -> Client {
        let epic_id = EpicId(uuid(epic));
        let appoint = AppointSupervisor { by: None, epic_id, profiles: Profiles::default() };
        let appointed = self.run(&appoint).await.outcome;
        self.agent(appointed.agent_id).await
    }

    /// A task of the epic, which its supervisor adds.
    pub(crate) async fn task(&self, title: &str) -> String {
        let input = json!({ "title": title, "description": "As the design says" });
        let added = mcp::call(&self.supervisor, "mcp__epic__create_task", input).await;
        output(added)["taskId"].as_str().unwrap().to_owned()
    }

    /// The worker of a task, appointed if there is none.
    pub(crate) async fn worker_of(&self, task: &str) -> Client {
        let appoint = AppointWorker { task_id: TaskId(uuid(task)), profiles: Profiles::default() };
        let appointed = self.run(&appoint).await.outcome;
        self.agent(appointed.agent_id).await
    }

    /// An agent is found dead.
    pub(crate) async fn loses(&self, agent: &Client) {
        let last_heartbeat = self.server.bench.clock.now();
        let evidence = Evidence { last_heartbeat, checks_missed: 2, process_alive: Some(false), last_output_at: None };
        let agent_id = AgentId(uuid(&Self::id_of(agent)));
        self.run(&DeclareDead { agent_id, evidence, profiles: Profiles::default() }).await;
    }

    /// The epic's one task is merged, and the epic waits for a human.
    pub(crate) async fn awaits_human_review(&self) {
        let _bench = Pretender::succeeding(self);
        let pr = json!({ "title": "Baskets", "description": "All of them" });
        output(mcp::call(&self.worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
        let opened = output(mcp::call(&self.worker, "mcp__task__create_pr", pr.clone()).await);
        let approve = json!({ "taskId": self.task_id, "prUrl": opened["prUrl"] });
        output(mcp::call(&self.supervisor, "mcp__epic__approve_pr", approve).await);
        output(mcp::call(&self.supervisor, "mcp__epic__create_epic_pr", pr).await);
    }

    /// An agent with a new key.
    pub(crate) async fn agent(&self, id: AgentId) -> Client {
        // The agent is there before its read model is.
        let body = json!({ "id": id.to_string() });
        let rotated = self.owner.post("/api/agent.rotateCredentials", &body).await.ok();
        self.server.agent(&rotated.body)
    }

    /// Runs a command as Muster itself does.
    pub(crate) async fn run<D: Decision>(&self, decision: &D) -> Done<D::Outcome> {
        run(&self.server.executor, decision).await
    }

    /// The agent that a client is.
    pub(crate) fn id_of(client: &Client) -> String {
        client.headers.iter().find(|(name, _)| name == "X-Agent-ID").unwrap().1.clone()
    }

    /// What is on record of an agent's tool calls, oldest first: titles.
    pub(crate) async fn decisions_of(&self, agent: &Client) -> Vec<String> {
        let path =
            format!("/api/decision.list?workspaceId={}&agentId={}&limit=100", self.workspace_id, Self::id_of(agent));
        let head = self.server.head().await;
        let listed = self.owner.with("X-Min-Position", &head.to_string()).get(&path).await.ok().body;
        let mut titles: Vec<String> =
            listed["decisions"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect();
        titles.reverse();
        titles
    }
}

pub(crate) async fn run<D: Decision>(executor: &Executor, decision: &D) -> Done<D::Outcome> {
    let now = executor.log().clock().now();
    loop {
        match executor.run(&Context::new(Actor::System("test"), now), decision).await {
            Ok(done) => return done,
            // A reactor was faster; the next look finds whom it appointed.
            Err(CommandError::Refused(Refusal::Post(PostError::SeatTaken(_)))) => {}
            Err(refused) => panic!("{refused}"),
        }
    }
}

pub(crate) fn uuid(text: &str) -> Uuid {
    text.parse().unwrap()
}

/// The output of a call that succeeded.
#[track_caller]
pub(crate) fn output(answer: ToolAnswer) -> Value {
    assert!(!answer.is_error, "{answer:?}");
    assert_eq!(answer.structured, answer.told, "the text is the output too");
    answer.structured
}

/// What is told of a call that failed.
#[track_caller]
pub(crate) fn failure(answer: ToolAnswer) -> Value {
    assert!(answer.is_error && answer.structured.is_null(), "{answer:?}");
    assert_eq!(answer.told["success"], false);
    answer.told
}

/// Settings with which nothing waits: tests have no time.
pub(crate) fn quick() -> McpSettings {
    McpSettings { backoff: vec![Duration::ZERO; 3], ..McpSettings::default() }
}

/// What a pretended bench does with work: its end, or an error.
pub(crate) type Doing = fn(&Work) -> Result<WorkResult, (&'static str, &'static str)>;

/// A bench that does nothing and says that it did; it ends with the test.
pub(crate) struct Pretender(JoinHandle<()>);

impl Pretender {
    /// Ends every errand of the floor.
    pub(crate) fn at(floor: &Floor, doing: Doing) -> Self {
        let (executor, log) = (floor.server.executor.clone(), floor.server.bench.log());
        Self(tokio::spawn(async move {
            let mut woken = log.subscribe();
            let mut position = 0;
            loop {
                for (errand_id, work) in ordered_after(&log, &mut position).await {
                    end(&executor, errand_id, doing(&work)).await;
                }
                if woken.changed().await.is_err() {
                    return;
                }
            }
        }))
    }

    /// Everything succeeds.
    pub(crate) fn succeeding(floor: &Floor) -> Self {
        Self::at(floor, |work| Ok(success_of(work)))
    }
}

impl Drop for Pretender {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn ordered_after(log: &EventLog, position: &mut i64) -> Vec<(ErrandId, Work)> {
    let mut found = Vec::new();
    for event in log.read_all(*position, 10_000).await.unwrap() {
        *position = event.position;
        if event.event_type == "ErrandOrdered" {
            let event = domain::decode::<ErrandEvent>(&event.event_type, &event.event_version, &event.payload);
            let ErrandEvent::ErrandOrdered { errand_id, work, .. } = event.unwrap() else { unreachable!() };
            found.push((errand_id, work));
        }
    }
    found
}

async fn end(executor: &Executor, errand_id: ErrandId, ended: Result<WorkResult, (&str, &str)>) {
    match ended {
        Ok(result) => {
            run(executor, &FinishErrand { errand_id, result }).await;
        }
        Err((error, details)) => {
            let (error, details) = (error.to_owned(), Some(details.to_owned()));
            run(executor, &FailErrand { errand_id, error, details }).await;
        }
    }
}

/// How work ends well.
pub(crate) fn success_of(work: &Work) -> WorkResult {
    match work {
        Work::Launch { .. } => WorkResult::Launched { started: true },
        Work::Stop { .. } => WorkResult::Stopped,
        Work::OpenPullRequest { task_id, .. } => {
            WorkResult::PullRequestOpened { pr_url: format!("muster://pull/{task_id}"), head: None }
        }
        Work::Merge { .. } => WorkResult::Merged { merge_commit: "c0ffee".to_owned() },
        Work::Rebase { .. } => WorkResult::Rebased { pr_url: None, head: None },
        Work::OpenEpicPullRequest { epic_id, .. } => {
            WorkResult::EpicPullRequestOpened { pr_url: format!("muster://pull/{epic_id}"), head: None }
        }
        Work::MergeEpic { .. } => WorkResult::EpicMerged { merge_commit: "decade".to_owned() },
    }
}

/// A bench to look at, with one file and answers that the test gives.
#[derive(Default)]
pub(crate) struct Shown {
    /// How often it was looked at.
    pub(crate) looks: Mutex<u32>,
    /// What it says instead of an answer, one after the other.
    pub(crate) troubles: Mutex<Vec<BenchError>>,
}

impl Shown {
    pub(crate) fn settings(self: &Arc<Self>) -> McpSettings {
        McpSettings { bench: Some(Arc::clone(self) as Arc<dyn api::Bench>), ..quick() }
    }

    fn look<T>(&self, seen: T) -> Result<T, BenchError> {
        *self.looks.lock().unwrap() += 1;
        self.troubles.lock().unwrap().pop().map_or(Ok(seen), Err)
    }
}

impl api::Bench for Shown {
    fn has(&self, bench: &str) -> bool {
        bench == "main"
    }

    fn diff<'a>(&'a self, of: &'a Workplace) -> Looking<'a, Diff> {
        let what = of.reviewed.as_ref().unwrap_or(&of.task_branch);
        let text = format!("{what} against {}", of.epic_branch);
        let diff = Diff { text, is_cut: false, files_changed: 1, insertions: 2, deletions: 3 };
        Box::pin(async move { self.look(diff) })
    }

    fn read_file<'a>(&'a self, of: &'a Workplace, path: &'a str) -> Looking<'a, String> {
        Box::pin(async move {
            if path == "../secret" {
                return Err(BenchError::Refused("the path leads out of the worktree".to_owned()));
            }
            assert_ne!(path, "panic", "a bench that panics");
            let at = of.reviewed.as_ref().map(|it| format!(" at {it}")).unwrap_or_default();
            self.look(format!("the text of {path}{at}"))
        })
    }

    fn pull_request<'a>(&'a self, _: &'a Workplace, _: &'a str) -> Looking<'a, PullRequestState> {
        Box::pin(async move { self.look(PullRequestState::Open) })
    }
}
