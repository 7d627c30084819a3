//! What the server says of itself: OpenAPI, the page that shows it, health and metrics.

use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(
    every_route_is_documented,
    every_route_documents_its_errors_and_who_may_call_it,
    requests_are_documented_as_they_are_checked,
    the_page_loads_nothing_from_elsewhere,
    health_says_how_far_read_models_are,
    metrics_tell_of_commands_and_requests,
);

/// Every route, by hand.
const ROUTES: &[(&str, &str)] = &[
    ("post", "/api/auth/signup"),
    ("post", "/api/auth/login"),
    ("post", "/api/auth/logout"),
    ("get", "/api/auth/session"),
    ("post", "/api/auth/github"),
    ("get", "/api/workspace.list"),
    ("get", "/api/workspace.get"),
    ("post", "/api/workspace.create"),
    ("put", "/api/workspace.update"),
    ("delete", "/api/workspace.delete"),
    ("get", "/api/project.list"),
    ("get", "/api/project.get"),
    ("post", "/api/project.create"),
    ("put", "/api/project.update"),
    ("delete", "/api/project.delete"),
    ("get", "/api/agent.list"),
    ("get", "/api/agent.get"),
    ("post", "/api/agent.create"),
    ("put", "/api/agent.update"),
    ("post", "/api/agent.rotateCredentials"),
    ("delete", "/api/agent.delete"),
    ("get", "/api/agent.terminal"),
    ("get", "/api/agent.health"),
    ("post", "/api/agent.launch"),
    ("get", "/api/kpi.get"),
    ("post", "/api/kpi.recalculate"),
    ("get", "/api/kpi.explain"),
    ("get", "/api/kpi.history"),
    ("get", "/api/trust.explain"),
    ("get", "/api/trust.history"),
    ("post", "/api/session.start"),
    ("post", "/api/session.log"),
    ("post", "/api/session.stop"),
    ("get", "/api/session.get"),
    ("get", "/api/task.list"),
    ("get", "/api/task.get"),
    ("post", "/api/task.create"),
    ("put", "/api/task.update"),
    ("post", "/api/task.assign"),
    ("post", "/api/task.start"),
    ("post", "/api/task.block"),
    ("post", "/api/task.complete"),
    ("get", "/api/wiki.list"),
    ("get", "/api/wiki.get"),
    ("post", "/api/wiki.create"),
    ("put", "/api/wiki.update"),
    ("post", "/api/wiki.approve"),
    ("post", "/api/wiki.reject"),
    ("get", "/api/epic.list"),
    ("get", "/api/epic.get"),
    ("post", "/api/epic.create"),
    ("put", "/api/epic.update"),
    ("post", "/api/epic.complete"),
    ("post", "/api/epic.requestChanges"),
    ("post", "/api/epic.fail"),
    ("get", "/api/review.queue"),
    ("get", "/api/mail.inbox"),
    ("get", "/api/mail.thread"),
    ("post", "/api/mail.send"),
    ("post", "/api/mail.reply"),
    ("post", "/api/mail.read"),
    ("get", "/api/decision.list"),
    ("get", "/api/notification.list"),
    ("get", "/api/notification.settings"),
    ("put", "/api/notification.updateSettings"),
    ("get", "/api/event.list"),
    ("get", "/api/event.get"),
    ("get", "/api/event.stream"),
    ("post", "/api/event.publish"),
    ("get", "/api/audit.history"),
    ("get", "/api/audit.state"),
    ("get", "/api/audit.diff"),
    ("get", "/api/audit.causes"),
    ("get", "/api/audit.effects"),
    ("post", "/api/webhooks/github"),
    ("post", "/api/github.webhook"),
    ("get", "/api/openapi.json"),
    ("get", "/health/ready"),
];

/// The commands that only agents give.
const FOR_AGENTS: &[&str] = &[
    "/api/session.start",
    "/api/session.log",
    "/api/session.stop",
    "/api/event.publish",
    "/api/task.start",
    "/api/task.block",
    "/api/task.complete",
];

async fn document(server: &Server) -> Value {
    server.nobody().get("/api/openapi.json").await.ok().body
}

async fn every_route_is_documented(bench: Bench) {
    let server = Server::start(bench).await;
    let api = document(&server).await;
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1."));
    assert_eq!(api, api::openapi(), "the command line and the server say the same");
    for (method, path) in ROUTES {
        let operation = &api["paths"][path][method];
        assert!(operation["summary"].is_string() && operation["operationId"].is_string(), "{method} {path}");
        assert!(operation["responses"]["200"]["content"].is_object(), "{method} {path}");
    }
    let documented: usize = api["paths"].as_object().unwrap().values().map(|it| it.as_object().unwrap().len()).sum();
    assert_eq!(documented, ROUTES.len() + 3, "and live, metrics and where GitHub sends browsers back to");
    let text = api.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(api.pointer(reference).is_some(), "{reference} is nowhere");
    }
}

