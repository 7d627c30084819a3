//! The sessions of agents: start, log, stop, get, and who may do what in them.

use chrono::Duration;
use commands::session::StartSession;
use commands::{Actor, Context};
use domain::{AgentId, ProjectId, SessionId};
use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores! {
    a_session_starts_logs_and_stops,
    a_session_is_shown_with_its_events_its_agent_and_its_project,
    an_agent_has_one_session_at_a_time,
    an_agent_works_only_where_it_may,
    a_session_is_its_agents_alone,
    nothing_happens_in_a_stopped_session,
    tasks_worked_on_are_tasks_of_the_project,
    an_agent_on_probation_is_warned_and_an_inactive_one_refused,
    a_session_of_some_length_changes_the_agents_kpis,
    an_agent_with_a_session_is_not_deleted,
    an_entry_is_shown_with_its_session,
    a_repeat_in_a_session_is_answered_like_the_first,
    what_one_event_says_needs_no_read_model,
}

/// A workspace with two projects and two agents.
struct World {
    server: Server,
    ada: Client,
    workspace: String,
    shop: String,
    site: String,
    /// Of the whole workspace.
    lead: Value,
    /// Of the shop.
    dev: Value,
}

impl World {
    async fn new(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let (shop, site) = (ada.project(&workspace, "shop").await, ada.project(&workspace, "site").await);
        let lead = ada.new_agent(&workspace, None, "lead").await;
        let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
        Self { server, ada, workspace, shop, site, lead, dev }
    }

    fn dev(&self) -> Client {
        self.server.agent(&self.dev)
    }

    fn lead(&self) -> Client {
        self.server.agent(&self.lead)
    }

    fn minutes_pass(&self, minutes: i64) {
        let clock = &self.server.bench.clock;
        clock.set(clock.now() + Duration::minutes(minutes));
    }
}

async fn a_session_starts_logs_and_stops(bench: Bench) {
    let world = World::new(bench).await;
    let dev = world.dev();
    let started = dev.post("/api/session.start", &json!({ "projectId": world.shop })).await.ok();
    let session = &started.body["session"];
    assert_eq!((&session["status"], &session["projectId"]), (&json!("started"), &json!(world.shop)));
    assert_eq!(session["agentId"], world.dev["agent"]["id"]);
    assert_eq!((&session["stoppedAt"], &session["durationSeconds"]), (&Value::Null, &Value::Null));
    let nothing = json!({ "tasks": [], "messages": [], "roleChanges": [] });
    assert_eq!((&started.body["pulledUpdates"], started.body.get("warnings")), (&nothing, None));
    let id = started.id_of("session");
    let log = json!({ "sessionId": id, "message": "Reading", "context": { "file": "a.rs" } });
    let logged = dev.post("/api/session.log", &log).await.ok();
    let event = &logged.body["event"];
    assert_eq!((&event["type"], &event["sessionId"]), (&json!("session_log"), &json!(id)));
    assert_eq!(event["content"], json!({ "message": "Reading", "context": { "file": "a.rs" } }));
    assert_eq!((&event["authorId"], &event["projectId"]), (&world.dev["agent"]["id"], &json!(world.shop)));
    let caught_up = world.ada.seeing(&logged);
    let shown = caught_up.get(&format!("/api/event.get?id={}", logged.id_of("event"))).await.ok();
    assert_eq!(shown.body["event"], *event, "the read model says the same");
    let shown = dev.get(&format!("/api/session.get?id={id}")).await.ok();
    assert_eq!(shown.body["session"]["status"], "logging");
    world.minutes_pass(2);
    let task = world.ada.task(&world.shop, "Basket").await;
    let stop = json!({ "sessionId": id, "tasksWorkedOn": [task, task], "summary": "Done" });
    let stopped = dev.post("/api/session.stop", &stop).await.ok();
    let session = &stopped.body["session"];
    assert_eq!((&session["status"], &session["durationSeconds"]), (&json!("stopped"), &json!(120)));
    assert_eq!((&session["tasksWorkedOn"], &session["metadata"]["summary"]), (&json!([task]), &json!("Done")));
    assert!(session["stoppedAt"].is_string());
}

