//! Tasks over HTTP: what owners make of them, and who gets them.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use store::StreamId;
use uuid::Uuid;

both_served_stores!(
    a_task_is_what_its_owner_made_it,
    a_bare_task_has_no_issue_and_comes_in_its_turn,
    an_issue_is_linked_to_one_task_of_a_project,
    every_bad_field_of_a_task_is_named,
    an_owner_changes_only_what_is_given,
    tasks_are_listed_by_what_is_asked_for,
    a_task_shows_who_has_it_and_what_happened_to_it,
    an_assignment_says_that_the_agent_is_on_probation,
    an_agent_that_may_not_work_gets_no_task,
    a_task_goes_only_to_agents_of_its_project,
    a_project_with_open_tasks_stays,
    an_agent_with_open_tasks_stays,
    a_repeat_says_what_the_first_answer_said,
    what_does_not_exist_is_not_found,
);

/// An owner with a project, and an agent who works in it.
struct Place {
    server: Server,
    ada: Client,
    workspace: String,
    shop: String,
    dev: Value,
}

async fn place(bench: Bench) -> Place {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let shop = ada.project(&workspace, "shop").await;
    let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
    Place { server, ada, workspace, shop, dev }
}

async fn a_task_is_what_its_owner_made_it(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, shop, .. } = &place;
    let body = json!({ "projectId": shop, "githubIssueId": 9001, "githubIssueNumber": 12.0, "title": "Add a basket",
        "description": "With a total", "priority": "P1", "deadline": "2026-04-01T10:00:00+02:00",
        "successCriteria": ["It adds up"], "metadata": { "size": 3 } });
    let answer = ada.post("/api/task.create", &body).await.ok();
    let (task, id) = (answer.body["task"].clone(), answer.id_of("task"));
    let expected = json!({ "id": id, "projectId": shop, "githubIssueId": 9001, "githubIssueNumber": 12,
        "assignedAgentId": null, "status": "backlog", "priority": "P1", "title": "Add a basket",
        "description": "With a total", "deadline": "2026-04-01T08:00:00Z", "successCriteria": ["It adds up"],
        "startedAt": null, "completedAt": null, "metadata": { "size": 3 },
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z" });
    assert_eq!(answer.body, json!({ "task": expected }));
    let shown = ada.get(&format!("/api/task.get?id={id}")).await.ok().body;
    assert_eq!((&shown["task"], &shown["assignedAgent"]), (&task, &Value::Null));
    let list = ada.get(&format!("/api/task.list?projectId={shop}")).await.ok();
    assert_eq!(list.body, json!({ "tasks": [task] }));
}

async fn a_bare_task_has_no_issue_and_comes_in_its_turn(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, shop, .. } = &place;
    let body = json!({ "projectId": shop, "title": "x" });
    let task = ada.post("/api/task.create", &body).await.ok().body["task"].clone();
    for field in ["githubIssueId", "githubIssueNumber", "description", "deadline"] {
        assert!(task.as_object().unwrap().contains_key(field) && task[field].is_null(), "{field}");
    }
    assert_eq!((&task["priority"], &task["successCriteria"]), (&json!("P2"), &json!([])));
}

async fn an_issue_is_linked_to_one_task_of_a_project(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, workspace, shop, .. } = &place;
    let issue = |project: &str, id: i64, number: i64| json!({ "projectId": project, "githubIssueId": id, "githubIssueNumber": number, "title": "x" });
    let task = ada.post("/api/task.create", &issue(shop, 9001, 12)).await.ok().id_of("task");
    ada.post("/api/task.create", &issue(shop, 9001, 12)).await.refused(409, "TASK_ALREADY_EXISTS");
    ada.put("/api/task.update", &json!({ "id": task, "status": "cancelled" })).await.ok();
    ada.post("/api/task.create", &issue(shop, 9002, 12)).await.refused(409, "TASK_ALREADY_EXISTS");
    let site = ada.project(workspace, "site").await;
    ada.post("/api/task.create", &issue(&site, 9002, 12)).await.ok();
}