async fn every_route_documents_its_errors_and_who_may_call_it(bench: Bench) {
    let server = Server::start(bench).await;
    let api = document(&server).await;
    let says = |method: &str, path: &str, status: &str, code: &str| {
        let response = &api["paths"][path][method]["responses"][status];
        assert!(response["description"].as_str().is_some_and(|it| it.contains(code)), "{path} {status} {code}");
        assert_eq!(response["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/Error");
    };
    for (method, path) in ROUTES.iter().filter(|(_, path)| path.starts_with("/api/") && !path.ends_with("json")) {
        says(method, path, "429", "RATE_LIMITED");
        says(method, path, "503", "UNAVAILABLE");
        says(method, path, "500", "INTERNAL_ERROR");
        let operation = &api["paths"][*path][*method];
        if path.contains("/auth/") {
            assert_eq!(operation["security"], Value::Null, "{path}");
        } else if path.contains("webhook") {
            assert_eq!(operation["security"], Value::Null, "{path}");
            says(method, path, "401", "GITHUB_WEBHOOK_SIGNATURE_INVALID");
            says(method, path, "404", "GITHUB_WEBHOOK_NOT_CONFIGURED");
            says(method, path, "413", "PAYLOAD_TOO_LARGE");
        } else {
            says(method, path, "401", "AUTH_INVALID_TOKEN");
            let by_session = json!({ "session": [] });
            let by_key = json!({ "agentId": [], "agentKey": [] });
            let first = if FOR_AGENTS.contains(path) { by_key } else { by_session };
            assert_eq!(operation["security"][0], first, "{path}");
        }
    }
    says("post", "/api/workspace.create", "409", "WORKSPACE_SLUG_ALREADY_EXISTS");
    says("post", "/api/workspace.create", "400", "WORKSPACE_INVALID_SLUG");
    says("post", "/api/workspace.create", "422", "IDEMPOTENCY_KEY_REUSED");
    says("post", "/api/workspace.create", "413", "PAYLOAD_TOO_LARGE");
    says("delete", "/api/project.delete", "400", "PROJECT_HAS_ACTIVE_AGENTS");
    says("delete", "/api/project.delete", "400", "PROJECT_HAS_ACTIVE_TASKS");
    says("delete", "/api/agent.delete", "400", "AGENT_HAS_ASSIGNED_TASKS");
    says("post", "/api/task.start", "400", "TASK_INVALID_TRANSITION");
    says("post", "/api/wiki.create", "409", "WIKI_ENTRY_SLUG_ALREADY_EXISTS");
    says("post", "/api/wiki.approve", "403", "NOT_CEO");
    says("post", "/api/auth/login", "401", "AUTH_INVALID_CREDENTIALS");
    says("get", "/api/event.stream", "410", "CURSOR_STALE");
    assert_eq!(api["paths"]["/api/agent.get"]["get"]["security"][1], json!({ "agentId": [], "agentKey": [] }));
    assert_eq!(api["components"]["securitySchemes"]["session"]["name"], "__session");
}

async fn requests_are_documented_as_they_are_checked(bench: Bench) {
    let server = Server::start(bench).await;
    let api = document(&server).await;
    let body = &api["paths"]["/api/agent.create"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let schema = api.pointer(body["$ref"].as_str().unwrap().trim_start_matches('#')).unwrap();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["agentLevel"]["enum"], json!(["organization", "project"]));
    assert_eq!(
        (&schema["properties"]["projectId"]["type"], &schema["properties"]["name"]["maxLength"]),
        (&json!("string"), &json!(255))
    );
    let list = api["paths"]["/api/event.list"]["get"]["parameters"].as_array().unwrap();
    let limit = list.iter().find(|it| it["name"] == "limit").unwrap();
    assert_eq!((&limit["in"], &limit["schema"]["maximum"]), (&json!("query"), &json!(100)));
    let answer = &api["paths"]["/api/project.get"]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    let required = answer["properties"]["project"]["required"].as_array().unwrap();
    let event = &api["paths"]["/api/event.get"]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    let event = &event["properties"]["event"];
    assert_eq!(event["properties"]["sessionId"]["type"], json!(["string", "null"]));
    assert!(event["required"].as_array().unwrap().contains(&json!("sessionId")));
    assert!(required.contains(&json!("description")) && !required.contains(&json!("deletedAt")));
}

async fn the_page_loads_nothing_from_elsewhere(bench: Bench) {
    let server = Server::start(bench).await;
    let page = server.nobody().get("/docs").await.ok();
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("http"));
    let script = server.nobody().get("/docs/page.js").await.ok();
    let style = server.nobody().get("/docs/page.css").await.ok();
    for text in [page.text, script.text, style.text] {
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("src=\"//"), "{text}");
    }
}

async fn health_says_how_far_read_models_are(bench: Bench) {
    let server = Server::start(bench).await;
    assert_eq!(server.nobody().get("/health/live").await.ok().body, json!({ "status": "alive" }));
    server.owner("ada").await.workspace("acme").await;
    let ready = server.nobody().get("/health/ready").await.ok();
    assert_eq!((&ready.body["status"], &ready.body["head"]), (&json!("ready"), &json!(2)));
    let mut names: Vec<&str> =
        ready.body["projections"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let read_models = projections::all();
    let mut expected: Vec<&str> = read_models.iter().map(|it| it.name()).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    for projection in ready.body["projections"].as_array().unwrap() {
        assert!(projection["lagEvents"].is_i64() && projection["state"] == "running", "{projection}");
    }
}

async fn metrics_tell_of_commands_and_requests(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    ada.workspace("acme").await;
    ada.get("/api/workspace.list?includeDeleted=true").await.ok();
    server.nobody().get("/api/no-such-route").await;
    let metrics = server.nobody().get("/metrics").await.ok().text;
    for line in [
        r#"muster_commands_total{command="workspace.create",outcome="done"}"#,
        r#"muster_http_request_seconds_bucket{method="GET",route="/api/workspace.list",status="200""#,
        r#"route="none",status="404""#,
        "muster_append_seconds_bucket",
        "muster_append_batch_commands_bucket",
        r#"muster_projection_lag_events{projection="timeline"}"#,
        "muster_log_head_position",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("includeDeleted") && !metrics.contains("no-such-route"));
}