async fn a_session_is_shown_with_its_events_its_agent_and_its_project(bench: Bench) {
    let world = World::new(bench).await;
    let dev = world.dev();
    let id = dev.start_session(&world.shop).await;
    dev.post("/api/session.log", &json!({ "sessionId": id, "message": "Reading" })).await.ok();
    dev.stop_session(&id).await.ok();
    let second = dev.post("/api/session.start", &json!({ "projectId": world.shop })).await.ok();
    let (other, ada) = (second.id_of("session"), world.ada.seeing(&second));
    for client in [&ada, &dev, &world.lead().seeing(&second)] {
        let shown = client.get(&format!("/api/session.get?id={id}")).await.ok().body;
        let types: Vec<&str> =
            shown["events"].as_array().unwrap().iter().filter_map(|it| it["type"].as_str()).collect();
        assert_eq!(types, ["session_start", "session_log", "session_stop"]);
        assert_eq!((&shown["agent"]["id"], &shown["project"]["id"]), (&world.dev["agent"]["id"], &json!(world.shop)));
    }
    let filtered = ada.get(&format!("/api/event.list?sessionId={id}")).await.ok();
    assert_eq!(filtered.body["total"], 3);
    let agent = ada.get(&format!("/api/agent.get?id={}", world.dev["agent"]["id"].as_str().unwrap())).await.ok();
    let recent = agent.body["recentSessions"].as_array().unwrap();
    assert_eq!(recent.iter().map(|it| &it["id"]).collect::<Vec<_>>(), [&json!(other), &json!(id)]);
    let unknown = format!("/api/session.get?id={}", Uuid::now_v7());
    world.ada.get(&unknown).await.refused(404, "SESSION_NOT_FOUND");
}

async fn an_agent_has_one_session_at_a_time(bench: Bench) {
    let world = World::new(bench).await;
    let (lead, start) = (world.lead(), json!({ "projectId": world.shop }));
    let many = futures_util::future::join_all((0..8).map(|_| lead.post("/api/session.start", &start))).await;
    let (started, refused): (Vec<_>, Vec<_>) = many.into_iter().partition(|it| it.status.is_success());
    assert_eq!(started.len(), 1);
    for answer in refused {
        answer.refused(400, "AGENT_HAS_ACTIVE_SESSION");
    }
    lead.post("/api/session.start", &json!({ "projectId": world.site })).await.refused(400, "AGENT_HAS_ACTIVE_SESSION");
    world.dev().start_session(&world.shop).await;
    lead.stop_session(&started[0].id_of("session")).await.ok();
    lead.start_session(&world.site).await;
}

async fn an_agent_works_only_where_it_may(bench: Bench) {
    let world = World::new(bench).await;
    let bob = world.server.owner("bob").await;
    let elsewhere = bob.workspace("elsewhere").await;
    let foreign = bob.project(&elsewhere, "foreign").await;
    let gone = world.ada.project(&world.workspace, "gone").await;
    world.ada.delete(&format!("/api/project.delete?id={gone}")).await.ok();
    for (agent, project, status, code) in [
        (world.dev(), &world.site, 403, "PROJECT_ACCESS_DENIED"),
        (world.dev(), &foreign, 403, "PROJECT_ACCESS_DENIED"),
        (world.lead(), &foreign, 403, "PROJECT_ACCESS_DENIED"),
        (world.lead(), &gone, 404, "PROJECT_NOT_FOUND"),
        (world.lead(), &Uuid::now_v7().to_string(), 404, "PROJECT_NOT_FOUND"),
    ] {
        agent.post("/api/session.start", &json!({ "projectId": project })).await.refused(status, code);
    }
    let bad = world.dev().post("/api/session.start", &json!({ "projectId": "shop", "x": 1 })).await;
    assert_eq!(bad.refused(400, "VALIDATION_ERROR").bad_fields(), ["projectId", "x"]);
}

