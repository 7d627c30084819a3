//! What bad input gets: the right status, every bad field by name, and nothing written.

use muster_tests::both_served_stores;
use muster_tests::server::{Answer, Client, Server};
use muster_tests::stores::Bench;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    every_bad_field_of_a_command_is_named,
    every_bad_parameter_of_a_query_is_named,
    what_is_not_json_is_refused,
    a_body_of_another_type_is_refused,
    a_body_that_is_too_large_is_refused,
    whose_body_is_not_read_is_told_that_the_connection_ends,
    who_is_still_sending_hears_the_refusal,
    nul_is_refused_everywhere,
    a_delete_does_not_choose_between_two_inputs,
    strings_may_hold_anything_else,
    bad_headers_are_named,
);

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Answer {
    let method: Method = method.parse().unwrap();
    client.send(method, path, Some(body.to_string())).await
}

/// For each command: a body that is wrong in every field, and the fields.
#[rustfmt::skip]
fn wrong_in_every_field() -> Vec<(&'static str, &'static str, Value, &'static [&'static str])> {
    let long = "x".repeat(256);
    vec![
        ("POST", "/api/auth/signup", json!({ "email": "ada@", "password": 8, "name": long, "admin": true }), &["admin", "email", "name", "password"]),
        ("POST", "/api/auth/signup", json!({}), &["email", "name", "password"]),
        ("POST", "/api/auth/signup", json!({ "email": "a@b.c", "password": "x".repeat(101), "name": "" }), &["name", "password"]),
        ("POST", "/api/auth/login", json!({ "email": [], "password": null }), &["email", "password"]),
        ("POST", "/api/workspace.create", json!({ "name": "", "slug": "A", "description": 1, "settings": [], "id": 1 }), &["description", "id", "name", "settings", "slug"]),
        ("POST", "/api/workspace.create", json!({}), &["name", "slug"]),
        ("PUT", "/api/workspace.update", json!({ "id": "1", "name": long, "slug": "", "description": null, "settings": 1, "owner": 1 }), &["description", "id", "name", "owner", "settings", "slug"]),
        ("DELETE", "/api/workspace.delete", json!({ "id": 1, "force": true }), &["force", "id"]),
        ("POST", "/api/project.create", json!({ "workspaceId": "x", "name": "", "slug": "-A", "description": {}, "repositoryUrl": "shop", "githubInstallationId": 1.5, "mvpDocumentUrl": "javascript:alert(1)", "isActive": true }),
            &["description", "githubInstallationId", "isActive", "mvpDocumentUrl", "name", "repositoryUrl", "slug", "workspaceId"]),
        ("POST", "/api/project.create", json!({}), &["name", "slug", "workspaceId"]),
        ("POST", "/api/project.create", json!({ "workspaceId": Uuid::nil(), "name": "x", "slug": "x", "githubInstallationId": 1e300 }), &["githubInstallationId"]),
        ("PUT", "/api/project.update", json!({ "name": 1, "isActive": "yes", "repositoryUrl": "http://[", "githubInstallationId": "7" }), &["githubInstallationId", "id", "isActive", "name", "repositoryUrl"]),
        ("DELETE", "/api/project.delete", json!({}), &["id"]),
        ("POST", "/api/agent.create", json!({ "workspaceId": 1, "projectId": "x", "agentLevel": "boss", "agentCode": "a b", "name": "", "roleTitle": long, "capabilities": [1], "settings": "x", "supervisorAgentId": "x", "trustScore": 100 }),
            &["agentCode", "agentLevel", "capabilities.0", "name", "projectId", "roleTitle", "settings", "supervisorAgentId", "trustScore", "workspaceId"]),
        ("POST", "/api/agent.create", json!({}), &["agentCode", "agentLevel", "name", "roleTitle", "workspaceId"]),
        ("PUT", "/api/agent.update", json!({ "id": "x", "status": "asleep", "name": "", "roleTitle": "", "capabilities": "rust", "settings": null, "agentCode": "x" }),
            &["agentCode", "capabilities", "id", "name", "roleTitle", "settings", "status"]),
        ("POST", "/api/agent.rotateCredentials", json!({ "id": "{0198c5a0-0000-7000-8000-000000000001}" }), &["id"]),
        ("DELETE", "/api/agent.delete", json!({ "id": "urn:uuid:0198c5a0-0000-7000-8000-000000000001" }), &["id"]),
        ("POST", "/api/workspace.create", json!([1]), &["body"]),
        ("POST", "/api/workspace.create", json!("text"), &["body"]),
        ("POST", "/api/workspace.create", json!(null), &["body"]),
    ]
}

async fn every_bad_field_of_a_command_is_named(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let head = server.head().await;
    for (method, path, body, fields) in wrong_in_every_field() {
        let answer = send(&ada, method, path, &body).await;
        assert_eq!(answer.status.as_u16(), 400, "{path} {body}: {}", answer.text);
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), fields, "{path} {body}");
    }
    assert_eq!(server.head().await, head);
}

async fn every_bad_parameter_of_a_query_is_named(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let cases: &[(&str, &[&str])] = &[
        ("/api/workspace.list?includeDeleted=perhaps&page=1", &["includeDeleted", "page"]),
        ("/api/workspace.get", &["id"]),
        ("/api/workspace.get?id=1&id=2", &["id"]),
        (
            "/api/project.list?workspaceId=x&includeInactive=1&limit=0&offset=-1",
            &["includeInactive", "limit", "offset", "workspaceId"],
        ),
        ("/api/project.get?id=", &["id"]),
        (
            "/api/agent.list?agentLevel=boss&status=asleep&projectId=x",
            &["agentLevel", "projectId", "status", "workspaceId"],
        ),
        ("/api/agent.get?id=%7B0198c5a0-0000-7000-8000-000000000001%7D", &["id"]),
        (
            "/api/event.list?limit=101&offset=x&type=nothing&before=-1&sessionId=x",
            &["before", "limit", "offset", "sessionId", "type"],
        ),
        ("/api/event.list?limit=1.5", &["limit"]),
        ("/api/event.get?id=x&x=1", &["id", "x"]),
        ("/api/event.stream?type=nothing&limit=1", &["limit", "type"]),
    ];
    for (path, fields) in cases {
        let answer = ada.get(path).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(answer.bad_fields(), *fields, "{path}");
    }
}