async fn every_bad_field_of_a_task_is_named(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, shop, dev, .. } = &place;
    let task = ada.task(shop, "x").await;
    let head = server.head().await;
    for (field, bad) in [
        ("title", json!("")),
        ("title", json!("x".repeat(501))),
        ("priority", json!("P4")),
        ("deadline", json!("tomorrow")),
        ("deadline", json!("2026-13-01T00:00:00Z")),
        ("githubIssueId", json!(0)),
        ("githubIssueNumber", json!(1.5)),
        ("successCriteria", json!(["a", 1])),
        ("description", Value::Null),
    ] {
        let mut body = json!({ "projectId": shop, "title": "x", "githubIssueId": 1, "githubIssueNumber": 1 });
        body[field] = bad;
        let refused = ada.post("/api/task.create", &body).await.refused(400, "VALIDATION_ERROR");
        assert!(refused.bad_fields()[0].starts_with(field), "{}", refused.text);
    }
    let half = json!({ "projectId": shop, "title": "x", "githubIssueId": 1 });
    let refused = ada.post("/api/task.create", &half).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.bad_fields(), ["githubIssueNumber"]);
    let body = json!({ "id": task, "status": "done", "priority": "p1", "title": "", "githubIssueId": 1 });
    let refused = ada.put("/api/task.update", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.bad_fields(), ["githubIssueId", "priority", "status", "title"]);
    let refused = ada.get("/api/task.list?status=done&limit=1001").await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.bad_fields(), ["limit", "projectId", "status"]);
    let body = json!({ "taskId": task, "blocker": "", "severity": "bad" });
    let refused = server.agent(dev).post("/api/task.block", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.bad_fields(), ["blocker", "requiresAttention", "severity"]);
    assert_eq!(server.head().await, head);
}

async fn an_owner_changes_only_what_is_given(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, shop, .. } = &place;
    let id = ada.task(shop, "x").await;
    let clock = &server.bench.clock;
    clock.set(clock.now() + chrono::Duration::minutes(1));
    let mut expected = ada.get(&format!("/api/task.get?id={id}")).await.ok().body["task"].clone();
    for (field, value) in [
        ("title", json!("y")),
        ("description", json!("More")),
        ("priority", json!("P0")),
        ("deadline", json!("2026-04-01T00:00:00Z")),
        ("successCriteria", json!(["a", "b"])),
        ("metadata", json!({ "k": [1] })),
    ] {
        let mut body = json!({ "id": id });
        body[field] = value.clone();
        expected[field] = value;
        expected["updatedAt"] = json!("2026-03-01T12:01:00Z");
        assert_eq!(ada.put("/api/task.update", &body).await.ok().body, json!({ "task": expected }));
    }
    let head = server.head().await;
    ada.put("/api/task.update", &json!({ "id": id, "title": "y", "status": "backlog" })).await.ok();
    assert_eq!(server.head().await, head, "what is so already is no event");
}

async fn tasks_are_listed_by_what_is_asked_for(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, shop, dev, .. } = &place;
    let mut ids = Vec::new();
    for (title, priority) in [("a", "P0"), ("b", "P1"), ("c", "P1")] {
        let body = json!({ "projectId": shop, "title": title, "priority": priority });
        ids.push(ada.post("/api/task.create", &body).await.ok().id_of("task"));
    }
    ada.assign(&ids[1], dev).await.ok();
    let agent = dev["agent"]["id"].as_str().unwrap();
    for client in [ada, &server.agent(dev)] {
        for (filter, titles) in [
            (String::new(), vec!["c", "b", "a"]),
            ("&priority=P1".to_owned(), vec!["c", "b"]),
            ("&status=backlog&priority=P1".to_owned(), vec!["c"]),
            (format!("&assignedAgentId={agent}"), vec!["b"]),
            (format!("&assignedAgentId={}", Uuid::now_v7()), vec![]),
            ("&limit=1&offset=1".to_owned(), vec!["b"]),
        ] {
            let list = client.get(&format!("/api/task.list?projectId={shop}{filter}")).await.ok();
            let found: Vec<&str> =
                list.body["tasks"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
            assert_eq!(found, titles, "{filter}");
        }
    }
}

