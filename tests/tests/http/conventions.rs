//! What all routes have in common: errors, positions, headers.

use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use reqwest::{Method, StatusCode};
use serde_json::json;
use uuid::Uuid;

both_served_stores!(
    an_unknown_route_is_not_found,
    a_wrong_method_is_told_the_right_one,
    a_query_waits_for_the_position_it_is_given,
    a_position_that_never_comes_is_unavailable,
    a_command_that_cannot_be_shown_yet_is_accepted,
    answers_are_for_the_caller_alone,
    a_command_is_traced_from_its_headers,
    a_request_has_an_id,
    a_request_that_takes_too_long_is_unavailable,
);

async fn an_unknown_route_is_not_found(bench: Bench) {
    let server = Server::start(bench).await;
    for path in ["/", "/api", "/api/", "/api/workspace.steal", "/api/workspace.list/", "/nothing", "/docs/../x"] {
        server.nobody().get(path).await.refused(404, "NOT_FOUND");
    }
    server.nobody().post("/api/auth/nothing", &json!({})).await.refused(404, "NOT_FOUND");
}

async fn a_wrong_method_is_told_the_right_one(bench: Bench) {
    let server = Server::start(bench).await;
    for (method, path, allow) in [
        (Method::GET, "/api/workspace.create", "POST"),
        (Method::POST, "/api/workspace.list", "GET,HEAD"),
        (Method::POST, "/api/workspace.update", "PUT"),
        (Method::GET, "/api/agent.delete", "DELETE"),
        (Method::PATCH, "/api/event.stream", "GET,HEAD"),
        (Method::PUT, "/api/auth/login", "POST"),
        (Method::POST, "/health/live", "GET,HEAD"),
    ] {
        let answer = server.nobody().send(method, path, None).await.refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}

async fn a_query_waits_for_the_position_it_is_given(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let lead = server.agent(&ada.new_agent(&workspace, None, "lead").await);
    for name in 0..20 {
        let position = ada
            .put("/api/workspace.update", &json!({ "id": workspace, "name": format!("{name}") }))
            .await
            .ok()
            .position();
        let seen = lead.with("X-Min-Position", &position.to_string()).get("/api/event.list?limit=1").await.ok();
        assert_eq!(seen.body["events"][0]["metadata"]["position"], json!(position));
    }
}

async fn a_position_that_never_comes_is_unavailable(bench: Bench) {
    let mut settings = muster_tests::server::settings();
    settings.patience = std::time::Duration::from_millis(20);
    let server = Server::start_with(bench, settings).await;
    let ada = server.owner("ada").await;
    let answer = ada.with("X-Min-Position", "999999").get("/api/workspace.list").await.refused(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

async fn a_command_that_cannot_be_shown_yet_is_accepted(bench: Bench) {
    let server = Server::start_without_read_models(bench).await;
    let ada = server.owner("ada").await;
    let body = json!({ "name": "Acme", "slug": "acme" });
    let keyed = ada.with("Idempotency-Key", "one");
    let answer = keyed.post("/api/workspace.create", &body).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
    assert_eq!(answer.body, json!({ "position": server.head().await }));
    let shown = keyed.post("/api/workspace.create", &body).await.ok();
    let workspace = shown.id_of("workspace");
    let body = json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": "lead", "name": "Lead", "roleTitle": "Lead" });
    let agent = ada.post("/api/agent.create", &body).await;
    assert_eq!(agent.status, StatusCode::ACCEPTED, "{}", agent.text);
    // The key is told now or never, and it works.
    let answer = server.agent(&agent.body).get(&format!("/api/agent.list?workspaceId={workspace}")).await;
    assert_ne!(answer.status, StatusCode::UNAUTHORIZED);
}

async fn answers_are_for_the_caller_alone(bench: Bench) {
    let server = Server::start(bench).await;
    let answer = server.owner("ada").await.get("/api/workspace.list").await.ok();
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert_eq!(server.nobody().get("/api/nothing").await.header("cache-control"), Some("no-store"));
}

async fn a_command_is_traced_from_its_headers(bench: Bench) {
    let server = Server::start(bench).await;
    let correlation = Uuid::now_v7().to_string();
    let traced = server.owner("ada").await.with("X-Correlation-ID", &correlation);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    traced.with("traceparent", &format!("00-{trace}-b7ad6b7169203331-01")).workspace("acme").await;
    let event = server.bench.everything().await.pop().unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
    assert_eq!((&metadata["correlation_id"], &metadata["trace_id"]), (&json!(correlation), &json!(trace)));
    assert_eq!(metadata["actor_type"], "user");
}

async fn a_request_has_an_id(bench: Bench) {
    let server = Server::start(bench).await;
    let answer = server.nobody().get("/health/live").await.ok();
    assert!(answer.header("x-request-id").unwrap().parse::<Uuid>().is_ok());
    let given = server.nobody().with("X-Request-ID", "from-the-proxy").get("/nothing").await;
    assert_eq!(given.header("x-request-id"), Some("from-the-proxy"));
}

async fn a_request_that_takes_too_long_is_unavailable(bench: Bench) {
    let mut settings = muster_tests::server::settings();
    settings.request_timeout = std::time::Duration::ZERO;
    let server = Server::start_with(bench, settings).await;
    let answer = server.nobody().post("/api/auth/signup", &muster_tests::server::sign_up("ada")).await;
    assert_eq!(answer.refused(503, "UNAVAILABLE").header("retry-after"), Some("1"));
    server.nobody().get("/health/live").await.ok();
}
