//! The past of anything over HTTP: what each event changed, what something was, and why it happened.

use std::time::Duration;

use api::HttpSettings;
use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server, settings};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    a_history_says_what_each_event_changed_and_who_did_it,
    a_history_is_paged_oldest_first,
    what_was_deleted_still_shows_what_it_was,
    a_state_is_what_it_was_then,
    a_difference_is_what_all_events_between_changed_together,
    a_session_leads_to_all_that_followed_from_it_and_back,
    a_tree_that_is_cut_says_so,
    a_project_agent_sees_of_a_tree_what_is_in_its_project,
    no_history_shows_a_secret,
    moments_and_things_that_never_were_are_refused,
    a_user_looks_at_their_own_history_alone,
    a_history_that_is_too_long_for_one_answer_is_refused,
);

const PATIENCE: Duration = Duration::from_secs(20);

/// Ada's fleet: one project, one agent that works in it, one task.
struct World {
    server: Server,
    ada: Client,
    workspace: String,
    project: String,
    dev: Value,
    task: String,
}

impl World {
    async fn new(bench: Bench) -> Self {
        Self::on(Server::start(bench).await).await
    }

    async fn on(server: Server) -> Self {
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let project = ada.project(&workspace, "shop").await;
        let dev = ada.new_agent(&workspace, Some(&project), "dev").await;
        let task = ada.task(&project, "Add a basket").await;
        Self { server, ada, workspace, project, dev, task }
    }

    fn agent(&self) -> Client {
        self.server.agent(&self.dev)
    }

    fn agent_id(&self) -> &str {
        self.dev["agent"]["id"].as_str().unwrap()
    }

    /// Waits until everything that follows has followed.
    async fn settled(&self) -> i64 {
        let mut done = 0;
        while done < self.server.head().await {
            done = self.server.head().await;
            for reactor in self.server.reactors.status() {
                assert!(self.server.reactors.wait_for(reactor.name, done, PATIENCE).await);
            }
        }
        done
    }

    async fn history(&self, of: &str, id: &str) -> Value {
        self.ada.get(&format!("/api/audit.history?aggregate={of}&id={id}")).await.ok().body
    }

    /// A tree, once everything has followed and is shown.
    async fn tree(&self, way: &str, position: i64) -> Value {
        let head = self.settled().await;
        let ada = self.ada.with("X-Min-Position", &head.to_string());
        ada.get(&format!("/api/audit.{way}?position={position}")).await.ok().body
    }

    /// The agent does its task in a session. Where the session began.
    async fn works(&self) -> i64 {
        self.ada.assign(&self.task, &self.dev).await.ok();
        let agent = self.agent();
        let started = agent.post("/api/session.start", &json!({ "projectId": self.project })).await.ok();
        let session = started.id_of("session");
        agent.post("/api/task.start", &json!({ "taskId": self.task, "sessionId": session })).await.ok();
        agent.post("/api/session.log", &json!({ "sessionId": session, "message": "It goes well" })).await.ok();
        agent.post("/api/task.complete", &json!({ "taskId": self.task, "sessionId": session })).await.ok();
        // Of two measurements at once only the newer is judged, and which one that is would be open.
        self.settled().await;
        agent.post("/api/session.stop", &json!({ "sessionId": session, "tasksWorkedOn": [self.task] })).await.ok();
        started.position()
    }
}

fn types(events: &Value) -> Vec<&str> {
    events.as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect()
}

