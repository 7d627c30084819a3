//! A run through the HTTP API in steps: a fleet that works, fails, is scored, writes a wiki, and is put away again.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::TimeDelta;
use commands::factory::{AddTask, AppointSupervisor};
use domain::post::Profiles;
use domain::{AgentId, EpicId, ProjectId, ReviewDecision, TaskId, UserId, WorkspaceId};
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use muster_tests::work::Work;
use serde_json::{Value, json};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(20);

/// A run, and the ids that it has given so far.
pub(super) struct Run {
    pub(super) server: Server,
    /// Who asks: the owner, and agents of the whole workspace and of a project.
    pub(super) callers: BTreeMap<&'static str, Client>,
    ids: BTreeMap<&'static str, String>,
    agents: BTreeMap<&'static str, Value>,
    steps: usize,
}

impl Run {
    /// An owner with a workspace, a project and two agents, and somebody else's beside it.
    pub(super) async fn begin(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
        let mut run = Self {
            callers: BTreeMap::from([("ada", ada.clone())]),
            server,
            ids: BTreeMap::new(),
            agents: BTreeMap::new(),
            steps: 0,
        };
        let workspace = ada.workspace("acme").await;
        let shop = ada.project(&workspace, "shop").await;
        for (code, project) in [("lead", None), ("dev", Some(shop.as_str()))] {
            let agent = ada.new_agent(&workspace, project, code).await;
            run.callers.insert(code, run.server.agent(&agent));
            run.keep(code, agent["agent"]["id"].as_str().unwrap().to_owned());
            run.agents.insert(code, agent);
        }
        let theirs = bob.workspace("theirs").await;
        bob.project(&theirs, "theirs").await;
        run.keep("workspace", workspace);
        run.keep("shop", shop);
        run
    }

    /// The path with its ids; `None` while one of them is not known yet.
    pub(super) fn path(&self, asked: &str) -> Option<String> {
        let mut path = format!("/api/{asked}");
        while let Some((before, rest)) = path.split_once('{') {
            let (name, after) = rest.split_once('}').unwrap();
            path = format!("{before}{}{after}", self.ids.get(name)?);
        }
        Some(path)
    }

    /// Waits until everything that follows has followed.
    pub(super) async fn settled(&self) {
        let mut done = 0;
        while done < self.server.head().await {
            done = self.server.head().await;
            for reactor in self.server.reactors.status() {
                assert!(self.server.reactors.wait_for(reactor.name, done, PATIENCE).await);
            }
        }
    }

    /// The project's agent puts a decision on record, as it does through MCP.
    async fn decides(&self, title: &str) {
        let by = AgentId(self.id("dev").parse().unwrap());
        let context = commands::Context::new(commands::Actor::Agent(by), self.server.bench.clock.now());
        let (title, body) = (title.to_owned(), "It is better so".to_owned());
        let decision = commands::decisions::LogDecision { by, title, body };
        self.server.executor.run(&context, &decision).await.unwrap();
    }

    /// A supervisor adds a task to an epic.
    async fn gets_a_task(&self, epic: &str, title: &str) {
        let (clock, executor) = (&self.server.bench.clock, &self.server.executor);
        let epic_id = EpicId(self.id(epic).parse().unwrap());
        let system = commands::Context::new(commands::Actor::System("test"), clock.now());
        let appoint = AppointSupervisor { by: None, epic_id, profiles: Profiles::default() };
        let by = executor.run(&system, &appoint).await.unwrap().outcome.agent_id;
        let supervisor = commands::Context::new(commands::Actor::Agent(by), clock.now());
        let (title, description) = (title.to_owned(), String::new());
        let add = AddTask { by, task_id: TaskId(Uuid::now_v7()), title, description };
        executor.run(&supervisor, &add).await.unwrap();
    }

