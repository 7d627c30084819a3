//! Epics over HTTP: humans write, follow, take, send back and give up what agents carry out.

use commands::factory::{
    AddTask, AppointSupervisor, AppointWorker, ApproveTask, DeclareDead, FinishErrand, SubmitEpic, SubmitTask,
    UpdateTaskState,
};
use commands::{Actor, Context, Decision};
use domain::errand::WorkResult;
use domain::post::{Evidence, Profiles};
use domain::task::TaskState;
use domain::{AgentId, EpicId, TaskId};
use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use reactors::bench::BenchSettings;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    an_epic_is_written_changed_and_listed,
    an_epic_shows_its_tasks_and_its_review_queue,
    tasks_are_listed_by_their_epic,
    an_epic_of_somebody_else_lists_nothing,
    a_human_takes_an_epic_once_its_supervisor_submitted_it,
    a_human_sends_an_epic_back_or_gives_it_up,
    what_an_epic_does_not_allow_is_refused_by_name,
    a_task_in_an_epic_is_not_moved_from_outside,
    agents_show_how_they_are,
    a_supervisor_is_healthy_while_a_human_reviews_and_shows_how_its_work_ended,
    a_supervisor_is_healthy_for_a_while_when_its_epic_is_sent_back,
    agents_are_judged_by_the_rules_of_their_bench,
    an_epic_whose_bench_is_not_on_this_node_is_written_with_a_warning,
    a_repeated_request_makes_one_epic,
);

/// An owner with a project and an epic, and the agents that a test plays.
pub(crate) struct Place {
    pub(crate) server: Server,
    pub(crate) ada: Client,
    pub(crate) workspace: String,
    pub(crate) shop: String,
    pub(crate) epic: String,
}

impl Place {
    pub(crate) async fn new(bench: Bench) -> Self {
        Self::on(Server::start(bench).await).await
    }

    async fn on(server: Server) -> Self {
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let shop = ada.project(&workspace, "shop").await;
        let epic = ada.post("/api/epic.create", &epic_of(&shop)).await.ok().id_of("epic");
        Self { server, ada, workspace, shop, epic }
    }

    pub(crate) async fn run<D: Decision>(&self, actor: Actor, decision: &D) -> D::Outcome {
        let context = Context::new(actor, self.server.bench.clock.now());
        self.server.executor.run(&context, decision).await.unwrap().outcome
    }

    pub(crate) async fn system<D: Decision>(&self, decision: &D) -> D::Outcome {
        self.run(Actor::System("test"), decision).await
    }

    pub(crate) async fn supervisor(&self) -> AgentId {
        let epic_id = EpicId(self.epic.parse().unwrap());
        self.system(&AppointSupervisor { by: None, epic_id, profiles: Profiles::default() }).await.agent_id
    }

    /// A task that waits for review, and its worker.
    async fn submitted(&self, supervisor: AgentId, title: &str) -> (TaskId, AgentId) {
        let (title, description) = (title.to_owned(), String::new());
        let add = AddTask { by: supervisor, task_id: TaskId(Uuid::now_v7()), title, description };
        let task_id = self.run(Actor::Agent(supervisor), &add).await;
        let worker = self.system(&AppointWorker { task_id, profiles: Profiles::default() }).await.agent_id;
        self.run(Actor::Agent(worker), &UpdateTaskState { by: worker, to: TaskState::InProgress }).await;
        let submit = SubmitTask { by: worker, title: "It".to_owned(), description: String::new() };
        let errand_id = self.run(Actor::Agent(worker), &submit).await;
        let result = WorkResult::PullRequestOpened { pr_url: format!("local://{task_id}"), head: None };
        self.system(&FinishErrand { errand_id, result }).await;
        (task_id, worker)
    }