async fn a_history_says_what_each_event_changed_and_who_did_it(bench: Bench) {
    let world = World::new(bench).await;
    world.ada.put("/api/task.update", &json!({ "id": world.task, "title": "Add a cart" })).await.ok();
    world.ada.assign(&world.task, &world.dev).await.ok();
    world.agent().post("/api/task.start", &json!({ "taskId": world.task })).await.ok();
    let history = world.history("task", &world.task).await;
    assert_eq!(history["aggregate"], json!({ "type": "task", "id": world.task }));
    assert_eq!((&history["total"], &history["hasMore"]), (&json!(4), &json!(false)));
    let events = &history["events"];
    assert_eq!(types(events), ["TaskCreated", "TaskDetailsChanged", "TaskAssigned", "TaskStarted"]);

    let created = &events[0];
    assert_eq!((&created["sequence"], &created["version"]), (&json!(1), &json!("1")));
    assert!(
        created["changes"].as_array().unwrap().contains(&json!({ "field": "stage", "before": null, "after": "live" }))
    );
    assert_eq!(events[1]["changes"], json!([{ "field": "title", "before": "Add a basket", "after": "Add a cart" }]));
    assert_eq!(events[1]["actor"]["type"], "user");
    assert_eq!(events[1]["actor"]["name"], "ada");
    assert!(events[1]["cause"]["commandId"].is_string() && events[1]["cause"]["causationId"].is_null());

    let assigned = events[2]["changes"].as_array().unwrap();
    let of = |field: &str| assigned.iter().find(|it| it["field"] == field).unwrap();
    assert_eq!(of("status"), &json!({ "field": "status", "before": "backlog", "after": "assigned" }));
    assert_eq!(of("assignedAgentId")["after"], world.agent_id());
    assert_eq!(events[3]["actor"]["id"], world.agent_id());
    assert_eq!(events[3]["actor"]["name"], world.dev["agent"]["name"]);
    assert_eq!(events[3]["data"]["title"], "Add a cart");
    // The account is gone, and so is the name.
    let user = events[1]["actor"]["id"].as_str().unwrap();
    world.server.bench.tamper(&format!("delete from accounts where user_id = '{user}'")).await;
    let without = world.agent().get(&format!("/api/audit.history?aggregate=task&id={}", world.task)).await.ok().body;
    assert_eq!(without["events"][1]["actor"], json!({ "type": "user", "id": user, "name": null }));
}

async fn a_history_is_paged_oldest_first(bench: Bench) {
    let world = World::new(bench).await;
    for n in 0..5 {
        world.ada.put("/api/task.update", &json!({ "id": world.task, "title": format!("Title {n}") })).await.ok();
    }
    let page = async |more: &str| {
        let path = format!("/api/audit.history?aggregate=task&id={}{more}", world.task);
        let body = world.ada.get(&path).await.ok().body;
        let events = body["events"].as_array().unwrap();
        let sequences: Vec<i64> = events.iter().map(|it| it["sequence"].as_i64().unwrap()).collect();
        (sequences, body["total"].as_i64().unwrap(), body["hasMore"].as_bool().unwrap(), body["events"].clone())
    };
    let (sequences, total, more, _) = page("&limit=4").await;
    assert_eq!((sequences, total, more), (vec![1, 2, 3, 4], 6, true));
    let (sequences, total, more, events) = page("&limit=4&offset=4").await;
    assert_eq!((sequences, total, more), (vec![5, 6], 6, false));
    // What came before the page counts all the same.
    assert_eq!(events[0]["changes"], json!([{ "field": "title", "before": "Title 2", "after": "Title 3" }]));
    let (sequences, total, more, _) = page("&offset=6").await;
    assert_eq!((sequences, total, more), (vec![], 6, false));
}

async fn what_was_deleted_still_shows_what_it_was(bench: Bench) {
    let world = World::new(bench).await;
    let deleted = world.ada.delete(&format!("/api/agent.delete?id={}", world.agent_id())).await.ok();
    let history = world.history("agent", world.agent_id()).await;
    let last = history["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["type"], "AgentDeleted");
    let changes = json!([
        { "field": "stage", "before": "live", "after": "deleted" },
        { "field": "status", "before": "active", "after": null },
    ]);
    assert_eq!(last["changes"], changes);
    let path = format!("/api/audit.state?aggregate=agent&id={}&at={}", world.agent_id(), deleted.position());
    let state = world.ada.get(&path).await.ok().body["state"].clone();
    assert_eq!((&state["stage"], &state["code"]), (&json!("deleted"), &json!("dev")));
}

async fn a_state_is_what_it_was_then(bench: Bench) {
    let world = World::new(bench).await;
    let before = world.server.head().await;
    let renamed = world.ada.put("/api/task.update", &json!({ "id": world.task, "title": "Second" })).await.ok();
    let clock = &world.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::hours(1));
    world.ada.put("/api/task.update", &json!({ "id": world.task, "title": "Third" })).await.ok();
    let at = async |moment: &str| {
        let path = format!("/api/audit.state?aggregate=task&id={}{moment}", world.task);
        world.ada.get(&path).await.ok().body
    };
    assert_eq!(at(&format!("&at={before}")).await["state"]["title"], "Add a basket");
    let then = at(&format!("&at={}", renamed.position())).await;
    assert_eq!((&then["state"]["title"], &then["sequence"]), (&json!("Second"), &json!(2)));
    assert_eq!((&then["at"], &then["position"]), (&json!(renamed.position()), &json!(renamed.position())));
    let time = then["recordedAt"].as_str().unwrap();
    assert_eq!(at(&format!("&at={time}")).await["state"], then["state"]);
    let now = at("").await;
    assert_eq!(now["state"]["title"], "Third");
    // The newest state is the one that the rules decide by.
    let shown = world.ada.get(&format!("/api/task.get?id={}", world.task)).await.ok().body["task"].clone();
    assert_eq!((&now["state"]["title"], &now["state"]["status"]), (&shown["title"], &shown["status"]));
}