async fn a_task_shows_who_has_it_and_what_happened_to_it(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, shop, dev, .. } = &place;
    let task = ada.task(shop, "x").await;
    ada.assign(&task, dev).await.ok();
    let shown = ada.get(&format!("/api/task.get?id={task}")).await.ok().body;
    // Its scores may have moved since: the assignment counts.
    for field in ["id", "code", "name", "status"] {
        assert_eq!(shown["assignedAgent"][field], dev["agent"][field], "{field}");
    }
    let types: Vec<&Value> = shown["events"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(types, ["task_assigned", "task_created"]);
    assert_eq!(shown["events"][0]["content"]["assignedTo"]["agentId"], dev["agent"]["id"]);
    assert_eq!(
        (&shown["task"]["status"], &shown["task"]["assignedAgentId"]),
        (&json!("assigned"), &dev["agent"]["id"])
    );
}

async fn an_assignment_says_that_the_agent_is_on_probation(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, shop, dev, .. } = &place;
    let (one, two) = (ada.task(shop, "x").await, ada.task(shop, "y").await);
    assert_eq!(ada.assign(&one, dev).await.ok().body.get("warnings"), None);
    set_status(ada, dev, "probation").await;
    let given = ada.assign(&two, dev).await.ok();
    assert_eq!(given.body["task"]["status"], "assigned");
    assert_eq!(given.body["warnings"][0]["code"], "AGENT_ON_PROBATION");
    let body = json!({ "id": two, "assignedAgentId": dev["agent"]["id"], "title": "z" });
    let changed = ada.put("/api/task.update", &body).await.ok();
    assert_eq!(
        (&changed.body["task"]["title"], &changed.body["warnings"][0]["code"]),
        (&json!("z"), &json!("AGENT_ON_PROBATION"))
    );
    let changed = ada.put("/api/task.update", &json!({ "id": two, "title": "w" })).await.ok();
    assert_eq!(changed.body.get("warnings"), None);
}

async fn an_agent_that_may_not_work_gets_no_task(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, shop, dev, .. } = &place;
    let task = ada.task(shop, "x").await;
    for status in ["inactive", "terminated"] {
        set_status(ada, dev, status).await;
        ada.assign(&task, dev).await.refused(403, "AGENT_INACTIVE");
        let body = json!({ "id": task, "assignedAgentId": dev["agent"]["id"] });
        ada.put("/api/task.update", &body).await.refused(403, "AGENT_INACTIVE");
    }
}

async fn a_task_goes_only_to_agents_of_its_project(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, workspace, shop, .. } = &place;
    let task = ada.task(shop, "x").await;
    let site = ada.project(workspace, "site").await;
    let elsewhere = ada.workspace("elsewhere").await;
    let bob = server.owner("bob").await;
    let theirs = bob.workspace("theirs").await;
    for (agent, status, code) in [
        (ada.new_agent(workspace, Some(&site), "other").await, 400, "TASK_INVALID_AGENT_ASSIGNMENT"),
        (ada.new_agent(&elsewhere, None, "far").await, 400, "TASK_INVALID_AGENT_ASSIGNMENT"),
        (bob.new_agent(&theirs, None, "spy").await, 403, "AGENT_ACCESS_DENIED"),
        (json!({ "agent": { "id": Uuid::now_v7() } }), 404, "AGENT_NOT_FOUND"),
    ] {
        ada.assign(&task, &agent).await.refused(status, code);
        let body = json!({ "id": task, "assignedAgentId": agent["agent"]["id"] });
        ada.put("/api/task.update", &body).await.refused(status, code);
    }
    ada.assign(&task, &ada.new_agent(workspace, None, "lead").await).await.ok();
}

