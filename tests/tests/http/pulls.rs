//! Pulled updates: what is new for an agent that starts a session.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores! {
    an_agent_pulls_what_it_has_to_do_in_the_order_to_do_it,
    an_agent_pulls_what_mentions_it_once_and_oldest_first,
    what_does_not_fit_comes_with_the_next_pull,
    an_agent_pulls_the_changes_to_its_role,
    a_pull_shows_what_was_written_just_before,
    the_name_of_a_person_is_joined_when_an_entry_is_shown,
}

struct World {
    server: Server,
    ada: Client,
    shop: String,
    lead: Value,
    dev: Value,
}

impl World {
    async fn new(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let shop = ada.project(&workspace, "shop").await;
        let lead = ada.new_agent(&workspace, None, "lead").await;
        let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
        Self { server, ada, shop, lead, dev }
    }

    /// Starts a session of an agent, ends it, and returns what was pulled.
    async fn pulled_by(&self, agent: &Value) -> Value {
        let client = self.server.agent(agent);
        let started = client.post("/api/session.start", &json!({ "projectId": self.shop })).await.ok();
        let id = started.id_of("session");
        client.stop_session(&id).await.ok();
        let (session, pulled) = (&started.body["session"], started.body["pulledUpdates"].clone());
        let counts = ["tasks", "messages", "roleChanges"].map(|it| (it, pulled[it].as_array().unwrap().len()));
        for (part, count) in counts {
            assert_eq!(session["metadata"]["pulledUpdates"][part], count, "{part}");
        }
        pulled
    }

    async fn task_with(&self, title: &str, priority: &str, deadline: Option<&str>) -> String {
        let mut body = json!({ "projectId": self.shop, "title": title, "priority": priority });
        if let Some(deadline) = deadline {
            body["deadline"] = deadline.into();
        }
        let id = self.ada.post("/api/task.create", &body).await.ok().id_of("task");
        self.ada.assign(&id, &self.dev).await.ok();
        id
    }
}

/// The types of messages, without those that Muster itself adds when it gets to it.
fn types(pulled: &Value) -> Vec<&str> {
    let messages = pulled["messages"].as_array().unwrap().iter().filter(|it| !it["authorId"].is_null());
    messages.filter_map(|it| it["type"].as_str()).collect()
}

async fn an_agent_pulls_what_it_has_to_do_in_the_order_to_do_it(bench: Bench) {
    let world = World::new(bench).await;
    world.task_with("later", "P2", None).await;
    world.task_with("sooner", "P2", Some("2030-01-01T00:00:00Z")).await;
    world.task_with("first", "P0", None).await;
    let done = world.task_with("done", "P0", None).await;
    world.ada.task(&world.shop, "nobody's").await;
    let dev = world.server.agent(&world.dev);
    dev.post("/api/task.start", &json!({ "taskId": done })).await.ok();
    dev.post("/api/task.complete", &json!({ "taskId": done })).await.ok();
    let pulled = world.pulled_by(&world.dev).await;
    let titles: Vec<&str> = pulled["tasks"].as_array().unwrap().iter().filter_map(|it| it["title"].as_str()).collect();
    assert_eq!(titles, ["first", "sooner", "later"]);
    assert_eq!(world.pulled_by(&world.lead).await["tasks"], json!([]));
}

async fn an_agent_pulls_what_mentions_it_once_and_oldest_first(bench: Bench) {
    let world = World::new(bench).await;
    let task = world.ada.task(&world.shop, "Basket").await;
    world.ada.assign(&task, &world.dev).await.ok();
    let lead = world.server.agent(&world.lead);
    let session = lead.start_session(&world.shop).await;
    let content = json!({ "topic": "Locks", "advice": "Avoid them", "confidence": 1 });
    let dev = &world.dev["agent"]["id"];
    let body = json!({ "sessionId": session, "type": "advice_given", "content": content, "mentions": [dev] });
    let advice = lead.post("/api/event.publish", &body).await.ok();
    let pulled = world.pulled_by(&world.dev).await;
    assert_eq!(types(&pulled), ["task_assigned", "advice_given"]);
    assert!(pulled["messages"].as_array().unwrap().contains(&advice.body["event"]));
    assert_eq!(types(&world.pulled_by(&world.dev).await), [""; 0]);
    let working = world.server.agent(&world.dev);
    let session = working.start_session(&world.shop).await;
    lead.post("/api/event.publish", &body).await.ok();
    working.stop_session(&session).await.ok();
    assert_eq!(types(&world.pulled_by(&world.dev).await), ["advice_given"], "what came during a session comes next");
}