async fn a_difference_is_what_all_events_between_changed_together(bench: Bench) {
    let world = World::new(bench).await;
    let from = world.server.head().await;
    world.ada.put("/api/task.update", &json!({ "id": world.task, "title": "Second", "priority": "P0" })).await.ok();
    world.ada.put("/api/task.update", &json!({ "id": world.task, "title": "Third" })).await.ok();
    let diff = async |more: String| {
        world.ada.get(&format!("/api/audit.diff?aggregate=task&id={}{more}", world.task)).await.ok().body
    };
    let both = diff(format!("&from={from}")).await;
    let changes = json!([
        { "field": "title", "before": "Add a basket", "after": "Third" },
        { "field": "priority", "before": "P2", "after": "P0" },
    ]);
    let mut told = both["changes"].as_array().unwrap().clone();
    told.sort_by_key(|it| it["field"] != "title");
    assert_eq!((json!(told), &both["events"]), (changes, &json!(2)));
    assert_eq!(diff(format!("&from={from}&to={from}")).await["changes"], json!([]));
    // Before it existed, everything is new.
    let all = diff("&from=1".into()).await;
    assert_eq!((&all["from"]["position"], &all["to"]["sequence"]), (&Value::Null, &json!(3)));
    let title = json!({ "field": "title", "before": null, "after": "Third" });
    assert!(all["changes"].as_array().unwrap().contains(&title));
}

async fn a_session_leads_to_all_that_followed_from_it_and_back(bench: Bench) {
    let world = World::new(bench).await;
    let started = world.works().await;
    let tree = world.tree("effects", started).await;
    let root = &tree["tree"];
    assert_eq!((&root["type"], &root["relation"]), (&json!("SessionStarted"), &Value::Null));
    assert_eq!(types(&root["children"]), ["TaskStarted", "SessionLogged", "TaskCompleted", "SessionStopped"]);
    assert!(root["children"].as_array().unwrap().iter().all(|it| it["relation"] == "session"));
    // What was measured when it stopped, and what came of that.
    let stopped = &root["children"][3];
    let measured = &stopped["children"][0];
    assert_eq!((&measured["type"], &measured["relation"]), (&json!("KpiRecalculated"), &json!("reaction")));
    assert_eq!(measured["cause"]["causationId"], stopped["id"]);
    assert_eq!(measured["cause"]["correlationId"], stopped["cause"]["correlationId"]);
    let judged = &measured["children"][0];
    assert_eq!((&judged["type"], &judged["actor"]["type"]), (&json!("TrustScoreChanged"), &json!("system")));

    let kinds: Vec<&str> = tree["affected"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "task", "scorecard"]);
    assert_eq!((&tree["cut"], &tree["hidden"]), (&Value::Null, &json!(0)));

    // And all the way back.
    let back = world.tree("causes", judged["position"].as_i64().unwrap()).await;
    let mut chain = vec![];
    let mut at = &back["tree"];
    while at.is_object() {
        chain.push((at["type"].as_str().unwrap(), at["relation"].as_str().unwrap_or_default()));
        at = &at["children"][0];
    }
    let expected = [
        ("TrustScoreChanged", ""),
        ("KpiRecalculated", "reaction"),
        ("SessionStopped", "reaction"),
        ("SessionStarted", "session"),
    ];
    assert_eq!(chain, expected);
}