async fn a_project_with_open_tasks_stays(bench: Bench) {
    let place = place(bench).await;
    let Place { ada, workspace, .. } = &place;
    let site = ada.project(workspace, "site").await;
    let task = ada.task(&site, "x").await;
    let delete = format!("/api/project.delete?id={site}");
    ada.delete(&delete).await.refused(400, "PROJECT_HAS_ACTIVE_TASKS");
    ada.put("/api/task.update", &json!({ "id": task, "status": "completed" })).await.ok();
    ada.delete(&delete).await.ok();
    let body = json!({ "projectId": site, "title": "y" });
    ada.post("/api/task.create", &body).await.refused(404, "PROJECT_NOT_FOUND");
    ada.get(&format!("/api/task.list?projectId={site}")).await.refused(404, "PROJECT_NOT_FOUND");
    ada.get(&format!("/api/task.get?id={task}")).await.ok();
}

async fn an_agent_with_open_tasks_stays(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, shop, dev, .. } = &place;
    let task = ada.task(shop, "x").await;
    ada.assign(&task, dev).await.ok();
    let delete = format!("/api/agent.delete?id={}", dev["agent"]["id"].as_str().unwrap());
    ada.delete(&delete).await.refused(400, "AGENT_HAS_ASSIGNED_TASKS");
    server.agent(dev).post("/api/task.complete", &json!({ "taskId": task })).await.ok();
    ada.delete(&delete).await.ok();
    let shown = ada.get(&format!("/api/task.get?id={task}")).await.ok();
    assert!(shown.body["assignedAgent"]["deletedAt"].is_string(), "history keeps who did it");
}

async fn a_repeat_says_what_the_first_answer_said(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, shop, dev, .. } = &place;
    set_status(ada, dev, "probation").await;
    let keyed = ada.with("Idempotency-Key", "one");
    let create = json!({ "projectId": shop, "title": "x" });
    let made = keyed.post("/api/task.create", &create).await.ok();
    let given = keyed.assign(&made.id_of("task"), dev).await.ok();
    let start = json!({ "taskId": made.id_of("task") });
    let agent = server.agent(dev).with("Idempotency-Key", "one");
    let started = agent.post("/api/task.start", &start).await.ok();
    set_status(ada, dev, "active").await;
    ada.put("/api/task.update", &json!({ "id": made.id_of("task"), "status": "completed" })).await.ok();
    let stream = StreamId::new("task", made.id_of("task"));
    let before = server.bench.stream(&stream).await;
    for (again, first) in [
        (keyed.post("/api/task.create", &create).await.ok(), made.body.clone()),
        (keyed.assign(&made.id_of("task"), dev).await.ok(), given.body),
        (agent.post("/api/task.start", &start).await.ok(), started.body),
    ] {
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first));
    }
    assert_eq!(server.bench.stream(&stream).await, before);
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let place = place(bench).await;
    let Place { server, ada, dev, .. } = &place;
    let id = Uuid::now_v7();
    ada.get(&format!("/api/task.get?id={id}")).await.refused(404, "TASK_NOT_FOUND");
    ada.get(&format!("/api/task.list?projectId={id}")).await.refused(404, "PROJECT_NOT_FOUND");
    let body = json!({ "projectId": id, "title": "x" });
    ada.post("/api/task.create", &body).await.refused(404, "PROJECT_NOT_FOUND");
    ada.put("/api/task.update", &json!({ "id": id })).await.refused(404, "TASK_NOT_FOUND");
    ada.assign(&id.to_string(), dev).await.refused(404, "TASK_NOT_FOUND");
    let agent = server.agent(dev);
    let block = json!({ "taskId": id, "blocker": "x", "severity": "low", "requiresAttention": false });
    agent.post("/api/task.start", &json!({ "taskId": id })).await.refused(404, "TASK_NOT_FOUND");
    agent.post("/api/task.block", &block).await.refused(404, "TASK_NOT_FOUND");
    agent.post("/api/task.complete", &json!({ "taskId": id })).await.refused(404, "TASK_NOT_FOUND");
}

async fn set_status(owner: &Client, agent: &Value, status: &str) {
    let body = json!({ "id": agent["agent"]["id"], "status": status });
    owner.put("/api/agent.update", &body).await.ok();
}