    /// The next step; false when there is none. Time passes with each.
    pub(super) async fn step(&mut self) -> bool {
        self.server.bench.clock.set(self.server.bench.clock.now() + TimeDelta::minutes(10));
        self.steps += 1;
        let (ada, dev, lead) = (self.callers["ada"].clone(), self.callers["dev"].clone(), self.callers["lead"].clone());
        let (workspace, shop) = (self.id("workspace"), self.id("shop"));
        match self.steps {
            1 => {
                let task = ada.task(&shop, "A basket").await;
                ada.assign(&task, &self.agents["dev"]).await.ok();
                self.keep("task", task);
                let events = ada.get("/api/event.list").await.ok();
                self.keep("event", events.body["events"][0]["id"].as_str().unwrap().to_owned());
            }
            2 => {
                let session = dev.start_session(&shop).await;
                dev.post("/api/task.start", &json!({ "taskId": self.id("task"), "sessionId": session })).await.ok();
                dev.post("/api/session.log", &json!({ "sessionId": session, "message": "Half done" })).await.ok();
                self.keep("session", session);
                let letter = json!({ "workspaceId": workspace, "toAgentId": self.id("dev"), "subject": "Hurry", "body": "It is late" });
                self.keep("mail", ada.post("/api/mail.send", &letter).await.ok().id_of("mail"));
                self.decides("Split the task").await;
            }
            3 => {
                let epic =
                    json!({ "projectId": shop, "title": "Shopping", "description": "A shop", "design": "# Shop" });
                self.keep("epic", ada.post("/api/epic.create", &epic).await.ok().id_of("epic"));
                self.is_rejected(1).await;
                self.gets_a_task("epic", "A till").await;
            }
            4 => {
                dev.post("/api/task.complete", &json!({ "taskId": self.id("task") })).await.ok();
                dev.stop_session(&self.id("session")).await.ok();
                let more = json!({ "inReplyToMailId": self.id("mail"), "body": "No hurry any more" });
                ada.post("/api/mail.reply", &more).await.ok();
                let note = json!({ "workspaceId": workspace, "toHuman": true, "subject": "Remember", "body": "Lunch" });
                let note = ada.post("/api/mail.send", &note).await.ok().id_of("mail");
                ada.post("/api/mail.read", &json!({ "mailId": note })).await.ok();
                self.decides("Ask the lead").await;
            }
            5 => {
                let body = json!({ "workspaceId": workspace, "title": "On deadlocks", "slug": "locks",
                    "content": "Take locks in order", "tags": ["database"] });
                let entry = lead.post("/api/wiki.create", &body).await.ok().id_of("entry");
                self.keep("entry", entry);
            }
            6 => {
                ada.post("/api/wiki.approve", &json!({ "id": self.id("entry") })).await.ok();
                self.is_rejected(2).await;
            }
            7 => {
                let blocked = ada.task(&shop, "Payment").await;
                ada.assign(&blocked, &self.agents["dev"]).await.ok();
                let block =
                    json!({ "taskId": blocked, "blocker": "No key", "severity": "high", "requiresAttention": true });
                dev.post("/api/task.start", &json!({ "taskId": blocked })).await.ok();
                dev.post("/api/task.block", &block).await.ok();
                self.keep("blocked", blocked);
                self.is_rejected(3).await;
            }
            8 => {
                let body = json!({ "id": self.id("entry"), "content": "Take locks in one order" });
                self.keep("next", lead.put("/api/wiki.update", &body).await.ok().id_of("entry"));
                ada.post("/api/kpi.recalculate", &json!({ "agentId": self.id("dev") })).await.ok();
            }
            9 => {
                ada.post("/api/wiki.approve", &json!({ "id": self.id("next") })).await.ok();
                let second = lead.start_session(&shop).await;
                let question = json!({ "question": "Why?", "context": {}, "urgency": "low" });
                let body = json!({ "sessionId": second, "type": "question_asked", "content": question,
                    "mentions": [self.id("dev")] });
                lead.post("/api/event.publish", &body).await.ok();
                self.keep("second", second);
                ada.put("/api/epic.update", &json!({ "id": self.id("epic"), "title": "More shopping" })).await.ok();
            }
            10 => {
                self.keep("site", ada.project(&workspace, "site").await);
                let temp = ada.new_agent(&workspace, None, "temp").await;
                self.keep("temp", temp["agent"]["id"].as_str().unwrap().to_owned());
                self.keep("closed", ada.workspace("closed").await);
            }
            11 => {
                ada.put("/api/workspace.update", &json!({ "id": workspace, "name": "Acme & Co" })).await.ok();
                ada.put("/api/project.update", &json!({ "id": shop, "name": "Shop 2" })).await.ok();
                ada.put("/api/agent.update", &json!({ "id": self.id("dev"), "roleTitle": "Senior" })).await.ok();
                ada.put("/api/task.update", &json!({ "id": self.id("task"), "title": "A cart" })).await.ok();
            }
            12 => {
                ada.delete(&format!("/api/project.delete?id={}", self.id("site"))).await.ok();
                ada.delete(&format!("/api/agent.delete?id={}", self.id("temp"))).await.ok();
                ada.delete(&format!("/api/workspace.delete?id={}", self.id("closed"))).await.ok();
                lead.stop_session(&self.id("second")).await.ok();
                ada.post("/api/epic.fail", &json!({ "id": self.id("epic"), "reason": "Too large" })).await.ok();
            }
            _ => return false,
        }
        true
    }

    /// News from GitHub that does the agent no good.
    async fn is_rejected(&self, number: i64) {
        let owner = self.callers["ada"].get(&format!("/api/workspace.get?id={}", self.id("workspace"))).await.ok();
        let work = Work {
            executor: self.server.executor.clone(),
            clock: self.server.bench.clock.clone(),
            owner: UserId(owner.body["workspace"]["ownerId"].as_str().unwrap().parse().unwrap()),
            workspace_id: WorkspaceId(self.id("workspace").parse().unwrap()),
            project_id: ProjectId(self.id("shop").parse().unwrap()),
            agent_id: AgentId(self.id("dev").parse().unwrap()),
        };
        work.opens(number, None, 40, &["bug"]).await;
        work.reviews(number, number * 10, ReviewDecision::RequestChanges).await;
        work.lint_fails(number).await;
        work.pushes(&format!("sha{number}")).await;
        work.fails_to_deploy(number, number * 10, &format!("sha{number}")).await;
        work.rejects(number).await;
    }

    fn id(&self, name: &str) -> String {
        self.ids[name].clone()
    }

    fn keep(&mut self, name: &'static str, id: String) {
        self.ids.insert(name, id);
    }
}