async fn a_tree_that_is_cut_says_so(bench: Bench) {
    let world = World::new(bench).await;
    let started = world.works().await;
    let whole = world.tree("effects", started).await;
    let events = whole["events"].as_i64().unwrap();
    let ask = async |way: &str, more: &str| {
        world.ada.get(&format!("/api/audit.{way}?position={started}{more}")).await.ok().body
    };
    let shallow = ask("effects", "&depth=1").await;
    assert_eq!((&shallow["cut"], &shallow["events"]), (&json!("depth"), &json!(5)));
    assert!(shallow["tree"]["children"][3]["more"].as_bool().unwrap());
    let small = ask("effects", "&limit=3").await;
    assert_eq!((&small["cut"], &small["events"], &small["tree"]["more"]), (&json!("events"), &json!(3), &json!(true)));
    let exact = ask("effects", &format!("&limit={events}&depth=3")).await;
    assert_eq!((&exact["cut"], &exact["events"]), (&Value::Null, &json!(events)));
    assert_eq!(ask("causes", "&depth=1").await["cut"], Value::Null);
}

async fn a_project_agent_sees_of_a_tree_what_is_in_its_project(bench: Bench) {
    let world = World::new(bench).await;
    let started = world.works().await;
    let all = world.tree("effects", started).await;
    let own = world.agent().get(&format!("/api/audit.effects?position={started}")).await.ok().body;
    assert_eq!(own["tree"], all["tree"]);
    let site = world.ada.project(&world.workspace, "site").await;
    let peer = world.server.agent(&world.ada.new_agent(&world.workspace, Some(&site), "peer").await);
    let lead = world.server.agent(&world.ada.new_agent(&world.workspace, None, "lead").await);
    for way in ["causes", "effects"] {
        let path = format!("/api/audit.{way}?position={started}");
        peer.get(&path).await.refused(403, "EVENT_ACCESS_DENIED");
        lead.get(&path).await.ok();
    }
    for (of, id) in [("task", world.task.as_str()), ("agent", world.agent_id()), ("scorecard", world.agent_id())] {
        let path = format!("/api/audit.history?aggregate={of}&id={id}");
        let code = if of == "task" { "TASK_ACCESS_DENIED" } else { "AGENT_ACCESS_DENIED" };
        peer.get(&path).await.refused(403, code);
        lead.get(&path).await.ok();
    }
    lead.get(&format!("/api/audit.history?aggregate=workspace&id={}", world.workspace)).await.refused(403, "NOT_CEO");
}

async fn no_history_shows_a_secret(bench: Bench) {
    let world = World::new(bench).await;
    let rotated = world.ada.post("/api/agent.rotateCredentials", &json!({ "id": world.agent_id() })).await.ok();
    let path = format!("/api/audit.history?aggregate=agent&id={}", world.agent_id());
    let text = world.ada.get(&path).await.ok().text;
    assert!(text.contains("AgentCredentialsRotated"));
    for made in [&world.dev, &rotated.body] {
        let secrets = made.as_object().unwrap().values().filter_map(Value::as_str).filter(|it| it.len() > 20);
        for secret in secrets.filter(|it| Uuid::try_parse(it).is_err()) {
            assert!(!text.contains(secret), "{secret}");
        }
    }
    assert!(!text.contains("hash"), "{text}");
}