    /// The epic waits for a human.
    async fn ready(&self) -> AgentId {
        let supervisor = self.supervisor().await;
        let (task_id, _) = self.submitted(supervisor, "One").await;
        let approve = ApproveTask { by: supervisor, task_id, pr_url: format!("local://{task_id}") };
        let errand_id = self.run(Actor::Agent(supervisor), &approve).await;
        let result = WorkResult::Merged { merge_commit: "fff".to_owned() };
        self.system(&FinishErrand { errand_id, result }).await;
        let submit = SubmitEpic { by: supervisor, title: "A shop".to_owned(), description: String::new() };
        let errand_id = self.run(Actor::Agent(supervisor), &submit).await;
        let result = WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned(), head: None };
        self.system(&FinishErrand { errand_id, result }).await;
        supervisor
    }

    /// An answer that has seen everything.
    pub(crate) async fn seen(&self, path: &str) -> Value {
        let head = self.server.head().await.to_string();
        self.ada.with("X-Min-Position", &head).get(path).await.ok().body
    }

    async fn shown(&self) -> Value {
        self.seen(&format!("/api/epic.get?id={}", self.epic)).await
    }
}

fn epic_of(project: &str) -> Value {
    json!({ "projectId": project, "title": "Shopping", "description": "A shop", "design": "# Shop" })
}

async fn an_epic_is_written_changed_and_listed(bench: Bench) {
    let place = Place::new(bench).await;
    let (ada, epic) = (&place.ada, &place.epic);
    let shown = &place.shown().await["epic"];
    assert_eq!((&shown["state"], &shown["bench"]), (&json!("IN_PROGRESS"), &json!("main")));
    assert_eq!(shown["worktreeName"], format!("epic/{epic}/shopping"));
    let changed = ada.put("/api/epic.update", &json!({ "id": epic, "title": "A mall" })).await.ok();
    assert_eq!((&changed.body["epic"]["title"], &changed.body["epic"]["design"]), (&json!("A mall"), &json!("# Shop")));
    let other = json!({ "projectId": place.shop, "title": "Two", "description": "", "bench": "big" });
    let other = ada.post("/api/epic.create", &other).await.ok();
    assert_eq!(other.body["epic"]["bench"], "big");
    let listed = ada.get(&format!("/api/epic.list?projectId={}&limit=1", place.shop)).await.ok().body;
    assert_eq!(listed["epics"].as_array().unwrap().len(), 1);
    assert_eq!(listed["epics"][0]["id"], other.body["epic"]["id"]);
    let none = ada.get(&format!("/api/epic.list?projectId={}&state=COMPLETED", place.shop)).await.ok().body;
    assert_eq!(none["epics"], json!([]));
}

async fn an_epic_shows_its_tasks_and_its_review_queue(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.supervisor().await;
    let (one, _) = place.submitted(supervisor, "One").await;
    let (two, _) = place.submitted(supervisor, "Two").await;
    let shown = place.shown().await;
    assert_eq!(shown["epic"]["supervisorId"], json!(supervisor));
    assert_eq!(shown["epic"]["taskCounts"], json!({ "open": 2, "merged": 0, "failed": 0 }));
    let task = &shown["tasks"][0];
    assert_eq!(
        (&task["id"], &task["state"], &task["status"]),
        (&json!(one), &json!("PENDING_REVIEW"), &json!("in_progress"))
    );
    assert_eq!(
        (&task["epicId"], &task["attempts"], &task["githubIssueId"]),
        (&json!(place.epic), &json!(0), &json!(null))
    );
    let queue = place.seen(&format!("/api/review.queue?epicId={}", place.epic)).await;
    let titles: Vec<_> = queue["queue"].as_array().unwrap().iter().map(|it| it["title"].clone()).collect();
    assert_eq!((titles, &queue["count"]), (vec![json!("One"), json!("Two")], &json!(2)));
    assert_eq!(queue["currentReview"], json!({ "taskId": one, "prUrl": format!("local://{one}") }));
    let second = place.seen(&format!("/api/review.queue?epicId={}&offset=1", place.epic)).await;
    assert_eq!((&second["queue"][0]["taskId"], &second["currentReview"]["taskId"]), (&json!(two), &json!(one)));
}

