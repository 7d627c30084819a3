//! Moves of tasks over HTTP: which status may follow which, and who may say so.

use domain::task::TaskStatus;
use muster_tests::both_served_stores;
use muster_tests::server::{Answer, Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use store::StreamId;
use uuid::Uuid;

both_served_stores!(
    an_owner_makes_every_legal_move_and_no_other,
    an_agent_makes_every_legal_move_and_no_other,
    a_task_goes_with_its_agent_from_start_to_end,
    a_task_goes_back_to_the_backlog_and_to_another_agent,
    an_agent_moves_only_its_own_tasks,
    moves_are_for_agents_and_the_rest_is_for_owners,
    a_repeated_move_changes_nothing,
    a_move_under_a_session_belongs_to_it,
    only_the_agents_own_open_session_counts,
    an_agent_with_a_session_stays,
);

/// An owner, a project, and an agent who works in it.
struct Place {
    server: Server,
    ada: Client,
    workspace: String,
    shop: String,
    dev: Value,
}

impl Place {
    async fn new(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let shop = ada.project(&workspace, "shop").await;
        let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
        Self { server, ada, workspace, shop, dev }
    }

    /// A task that has come so far, with the agent unless it is in the backlog.
    async fn task(&self, status: TaskStatus) -> String {
        let id = self.ada.task(&self.shop, "x").await;
        if status != TaskStatus::Backlog {
            self.ada.assign(&id, &self.dev).await.ok();
            self.set(&id, status).await.ok();
        }
        id
    }

    async fn set(&self, id: &str, status: TaskStatus) -> Answer {
        self.ada.put("/api/task.update", &json!({ "id": id, "status": status })).await
    }

    /// How much has happened to a task; scores follow on their own, so the whole log would not tell.
    async fn events(&self, id: &str) -> usize {
        self.server.bench.stream(&StreamId::new("task", id)).await.len()
    }

    async fn shown(&self, id: &str) -> Value {
        self.ada.get(&format!("/api/task.get?id={id}")).await.ok().body["task"].clone()
    }
}

fn illegal(answer: Answer, from: TaskStatus, to: TaskStatus) {
    let refused = answer.refused(400, "TASK_INVALID_TRANSITION");
    assert_eq!(refused.body["error"]["details"], json!({ "from": from, "to": to }));
}

async fn an_owner_makes_every_legal_move_and_no_other(bench: Bench) {
    let place = Place::new(bench).await;
    for (from, legal) in TaskStatus::MOVES {
        for to in TaskStatus::ALL {
            let id = place.task(from).await;
            let before = place.events(&id).await;
            let answer = place.set(&id, to).await;
            if from == to {
                assert_eq!(answer.ok().body["task"]["status"], json!(from));
                assert_eq!(place.events(&id).await, before, "{from} already");
            } else if !legal.contains(&to) || (from, to) == (TaskStatus::Backlog, TaskStatus::Assigned) {
                // Nobody has a task of the backlog: it becomes assigned by naming the agent.
                illegal(answer, from, to);
                assert_eq!(place.events(&id).await, before, "{from} to {to}");
            } else {
                assert_eq!(answer.ok().body["task"]["status"], json!(to), "{from} to {to}");
            }
        }
    }
    let id = place.task(TaskStatus::Backlog).await;
    let body = json!({ "id": id, "status": "assigned", "assignedAgentId": place.dev["agent"]["id"] });
    assert_eq!(place.ada.put("/api/task.update", &body).await.ok().body["task"]["status"], "assigned");
}

async fn an_agent_makes_every_legal_move_and_no_other(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    for (route, to) in
        [("start", TaskStatus::InProgress), ("block", TaskStatus::Blocked), ("complete", TaskStatus::Completed)]
    {
        for (from, legal) in TaskStatus::MOVES {
            let id = place.task(from).await;
            let answer = agent.post(&format!("/api/task.{route}"), &move_body(route, &id)).await;
            if from == TaskStatus::Backlog {
                answer.refused(403, "TASK_ACCESS_DENIED");
            } else if from == to || legal.contains(&to) {
                assert_eq!(answer.ok().body["task"]["status"], json!(to), "{from} to {to}");
            } else {
                illegal(answer, from, to);
            }
        }
    }
}

async fn a_task_goes_with_its_agent_from_start_to_end(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    let id = place.task(TaskStatus::Assigned).await;
    let clock = &place.server.bench.clock;
    let mut times = Vec::new();
    for (route, status) in
        [("start", "in_progress"), ("block", "blocked"), ("start", "in_progress"), ("complete", "completed")]
    {
        clock.set(clock.now() + chrono::Duration::minutes(10));
        times.push(json!(clock.now()));
        let task = agent.post(&format!("/api/task.{route}"), &move_body(route, &id)).await.ok().body["task"].clone();
        assert_eq!((&task["status"], &task["updatedAt"]), (&json!(status), &times[times.len() - 1]));
        assert_eq!(task["startedAt"], times[0], "the first start counts");
    }
    assert_eq!(place.shown(&id).await["completedAt"], times[3]);
}

async fn a_task_goes_back_to_the_backlog_and_to_another_agent(bench: Bench) {
    let place = Place::new(bench).await;
    let id = place.task(TaskStatus::InProgress).await;
    let lead = place.ada.new_agent(&place.workspace, None, "lead").await;
    let task = place.ada.assign(&id, &lead).await.ok().body["task"].clone();
    assert_eq!((&task["status"], &task["assignedAgentId"]), (&json!("in_progress"), &lead["agent"]["id"]));
    let task = place.set(&id, TaskStatus::Backlog).await.ok().body["task"].clone();
    assert_eq!((&task["assignedAgentId"], &task["startedAt"]), (&Value::Null, &Value::Null));
    let task = place.ada.assign(&id, &place.dev).await.ok().body["task"].clone();
    assert_eq!((&task["status"], &task["assignedAgentId"]), (&json!("assigned"), &place.dev["agent"]["id"]));
    place.set(&id, TaskStatus::Completed).await.ok();
    illegal(place.ada.assign(&id, &lead).await, TaskStatus::Completed, TaskStatus::Assigned);
    // Nobody has a task of the backlog.
    let body = json!({ "id": place.task(TaskStatus::Backlog).await, "status": "backlog",
        "assignedAgentId": lead["agent"]["id"] });
    place.ada.put("/api/task.update", &body).await.refused(400, "TASK_INVALID_TRANSITION");
}

async fn an_agent_moves_only_its_own_tasks(bench: Bench) {
    let place = Place::new(bench).await;
    let lead = place.server.agent(&place.ada.new_agent(&place.workspace, None, "lead").await);
    let id = place.task(TaskStatus::Assigned).await;
    let before = place.events(&id).await;
    for route in ["start", "block", "complete"] {
        lead.post(&format!("/api/task.{route}"), &move_body(route, &id)).await.refused(403, "TASK_ACCESS_DENIED");
    }
    assert_eq!(place.events(&id).await, before);
}

async fn moves_are_for_agents_and_the_rest_is_for_owners(bench: Bench) {
    let place = Place::new(bench).await;
    let id = place.task(TaskStatus::Assigned).await;
    for route in ["start", "block", "complete"] {
        let path = format!("/api/task.{route}");
        for client in [&place.ada, &place.server.nobody()] {
            client.post(&path, &move_body(route, &id)).await.refused(401, "AUTH_INVALID_TOKEN");
        }
    }
    let agent = place.server.agent(&place.dev);
    agent.post("/api/task.create", &json!({ "projectId": place.shop, "title": "x" })).await.refused(403, "NOT_CEO");
    agent.put("/api/task.update", &json!({ "id": id })).await.refused(403, "NOT_CEO");
    agent.assign(&id, &place.dev).await.refused(403, "NOT_CEO");
}

async fn a_repeated_move_changes_nothing(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    let id = place.task(TaskStatus::Assigned).await;
    for route in ["start", "block", "complete"] {
        let path = format!("/api/task.{route}");
        let first = agent.post(&path, &move_body(route, &id)).await.ok();
        let before = place.events(&id).await;
        assert_eq!(agent.post(&path, &move_body(route, &id)).await.ok().body, first.body);
        assert_eq!(place.events(&id).await, before);
    }
}

async fn a_move_under_a_session_belongs_to_it(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    let session = agent.start_session(&place.shop).await;
    let id = place.task(TaskStatus::Assigned).await;
    for route in ["start", "block", "complete"] {
        let mut body = move_body(route, &id);
        body["sessionId"] = session.as_str().into();
        agent.post(&format!("/api/task.{route}"), &body).await.ok();
    }
    // Its own writes are waited for.
    let events = agent.get(&format!("/api/event.list?sessionId={session}")).await.ok().body["events"].clone();
    let types: Vec<&Value> = events.as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(types, ["task_completed", "task_blocked", "task_started", "session_start"]);
}

async fn only_the_agents_own_open_session_counts(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    let lead = place.server.agent(&place.ada.new_agent(&place.workspace, None, "lead").await);
    let (own, another) = (agent.start_session(&place.shop).await, lead.start_session(&place.shop).await);
    agent.post("/api/session.stop", &json!({ "sessionId": own })).await.ok();
    let bob = place.server.owner("bob").await;
    let theirs = bob.workspace("theirs").await;
    let spy = place.server.agent(&bob.new_agent(&theirs, None, "spy").await);
    let foreign = spy.start_session(&bob.project(&theirs, "theirs").await).await;
    let id = place.task(TaskStatus::Assigned).await;
    let before = place.events(&id).await;
    for (session, status, code) in [
        (own, 400, "SESSION_ALREADY_STOPPED"),
        (another, 403, "AGENT_SESSION_MISMATCH"),
        (foreign, 403, "SESSION_ACCESS_DENIED"),
        (Uuid::now_v7().to_string(), 404, "SESSION_NOT_FOUND"),
    ] {
        let body = json!({ "taskId": id, "sessionId": session });
        agent.post("/api/task.start", &body).await.refused(status, code);
    }
    assert_eq!(place.events(&id).await, before);
    agent.post("/api/task.start", &json!({ "taskId": id })).await.ok();
}

async fn an_agent_with_a_session_stays(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.server.agent(&place.dev);
    let session = agent.start_session(&place.shop).await;
    let delete = format!("/api/agent.delete?id={}", place.dev["agent"]["id"].as_str().unwrap());
    place.ada.delete(&delete).await.refused(400, "AGENT_HAS_ACTIVE_SESSION");
    agent.post("/api/session.stop", &json!({ "sessionId": session })).await.ok();
    place.ada.delete(&delete).await.ok();
}

fn move_body(route: &str, id: &str) -> Value {
    match route {
        "block" => json!({ "taskId": id, "blocker": "No key", "severity": "high", "requiresAttention": true }),
        _ => json!({ "taskId": id }),
    }
}