async fn a_session_is_its_agents_alone(bench: Bench) {
    let world = World::new(bench).await;
    let bob = world.server.owner("bob").await;
    let elsewhere = bob.workspace("elsewhere").await;
    let spy = world.server.agent(&bob.new_agent(&elsewhere, None, "spy").await);
    let started = world.dev().post("/api/session.start", &json!({ "projectId": world.shop })).await.ok();
    let id = started.id_of("session");
    for over in [false, true] {
        for (path, body) in commands_in(&id) {
            world.lead().post(path, &body).await.refused(403, "AGENT_SESSION_MISMATCH");
            spy.post(path, &body).await.refused(403, "SESSION_ACCESS_DENIED");
            world.ada.post(path, &body).await.refused(401, "AUTH_INVALID_TOKEN");
        }
        for client in [bob.seeing(&started), spy.seeing(&started)] {
            client.get(&format!("/api/session.get?id={id}")).await.refused(403, "SESSION_ACCESS_DENIED");
        }
        if !over {
            world.dev().stop_session(&id).await.ok();
        }
    }
    for (path, body) in commands_in(&Uuid::now_v7().to_string()) {
        world.dev().post(path, &body).await.refused(404, "SESSION_NOT_FOUND");
    }
}

async fn nothing_happens_in_a_stopped_session(bench: Bench) {
    let world = World::new(bench).await;
    let dev = world.dev();
    let id = dev.start_session(&world.shop).await;
    dev.stop_session(&id).await.ok();
    let again = dev.start_session(&world.shop).await;
    let task = world.ada.task(&world.shop, "Basket").await;
    world.ada.assign(&task, &world.dev).await.ok();
    let head = world.server.head().await;
    for (path, body) in commands_in(&id) {
        dev.post(path, &body).await.refused(400, "SESSION_ALREADY_STOPPED");
    }
    let zombie = json!({ "taskId": task, "sessionId": id });
    dev.post("/api/task.start", &zombie).await.refused(400, "SESSION_ALREADY_STOPPED");
    dev.post("/api/task.start", &json!({ "taskId": task, "sessionId": again })).await.ok();
    assert!(
        world
            .server
            .bench
            .everything()
            .await
            .iter()
            .filter(|it| it.position > head)
            .all(|it| { it.event_type == "TaskStarted" || it.stream.aggregate_type == "scorecard" })
    );
}

async fn tasks_worked_on_are_tasks_of_the_project(bench: Bench) {
    let world = World::new(bench).await;
    let lead = world.lead();
    let id = lead.start_session(&world.shop).await;
    let other = world.ada.task(&world.site, "Elsewhere").await;
    for unknown in [other, Uuid::now_v7().to_string()] {
        let stop = json!({ "sessionId": id, "tasksWorkedOn": [unknown] });
        let refused = lead.post("/api/session.stop", &stop).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["tasksWorkedOn"]);
    }
    lead.stop_session(&id).await.ok();
}

async fn an_agent_on_probation_is_warned_and_an_inactive_one_refused(bench: Bench) {
    let world = World::new(bench).await;
    let status = async |status: &str| {
        let body = json!({ "id": world.dev["agent"]["id"], "status": status });
        world.ada.put("/api/agent.update", &body).await.ok();
    };
    status("probation").await;
    let start = json!({ "projectId": world.shop });
    let started = world.dev().post("/api/session.start", &start).await.ok();
    assert_eq!(started.body["warnings"][0]["code"], "AGENT_ON_PROBATION");
    world.dev().stop_session(&started.id_of("session")).await.ok();
    status("inactive").await;
    world.dev().post("/api/session.start", &start).await.refused(403, "AGENT_INACTIVE");
}

async fn a_session_of_some_length_changes_the_agents_kpis(bench: Bench) {
    let world = World::new(bench).await;
    let dev = world.dev();
    let short = dev.start_session(&world.shop).await;
    assert_eq!(dev.stop_session(&short).await.ok().body["kpiUpdate"], Value::Null);
    let long = dev.start_session(&world.shop).await;
    world.minutes_pass(6);
    let stopped = dev.stop_session(&long).await.ok();
    let update = &stopped.body["kpiUpdate"];
    assert_eq!(update["newKPIs"]["agentId"], world.dev["agent"]["id"], "{}", stopped.text);
    assert!(update["changeReason"].is_string());
}

