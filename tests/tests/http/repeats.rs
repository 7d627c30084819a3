//! Idempotency keys: a repeat is answered and not run.

use chrono::Duration;
use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use reqwest::StatusCode;
use serde_json::{Value, json};

both_served_stores!(
    a_repeat_gets_the_first_answer,
    a_repeat_is_answered_as_of_then,
    a_key_is_for_one_request,
    a_key_belongs_to_its_principal_and_route,
    a_repeat_shows_no_secret,
    of_many_at_once_one_runs,
    a_key_is_forgotten_after_a_day,
    a_refusal_is_not_remembered,
    every_command_can_be_repeated,
);

async fn a_repeat_gets_the_first_answer(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await.with("Idempotency-Key", "one");
    let first = ada.post("/api/workspace.create", &json!({ "name": "Acme", "slug": "acme" })).await.ok();
    assert_eq!(first.header("idempotent-replayed"), None);
    let head = server.head().await;
    let again = ada.post("/api/workspace.create", &json!({ "slug": "acme", "name": "Acme" })).await.ok();
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    assert_eq!((again.position(), server.head().await), (first.position(), head));
}

async fn a_repeat_is_answered_as_of_then(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let create = ada.with("Idempotency-Key", "create");
    let body = json!({ "name": "Acme", "slug": "acme" });
    let first = create.post("/api/workspace.create", &body).await.ok();
    let id = first.id_of("workspace");
    ada.put("/api/workspace.update", &json!({ "id": id, "name": "Other" })).await.ok();
    assert_eq!(create.post("/api/workspace.create", &body).await.ok().body, first.body);
    ada.delete(&format!("/api/workspace.delete?id={id}")).await.ok();
    assert_eq!(create.post("/api/workspace.create", &body).await.ok().body, first.body);
}

async fn a_key_is_for_one_request(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await.with("Idempotency-Key", "one");
    ada.post("/api/workspace.create", &json!({ "name": "Acme", "slug": "acme" })).await.ok();
    let head = server.head().await;
    let other = json!({ "name": "Acme", "slug": "acme-2" });
    ada.post("/api/workspace.create", &other).await.refused(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(server.head().await, head);
}

async fn a_key_belongs_to_its_principal_and_route(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await.with("Idempotency-Key", "one");
    let bob = server.owner("bob").await.with("Idempotency-Key", "one");
    let id = ada.workspace("acme").await;
    assert_ne!(bob.workspace("bobs").await, id);
    let update = ada.put("/api/workspace.update", &json!({ "id": id, "name": "Acme 2" })).await.ok();
    assert_eq!(update.header("idempotent-replayed"), None);
}

async fn a_repeat_shows_no_secret(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let create = ada.with("Idempotency-Key", "create");
    let first = create.new_agent(&workspace, None, "lead").await;
    let again = create.new_agent(&workspace, None, "lead").await;
    assert!(first["credentials"]["apiKey"].is_string());
    assert_eq!((&again["credentials"]["apiKey"], &again["agent"]), (&Value::Null, &first["agent"]));
    assert_eq!(again["credentials"]["agentId"], first["credentials"]["agentId"]);
    server.agent(&first).get("/api/event.list").await.ok();
    let rotate = ada.with("Idempotency-Key", "rotate");
    let body = json!({ "id": first["agent"]["id"] });
    let rotated = rotate.post("/api/agent.rotateCredentials", &body).await.ok();
    let again = rotate.post("/api/agent.rotateCredentials", &body).await.ok();
    assert_eq!((&again.body["credentials"]["apiKey"], &again.body["agent"]), (&Value::Null, &rotated.body["agent"]));
    server.agent(&rotated.body).get("/api/event.list").await.ok();
}

async fn of_many_at_once_one_runs(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await.with("Idempotency-Key", "one");
    let body = json!({ "name": "Acme", "slug": "acme" });
    let answers = futures_util::future::join_all((0..16).map(|_| ada.post("/api/workspace.create", &body))).await;
    let (done, waiting): (Vec<_>, Vec<_>) = answers.into_iter().partition(|it| it.status == StatusCode::OK);
    for answer in waiting {
        answer.refused(409, "CONCURRENCY_CONFLICT");
    }
    assert_eq!(done.iter().filter(|it| it.header("idempotent-replayed").is_none()).count(), 1);
    assert!(done.iter().all(|it| it.body == done[0].body));
    assert_eq!(server.bench.everything().await.len(), 2, "a person and one workspace");
}

async fn a_key_is_forgotten_after_a_day(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await.with("Idempotency-Key", "one");
    let body = json!({ "name": "Acme", "slug": "acme" });
    ada.post("/api/workspace.create", &body).await.ok();
    let clock = &server.bench.clock;
    clock.set(clock.now() + Duration::hours(23));
    assert_eq!(ada.post("/api/workspace.create", &body).await.ok().header("idempotent-replayed"), Some("true"));
    clock.set(clock.now() + Duration::hours(2));
    ada.post("/api/workspace.create", &body).await.refused(409, "WORKSPACE_SLUG_ALREADY_EXISTS");
}

async fn a_refusal_is_not_remembered(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let taken = ada.workspace("acme").await;
    let keyed = ada.with("Idempotency-Key", "one");
    let body = json!({ "name": "Acme", "slug": "acme" });
    keyed.post("/api/workspace.create", &body).await.refused(409, "WORKSPACE_SLUG_ALREADY_EXISTS");
    ada.delete(&format!("/api/workspace.delete?id={taken}")).await.ok();
    assert_eq!(keyed.post("/api/workspace.create", &body).await.ok().header("idempotent-replayed"), None);
}

async fn every_command_can_be_repeated(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let keyed = ada.with("Idempotency-Key", "one");
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let agent = ada.new_agent(&workspace, None, "lead").await["agent"]["id"].as_str().unwrap().to_owned();
    let bodies = [
        ("/api/workspace.update", json!({ "id": workspace, "name": "x" })),
        ("/api/project.update", json!({ "id": project, "name": "x" })),
        ("/api/agent.update", json!({ "id": agent, "name": "x" })),
    ];
    for (path, body) in bodies {
        let first = keyed.put(path, &body).await.ok();
        let again = keyed.put(path, &body).await.ok();
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body), "{path}");
    }
    let paths = [("project", project), ("agent", agent), ("workspace", workspace)];
    for path in paths.map(|(noun, id)| format!("/api/{noun}.delete?id={id}")) {
        keyed.delete(&path).await.ok();
        let again = keyed.delete(&path).await.ok();
        assert_eq!(
            (again.header("idempotent-replayed"), &again.body),
            (Some("true"), &json!({ "success": true })),
            "{path}"
        );
    }
}