async fn what_is_not_json_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let head = server.head().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["{", "", "{\"name\": \"\\ud800\"}", "{} {}", "name=acme", "{\"name\": 1e999}", deep.as_str()] {
        let answer = ada.send(Method::POST, "/api/workspace.create", Some(body.to_owned())).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["body"]);
    }
    assert_eq!(server.head().await, head);
}

async fn a_body_of_another_type_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = json!({ "name": "Acme", "slug": "acme" });
    for other in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"] {
        let answer = ada.with("Content-Type", other).post("/api/workspace.create", &body).await;
        answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let fine = ada.with("Content-Type", "application/json; charset=utf-8");
    fine.post("/api/workspace.create", &body).await.ok();
}

async fn a_body_that_is_too_large_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = |bytes: usize| json!({ "name": "Acme", "slug": "acme", "description": "x".repeat(bytes) });
    ada.post("/api/workspace.create", &body(256 * 1024)).await.refused(413, "PAYLOAD_TOO_LARGE");
    ada.post("/api/workspace.create", &body(250 * 1024)).await.ok();
}

/// Else its next request may go where nobody reads any more.
async fn whose_body_is_not_read_is_told_that_the_connection_ends(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = |bytes: usize| json!({ "name": "Acme", "slug": "Not a slug", "description": "x".repeat(bytes) });
    for _ in 0..20 {
        let unread = ada.post("/api/workspace.create", &body(300 * 1024)).await.refused(413, "PAYLOAD_TOO_LARGE");
        assert_eq!(unread.header("connection"), Some("close"));
        let read = ada.post("/api/workspace.create", &body(200 * 1024)).await.refused(400, "WORKSPACE_INVALID_SLUG");
        assert_eq!(read.header("connection"), None);
    }
}

/// More than the sockets hold, so that the refusal is there while the client still sends.
async fn who_is_still_sending_hears_the_refusal(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = json!({ "name": "Acme", "slug": "acme", "description": "x".repeat(16 * 1024 * 1024) });
    for _ in 0..5 {
        ada.post("/api/workspace.create", &body).await.refused(413, "PAYLOAD_TOO_LARGE");
        server.nobody().post("/api/workspace.create", &body).await.refused(401, "AUTH_INVALID_TOKEN");
    }
}

async fn nul_is_refused_everywhere(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let head = server.head().await;
    let body = json!({ "name": "a\0b", "slug": "acme", "description": "\0", "settings": { "a": ["\0"], "b\0": 1 } });
    let answer = ada.post("/api/workspace.create", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(answer.bad_fields(), ["description", "name", "settings.a.0", "settings.b\u{fffd}"]);
    let body = json!({ "email": "ada@example.com", "password": "a password\0", "name": "\0" });
    let answer = server.nobody().post("/api/auth/signup", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(answer.bad_fields(), ["name", "password"]);
    ada.get("/api/event.list?type=%00").await.refused(400, "VALIDATION_ERROR");
    assert_eq!(server.head().await, head);
}

async fn a_delete_does_not_choose_between_two_inputs(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    let body = json!({ "id": two }).to_string();
    let both = ada.send(Method::DELETE, &format!("/api/workspace.delete?id={one}"), Some(body.clone())).await;
    assert_eq!(both.refused(400, "VALIDATION_ERROR").bad_fields(), ["id"]);
    ada.send(Method::DELETE, "/api/workspace.delete", Some(body)).await.ok();
    ada.delete(&format!("/api/workspace.delete?id={one}")).await.ok();
    let three = ada.workspace("three").await;
    let body = json!({ "id": three }).to_string();
    ada.send(Method::DELETE, &format!("/api/workspace.delete?id={three}"), Some(body)).await.ok();
}

async fn strings_may_hold_anything_else(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for (at, name) in ["  ", "'; drop table events; --", "\u{202e}\u{1f980}é\t\n", "<script>", "\\u0000", "\u{1}\u{7f}"]
        .iter()
        .enumerate()
    {
        let body = json!({ "name": name, "slug": format!("w{at}"), "settings": { *name: name } });
        let workspace = ada.post("/api/workspace.create", &body).await.ok().body["workspace"].clone();
        assert_eq!((&workspace["name"], &workspace["settings"]), (&json!(name), &json!({ *name: name })));
    }
    let longest = "é".repeat(255);
    let body = json!({ "name": longest, "slug": "s".repeat(255) });
    ada.post("/api/workspace.create", &body).await.ok();
}

async fn bad_headers_are_named(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for key in [String::new(), "k".repeat(256)] {
        let client = ada.with("Idempotency-Key", &key);
        let answer = client.post("/api/workspace.create", &json!({ "name": "a", "slug": "a" })).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["Idempotency-Key"]);
    }
    for position in ["x", "-1", "1.5", ""] {
        let answer = ada.with("X-Min-Position", position).get("/api/workspace.list").await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["X-Min-Position"]);
    }
    let foreign = ada.with("X-Correlation-ID", "from a proxy").with("traceparent", "nonsense");
    foreign.post("/api/workspace.create", &json!({ "name": "a", "slug": "a" })).await.ok();
}