async fn moments_and_things_that_never_were_are_refused(bench: Bench) {
    let world = World::new(bench).await;
    let (ada, task, head) = (&world.ada, &world.task, world.server.head().await);
    let refused_field = async |path: String, field: &str| {
        assert_eq!(ada.get(&path).await.refused(400, "VALIDATION_ERROR").bad_fields(), [field], "{path}");
    };
    let state = format!("/api/audit.state?aggregate=task&id={task}");
    let beyond = (head + 1).to_string();
    for at in ["0", "-1", beyond.as_str(), "yesterday", "1999-01-01T00:00:00Z", "2999-01-01T00:00:00Z"] {
        refused_field(format!("{state}&at={at}"), "at").await;
        refused_field(format!("/api/audit.diff?aggregate=task&id={task}&from={at}"), "from").await;
    }
    refused_field(format!("/api/audit.diff?aggregate=task&id={task}&from={head}&to=1"), "from").await;
    refused_field(format!("/api/audit.history?aggregate=parcel&id={task}"), "aggregate").await;
    refused_field(format!("/api/audit.history?aggregate=task&id={task}&limit=101"), "limit").await;
    refused_field("/api/audit.causes?position=0".into(), "position").await;
    refused_field("/api/audit.effects?position=1&depth=0".into(), "depth").await;
    refused_field("/api/audit.effects?position=1&limit=1001".into(), "limit").await;

    ada.get(&format!("{state}&at=1")).await.refused(404, "AGGREGATE_NOT_FOUND");
    let nobody = Uuid::now_v7();
    for (of, code) in [
        ("task", "TASK_NOT_FOUND"),
        ("workspace", "WORKSPACE_NOT_FOUND"),
        ("project", "PROJECT_NOT_FOUND"),
        ("repository", "PROJECT_NOT_FOUND"),
        ("agent", "AGENT_NOT_FOUND"),
        ("scorecard", "AGENT_NOT_FOUND"),
        ("session", "SESSION_NOT_FOUND"),
        ("wiki", "WIKI_ENTRY_NOT_FOUND"),
        ("pull_request", "AGGREGATE_NOT_FOUND"),
    ] {
        ada.get(&format!("/api/audit.history?aggregate={of}&id={nobody}")).await.refused(404, code);
    }
    // The project is there, and nothing was heard of its repository.
    let path = format!("/api/audit.history?aggregate=repository&id={}", world.project);
    ada.get(&path).await.refused(404, "AGGREGATE_NOT_FOUND");
    ada.get(&format!("/api/audit.causes?position={beyond}")).await.refused(404, "EVENT_NOT_FOUND");
    assert_eq!(world.server.head().await, head);
}

async fn a_user_looks_at_their_own_history_alone(bench: Bench) {
    let world = World::new(bench).await;
    let bob = world.server.owner("bob").await;
    let user = world.history("workspace", &world.workspace).await["events"][0]["data"]["ownerId"].clone();
    let path = format!("/api/audit.history?aggregate=user&id={}", user.as_str().unwrap());
    assert_eq!(types(&world.ada.get(&path).await.ok().body["events"]), ["UserSignedUp"]);
    for other in [&bob, &world.agent()] {
        other.get(&path).await.refused(403, "AGGREGATE_ACCESS_DENIED");
    }
    let first = world.server.bench.everything().await[0].clone();
    assert_eq!(first.event_type, "UserSignedUp");
    world.ada.get("/api/audit.effects?position=1").await.ok();
    bob.get("/api/audit.effects?position=1").await.refused(403, "EVENT_ACCESS_DENIED");
}

async fn a_history_that_is_too_long_for_one_answer_is_refused(bench: Bench) {
    let settings = HttpSettings { as_of_events: 3, ..settings() };
    let world = World::on(Server::start_with(bench, settings).await).await;
    for n in 0..3 {
        world.ada.put("/api/task.update", &json!({ "id": world.task, "title": format!("Title {n}") })).await.ok();
    }
    let task = format!("aggregate=task&id={}", world.task);
    let answer = world.ada.get(&format!("/api/audit.history?{task}")).await.refused(400, "HISTORY_TOO_LONG");
    assert!(answer.text.contains("muster audit"), "{}", answer.text);
    world.ada.get(&format!("/api/audit.state?{task}")).await.refused(400, "HISTORY_TOO_LONG");
    world.ada.get(&format!("/api/audit.diff?{task}&from=1")).await.refused(400, "HISTORY_TOO_LONG");
    // What is within the limit is answered.
    let page = world.ada.get(&format!("/api/audit.history?{task}&limit=3")).await.ok().body;
    assert_eq!((page["events"].as_array().unwrap().len(), &page["total"]), (3, &json!(4)));
}