async fn an_agent_with_a_session_is_not_deleted(bench: Bench) {
    let world = World::new(bench).await;
    let id = world.dev().start_session(&world.shop).await;
    let delete = format!("/api/agent.delete?id={}", world.dev["agent"]["id"].as_str().unwrap());
    world.ada.delete(&delete).await.refused(400, "AGENT_HAS_ACTIVE_SESSION");
    world.dev().stop_session(&id).await.ok();
    world.ada.delete(&delete).await.ok();
}

async fn an_entry_is_shown_with_its_session(bench: Bench) {
    let world = World::new(bench).await;
    let id = world.dev().start_session(&world.shop).await;
    let log = json!({ "sessionId": id, "message": "Reading" });
    let logged = world.dev().post("/api/session.log", &log).await.ok();
    let event = logged.id_of("event");
    let shown = world.ada.seeing(&logged).get(&format!("/api/event.get?id={event}")).await.ok().body;
    assert_eq!((&shown["session"]["id"], &shown["session"]["status"]), (&json!(id), &json!("logging")));
    assert_eq!(shown["author"]["id"], world.dev["agent"]["id"]);
}

async fn a_repeat_in_a_session_is_answered_like_the_first(bench: Bench) {
    let world = World::new(bench).await;
    let task = world.ada.task(&world.shop, "Basket").await;
    world.ada.assign(&task, &world.dev).await.ok();
    let dev = world.dev().with("Idempotency-Key", "one");
    let start = json!({ "projectId": world.shop });
    let first = dev.post("/api/session.start", &start).await.ok();
    assert_eq!(first.body["pulledUpdates"]["messages"][0]["type"], "task_assigned");
    let id = first.id_of("session");
    world.dev().post("/api/session.log", &json!({ "sessionId": id, "message": "Reading" })).await.ok();
    let again = dev.post("/api/session.start", &start).await.ok();
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    for (path, body) in commands_in(&id) {
        let first = dev.post(path, &body).await.ok();
        let again = dev.post(path, &body).await.ok();
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body), "{path}");
    }
}

async fn what_one_event_says_needs_no_read_model(bench: Bench) {
    let server = Server::start_without_read_models(bench).await;
    let ada = server.owner("ada").await;
    ada.post("/api/workspace.create", &json!({ "name": "Acme", "slug": "acme" })).await;
    let workspace = newest(&server).await;
    ada.post("/api/project.create", &json!({ "workspaceId": workspace, "name": "Shop", "slug": "shop" })).await;
    let shop = newest(&server).await;
    let body = json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": "lead", "name": "Lead",
        "roleTitle": "Lead" });
    let lead = server.agent(&ada.post("/api/agent.create", &body).await.body);
    let agent_id = AgentId(newest(&server).await);
    // What is new cannot be told, so nothing starts.
    lead.post("/api/session.start", &json!({ "projectId": shop })).await.refused(503, "UNAVAILABLE");
    let (session_id, project_id) = (SessionId(Uuid::now_v7()), ProjectId(shop));
    let start =
        StartSession { session_id, agent_id, project_id, tasks: 0, messages: 0, delivered_up_to: 0, told: None };
    server.executor.run(&Context::new(Actor::Agent(agent_id), server.bench.clock.now()), &start).await.unwrap();
    let logged = lead.post("/api/session.log", &json!({ "sessionId": session_id, "message": "Reading" })).await.ok();
    assert_eq!(logged.body["event"]["content"]["message"], "Reading");
    assert_eq!(logged.body["event"]["projectId"], json!(shop));
    assert_eq!(lead.stop_session(&session_id.to_string()).await.status.as_u16(), 202);
}

/// What the newest event is about.
async fn newest(server: &Server) -> Uuid {
    server.bench.everything().await.last().unwrap().stream.aggregate_id.parse().unwrap()
}

/// Every command in a session, the stop last.
fn commands_in(session: &str) -> [(&'static str, Value); 3] {
    let question = json!({ "question": "Why?", "context": {}, "urgency": "low" });
    let publish = json!({ "sessionId": session, "type": "question_asked", "content": question });
    [
        ("/api/session.log", json!({ "sessionId": session, "message": "Reading" })),
        ("/api/event.publish", publish),
        ("/api/session.stop", json!({ "sessionId": session })),
    ]
}