async fn tasks_are_listed_by_their_epic(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.supervisor().await;
    let list = format!("/api/task.list?projectId={}&epicId={}", place.shop, place.epic);
    let (one, _) = place.submitted(supervisor, "One").await;
    let (then, of_then) = (place.server.head().await, place.seen(&list).await);
    let (two, _) = place.submitted(supervisor, "Two").await;
    place.ada.task(&place.shop, "Of no epic").await;
    assert_eq!(ids(&place.seen(&list).await), [json!(two), json!(one)]);
    assert_eq!(ids(&place.seen(&format!("{list}&status=in_progress&limit=1&offset=1")).await), [json!(one)]);
    assert_eq!(ids(&place.seen(&format!("{list}&status=backlog")).await), [json!(null); 0]);
    let shown = place.seen(&format!("/api/task.get?id={one}")).await["task"].clone();
    assert_eq!(of_then, json!({ "tasks": [shown] }));
    assert_eq!(place.ada.get(&format!("{list}&asOf={then}")).await.ok().body, of_then);
    let expected = json!({ "epicId": place.epic, "state": "PENDING_REVIEW", "attempts": 0,
        "worktreeName": shown["worktreeName"], "prUrl": format!("local://{one}"), "failure": null });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
}

async fn an_epic_of_somebody_else_lists_nothing(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.supervisor().await;
    place.submitted(supervisor, "One").await;
    let (ada, bob) = (&place.ada, place.server.owner("bob").await);
    let theirs = bob.workspace("theirs").await;
    let (site, mall) = (ada.project(&place.workspace, "site").await, bob.project(&theirs, "mall").await);
    bob.task(&mall, "Bob's own").await;
    let head = place.server.head().await;
    for (client, project) in [(ada, &site), (&bob, &mall)] {
        let list = format!("/api/task.list?projectId={project}&epicId={}", place.epic);
        assert_eq!(client.get(&list).await.ok().body, json!({ "tasks": [] }));
        assert_eq!(client.get(&format!("{list}&asOf={head}")).await.ok().body, json!({ "tasks": [] }));
    }
    let list = format!("/api/task.list?projectId={}&epicId={}", place.shop, place.epic);
    bob.get(&list).await.refused(403, "PROJECT_ACCESS_DENIED");
    let dev = ada.new_agent(&place.workspace, Some(&site), "dev").await;
    place.server.agent(&dev).get(&list).await.refused(403, "PROJECT_ACCESS_DENIED");
    assert_eq!(bob.get("/api/task.list?projectId=x&epicId=y").await.bad_fields(), ["epicId", "projectId"]);
}