async fn what_does_not_fit_comes_with_the_next_pull(bench: Bench) {
    let world = World::new(bench).await;
    let lead = world.server.agent(&world.lead);
    let session = lead.start_session(&world.shop).await;
    let dev = &world.dev["agent"]["id"];
    for number in 0..103 {
        let content = json!({ "question": number.to_string(), "context": {}, "urgency": "low" });
        let body = json!({ "sessionId": session, "type": "question_asked", "content": content, "mentions": [dev] });
        lead.post("/api/event.publish", &body).await.ok();
    }
    let mut asked = Vec::new();
    for expected in [100, 3, 0] {
        let pulled = world.pulled_by(&world.dev).await;
        let messages = pulled["messages"].as_array().unwrap();
        assert_eq!(messages.len(), expected);
        asked.extend(messages.iter().map(|it| it["content"]["question"].as_str().unwrap().to_owned()));
    }
    assert_eq!(asked, (0..103).map(|it| it.to_string()).collect::<Vec<_>>());
}

async fn an_agent_pulls_the_changes_to_its_role(bench: Bench) {
    let world = World::new(bench).await;
    let update = async |capabilities: Value, settings: Value| {
        let body = json!({ "id": world.dev["agent"]["id"], "capabilities": capabilities, "settings": settings });
        world.ada.put("/api/agent.update", &body).await.ok().body["agent"]["updatedAt"].clone()
    };
    update(json!(["rust", "sql"]), json!({ "model": "small", "same": 1 })).await;
    assert_eq!(world.pulled_by(&world.dev).await["roleChanges"], json!([]), "nothing to compare with");
    let at = update(json!(["sql", "go"]), json!({ "model": "large", "same": 1 })).await;
    let changes = json!([
        { "field": "capabilities", "type": "added", "values": ["go"], "changedAt": at },
        { "field": "capabilities", "type": "removed", "values": ["rust"], "changedAt": at },
        { "field": "settings.model", "type": "changed", "oldValue": "small", "newValue": "large", "changedAt": at },
    ]);
    assert_eq!(world.pulled_by(&world.dev).await["roleChanges"], changes);
    assert_eq!(world.pulled_by(&world.dev).await["roleChanges"], json!([]));
}

async fn a_pull_shows_what_was_written_just_before(bench: Bench) {
    let world = World::new(bench).await;
    for round in 0..5 {
        let task = world.ada.task(&world.shop, &format!("task {round}")).await;
        world.ada.assign(&task, &world.dev).await.ok();
        let pulled = world.pulled_by(&world.dev).await;
        assert_eq!(pulled["tasks"].as_array().unwrap().len(), round + 1);
        assert!(types(&pulled).contains(&"task_assigned"), "{pulled}");
    }
}

async fn the_name_of_a_person_is_joined_when_an_entry_is_shown(bench: Bench) {
    let world = World::new(bench).await;
    let mut listening = world.ada.listen("/api/event.stream?type=task_assigned").await;
    let task = world.ada.task(&world.shop, "Basket").await;
    world.ada.assign(&task, &world.dev).await.ok();
    let listed = world.ada.get("/api/event.list?type=task_assigned").await.ok().body["events"][0].clone();
    assert_eq!(listed["content"]["assignedBy"]["userName"], "ada");
    assert_eq!(listed["content"]["assignedTo"]["agentName"], "dev");
    assert_eq!(listed["mentions"], json!([world.dev["agent"]["id"]]));
    let one = world.ada.get(&format!("/api/event.get?id={}", listed["id"].as_str().unwrap())).await.ok();
    assert_eq!(one.body["event"], listed);
    assert_eq!(listening.next().await.unwrap().data, listed);
    assert_eq!(world.pulled_by(&world.dev).await["messages"][0], listed);
    let log = world.server.bench.everything().await;
    assert!(log.iter().all(|it| !it.payload.contains("\"ada\"")), "names of people are not in the log");
}