fn ids(tasks: &Value) -> Vec<Value> {
    tasks["tasks"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
}

async fn a_human_takes_an_epic_once_its_supervisor_submitted_it(bench: Bench) {
    let place = Place::new(bench).await;
    let take = json!({ "id": place.epic });
    let early = place.ada.post("/api/epic.complete", &take).await.refused(409, "EPIC_INVALID_STATE_TRANSITION");
    assert_eq!(early.body["error"]["details"], json!({ "from": "IN_PROGRESS", "to": "COMPLETED" }));
    place.ready().await;
    let taken = place.ada.post("/api/epic.complete", &take).await.ok().body;
    assert_eq!(taken["epic"]["state"], "AWAITING_HUMAN_REVIEW");
    let back = json!({ "id": place.epic, "feedback": "Wait" });
    place.ada.post("/api/epic.requestChanges", &back).await.refused(409, "ERRAND_UNDERWAY");
    let errand_id = domain::ErrandId(taken["errandId"].as_str().unwrap().parse().unwrap());
    let result = WorkResult::EpicMerged { merge_commit: "abc".to_owned() };
    place.system(&FinishErrand { errand_id, result }).await;
    let shown = &place.shown().await["epic"];
    assert_eq!((&shown["state"], &shown["mergeCommit"]), (&json!("COMPLETED"), &json!("abc")));
}

async fn a_human_sends_an_epic_back_or_gives_it_up(bench: Bench) {
    let place = Place::new(bench).await;
    place.ready().await;
    let back = json!({ "id": place.epic, "feedback": "Add a till" });
    let sent = place.ada.post("/api/epic.requestChanges", &back).await.ok().body;
    assert_eq!((&sent["epic"]["state"], &sent["epic"]["feedback"]), (&json!("IN_PROGRESS"), &json!("Add a till")));
    let fail = json!({ "id": place.epic, "reason": "Too large" });
    let failed = place.ada.post("/api/epic.fail", &fail).await.ok().body;
    assert_eq!((&failed["epic"]["state"], &failed["epic"]["failure"]), (&json!("FAILED"), &json!("Too large")));
    let late = json!({ "id": place.epic, "title": "Never mind" });
    place.ada.put("/api/epic.update", &late).await.refused(409, "EPIC_NOT_IN_PROGRESS");
}

async fn what_an_epic_does_not_allow_is_refused_by_name(bench: Bench) {
    let place = Place::new(bench).await;
    let (ada, bob) = (&place.ada, place.server.owner("bob").await);
    let nothing = Uuid::now_v7();
    ada.get(&format!("/api/epic.get?id={nothing}")).await.refused(404, "EPIC_NOT_FOUND");
    ada.get(&format!("/api/review.queue?epicId={nothing}")).await.refused(404, "EPIC_NOT_FOUND");
    ada.post("/api/epic.fail", &json!({ "id": nothing, "reason": "x" })).await.refused(404, "EPIC_NOT_FOUND");
    bob.get(&format!("/api/epic.get?id={}", place.epic)).await.refused(403, "EPIC_ACCESS_DENIED");
    let back = json!({ "id": place.epic, "feedback": "x" });
    ada.post("/api/epic.requestChanges", &back).await.refused(409, "EPIC_INVALID_STATE_TRANSITION");
    let bad = json!({ "projectId": place.shop, "title": "", "description": "x", "bench": "No Bench" });
    assert_eq!(ada.post("/api/epic.create", &bad).await.bad_fields(), ["bench", "title"]);
    let dev = ada.new_agent(&place.workspace, Some(&place.shop), "dev").await;
    let terminal = format!("/api/agent.terminal?id={}", dev["agent"]["id"].as_str().unwrap());
    ada.get(&terminal).await.refused(404, "AGENT_NOT_POSTED");
}

async fn a_task_in_an_epic_is_not_moved_from_outside(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.supervisor().await;
    let (task, _) = place.submitted(supervisor, "One").await;
    let cancel = json!({ "id": task, "status": "cancelled" });
    place.ada.put("/api/task.update", &cancel).await.refused(409, "TASK_IN_EPIC");
    let dev = place.ada.new_agent(&place.workspace, Some(&place.shop), "dev").await;
    place.ada.assign(&task.to_string(), &dev).await.refused(409, "TASK_IN_EPIC");
    let edit = json!({ "id": task, "title": "Better", "priority": "P0" });
    let edited = place.ada.put("/api/task.update", &edit).await.ok().body;
    assert_eq!((&edited["task"]["title"], &edited["task"]["state"]), (&json!("Better"), &json!("PENDING_REVIEW")));
}

async fn agents_show_how_they_are(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.supervisor().await;
    let (_, worker) = place.submitted(supervisor, "One").await;
    let path = format!("/api/agent.health?workspaceId={}", place.workspace);
    let all = place.seen(&path).await;
    let ids: Vec<_> = all["agents"].as_array().unwrap().iter().map(|it| it["agentId"].clone()).collect();
    assert!(ids.contains(&json!(worker)) && ids.contains(&json!(supervisor)), "{all}");
    let workers = place.seen(&format!("{path}&type=WORKER&state=IN_PROGRESS&epicId={}", place.epic)).await;
    let health = &workers["agents"][0];
    assert_eq!(
        (&health["healthy"], &health["checksMissed"], &health["model"]),
        (&json!(true), &json!(0), &json!("sonnet"))
    );
    let clock = &place.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::minutes(5));
    let silent = &place.seen(&path).await["agents"][0];
    assert_eq!((&silent["healthy"], &silent["minutesSinceHeartbeat"]), (&json!(false), &json!(5)));
}

async fn a_supervisor_is_healthy_while_a_human_reviews_and_shows_how_its_work_ended(bench: Bench) {
    let place = Place::new(bench).await;
    let supervisor = place.ready().await;
    let clock = &place.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::minutes(90));
    let path = format!("/api/agent.health?workspaceId={}&epicId={}", place.workspace, place.epic);
    let rests = &place.seen(&format!("{path}&type=SUPERVISOR")).await["agents"][0];
    assert_eq!((&rests["agentId"], &rests["healthy"]), (&json!(supervisor), &json!(true)));
    assert_eq!((&rests["permissions"], &rests["result"]), (&json!("relaxed"), &json!(null)));
    let done = &place.seen(&format!("{path}&type=WORKER")).await["agents"][0];
    assert_eq!(
        (&done["permissions"], &done["result"], &done["healthy"]),
        (&json!("yolo"), &json!("success"), &json!(false))
    );
    let evidence =
        Evidence { last_heartbeat: clock.now(), checks_missed: 2, process_alive: None, last_output_at: None };
    place.system(&DeclareDead { agent_id: supervisor, evidence, profiles: Profiles::default() }).await;
    let dead = &place.seen(&format!("{path}&type=SUPERVISOR&state=FAILED")).await["agents"][0];
    assert_eq!(dead["relievedBecause"], "it was declared dead");
}

async fn a_supervisor_is_healthy_for_a_while_when_its_epic_is_sent_back(bench: Bench) {
    let place = Place::new(bench).await;
    place.ready().await;
    let clock = &place.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::minutes(90));
    place.ada.post("/api/epic.requestChanges", &json!({ "id": place.epic, "feedback": "Wheels" })).await.ok();
    let path = format!("/api/agent.health?workspaceId={}&type=SUPERVISOR", place.workspace);
    for is_healthy in [true, false] {
        clock.set(clock.now() + chrono::TimeDelta::seconds(90));
        assert_eq!(place.seen(&path).await["agents"][0]["healthy"], is_healthy);
    }
}

/// A server with a bench that lets agents be silent for an hour, and a command for one project's workers.
pub(crate) async fn with_a_bench(bench: Bench) -> (Place, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.toml");
    let text = format!(
        "folder = {0}\nhealth_interval_seconds = 3600\n[agents.supervisor]\ncommand = [\"true\"]\n\
         [projects.\"acme/shop\"]\nrepository = {0}\n[projects.\"acme/shop\".agents.worker]\ncommand = [\"true\"]\n",
        json!(folder.path())
    );
    std::fs::write(&file, text).unwrap();
    let made = std::process::Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status().unwrap();
    assert!(made.success());
    let read = BenchSettings::read(Some(&file), |_| None, folder.path()).unwrap().unwrap();
    let here = reactors::bench::Bench::open(read, "127.0.0.1:1").await.unwrap();
    let settings = api::HttpSettings { bench: Some(here), ..muster_tests::server::settings() };
    (Place::on(Server::start_with(bench, settings).await).await, folder)
}

async fn agents_are_judged_by_the_rules_of_their_bench(bench: Bench) {
    let (place, _folder) = with_a_bench(bench).await;
    let supervisor = place.supervisor().await;
    place.submitted(supervisor, "One").await;
    let clock = &place.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::minutes(50));
    let health = place.seen(&format!("/api/agent.health?workspaceId={}", place.workspace)).await;
    let of = |kind: &str| {
        let found = health["agents"].as_array().unwrap().iter().find(|it| it["type"] == kind).unwrap();
        (found["healthy"].clone(), found["external"].clone())
    };
    // The orchestrator has no command; the workers of this project have one of their own.
    for (kind, external) in [("ORCHESTRATOR", true), ("SUPERVISOR", false), ("WORKER", false)] {
        assert_eq!(of(kind), (json!(true), json!(external)), "{kind}");
    }
}

async fn an_epic_whose_bench_is_not_on_this_node_is_written_with_a_warning(bench: Bench) {
    let (place, _folder) = with_a_bench(bench).await;
    let here = place.ada.post("/api/epic.create", &epic_of(&place.shop)).await.ok().body;
    assert_eq!(here["warnings"], json!(null), "{here}");
    let mut elsewhere = epic_of(&place.shop);
    elsewhere["bench"] = json!("big");
    let written = place.ada.post("/api/epic.create", &elsewhere).await.ok().body;
    assert_eq!(written["epic"]["bench"], "big");
    assert_eq!(written["warnings"][0]["code"], "BENCH_NOT_HERE", "{written}");
    assert!(written["warnings"][0]["message"].as_str().unwrap().contains("big"), "{written}");
}

async fn a_repeated_request_makes_one_epic(bench: Bench) {
    let place = Place::new(bench).await;
    let again = place.ada.with("Idempotency-Key", "one");
    let (first, second) = (
        again.post("/api/epic.create", &epic_of(&place.shop)).await.ok().id_of("epic"),
        again.post("/api/epic.create", &epic_of(&place.shop)).await.ok().id_of("epic"),
    );
    assert_eq!(first, second);
}
