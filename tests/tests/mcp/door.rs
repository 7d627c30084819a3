//! Who gets in at `/mcp`, with what, and what everybody else is told.

use api::{HttpSettings, Limits, McpSettings};
use muster_tests::both_served_stores;
use muster_tests::mcp;
use muster_tests::server::{Client, Server, settings};
use muster_tests::stores::Bench;
use reqwest::Method;
use serde_json::{Value, json};

use crate::floor::Floor;

both_served_stores!(
    only_agents_with_their_key_get_in,
    pages_of_other_sites_are_refused_before_anything_else,
    a_body_is_json_of_the_protocol_and_not_too_large,
    only_post_is_answered,
    requests_are_counted_like_any_other,
    an_unknown_tool_is_an_error_of_the_protocol,
    a_call_that_is_none_has_invalid_params,
    an_agent_without_a_post_has_no_tools,
    a_server_of_any_name_answers,
);

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

/// An agent that has nothing to do with the factory.
async fn ordinary_agent(server: &Server) -> Client {
    let owner = server.owner("ada").await;
    let workspace = owner.workspace("acme").await;
    server.agent(&owner.new_agent(&workspace, None, "lead").await)
}

async fn only_agents_with_their_key_get_in(bench: Bench) {
    let server = Server::start(bench).await;
    let agent = ordinary_agent(&server).await;
    mcp::send(&agent, &ping()).await.ok();
    let stranger = server.nobody();
    mcp::send(&stranger, &ping()).await.refused(401, "AUTH_INVALID_TOKEN");
    let id = agent.headers[0].1.clone();
    let guess = stranger.with("X-Agent-ID", &id).with("X-Agent-Key", "mk_guess");
    mcp::send(&guess, &ping()).await.refused(401, "AUTH_INVALID_TOKEN");
    mcp::send(&stranger.with("X-Agent-ID", &id), &ping()).await.refused(401, "AUTH_INVALID_TOKEN");
    let owner = server.owner("eve").await;
    mcp::send(&owner, &ping()).await.refused(401, "AUTH_INVALID_TOKEN");
}

async fn pages_of_other_sites_are_refused_before_anything_else(bench: Bench) {
    let mcp_settings =
        McpSettings { allowed_origins: vec!["https://console.example".into()], ..McpSettings::default() };
    let server = Server::start_with(bench, HttpSettings { mcp: mcp_settings, ..settings() }).await;
    let agent = ordinary_agent(&server).await;
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "https://console.example:1"] {
        mcp::send(&agent.with("Origin", origin), &ping()).await.refused(403, "CROSS_SITE_REQUEST");
        mcp::send(&server.nobody().with("Origin", origin), &ping()).await.refused(403, "CROSS_SITE_REQUEST");
    }
    // A name that was rebound to this machine is still the page's own.
    let rebound = agent.with("Origin", "http://evil.example").with("Host", "evil.example");
    mcp::send(&rebound, &ping()).await.refused(403, "CROSS_SITE_REQUEST");
    for origin in ["https://console.example", "http://localhost:6274", "http://127.0.0.1"] {
        mcp::send(&agent.with("Origin", origin), &ping()).await.ok();
    }
}

async fn a_server_of_any_name_answers(bench: Bench) {
    let server = Server::start(bench).await;
    let agent = ordinary_agent(&server).await;
    mcp::send(&agent.with("Host", "muster.example"), &ping()).await.ok();
}

async fn a_body_is_json_of_the_protocol_and_not_too_large(bench: Bench) {
    let server = Server::start_with(bench, HttpSettings { body_limit_bytes: 2_000, ..settings() }).await;
    let agent = ordinary_agent(&server).await.with("Accept", "application/json, text/event-stream");
    let post = |client: Client, body: String| async move { client.send(Method::POST, "/mcp", Some(body)).await };
    let plain = agent.with("Content-Type", "text/plain");
    post(plain, ping().to_string()).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    post(agent.clone(), format!("{{\"x\":\"{}\"}}", "x".repeat(2_000))).await.refused(413, "PAYLOAD_TOO_LARGE");
    for body in ["{", "[]", "{}", "null", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, r#"[{"jsonrpc":"2.0"}]"#] {
        post(agent.clone(), body.to_owned()).await.refused(400, "VALIDATION_ERROR");
    }
    agent.send(Method::POST, "/mcp", None).await.refused(400, "VALIDATION_ERROR");
    let unknown = json!({ "jsonrpc": "2.0", "id": 7, "method": "moon/landing" });
    let answer = mcp::send(&agent, &unknown).await;
    assert_eq!((&answer.body["error"]["code"], &answer.body["id"]), (&json!(-32601), &json!(7)), "{}", answer.text);
    let choosy = ordinary_agent_headers(&agent).with("Accept", "text/html");
    assert_eq!(choosy.send(Method::POST, "/mcp", Some(ping().to_string())).await.status, 406);
}

/// The same agent, with nothing but its credentials.
fn ordinary_agent_headers(agent: &Client) -> Client {
    let mut client = agent.clone();
    client.headers.retain(|(name, _)| name.starts_with("X-Agent"));
    client
}

async fn only_post_is_answered(bench: Bench) {
    let server = Server::start(bench).await;
    let agent = ordinary_agent(&server).await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        agent.send(method, "/mcp", None).await.refused(405, "METHOD_NOT_ALLOWED");
    }
}

async fn requests_are_counted_like_any_other(bench: Bench) {
    let limits = Limits::parse("owner=off,address=off,agent=2").unwrap();
    let server = Server::start_with(bench, HttpSettings { limits, ..settings() }).await;
    let agent = ordinary_agent(&server).await;
    let first = mcp::send(&agent, &ping()).await.ok();
    assert_eq!(first.header("ratelimit-remaining"), Some("1"));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    mcp::send(&agent, &ping()).await.ok();
    let refused = mcp::send(&agent, &ping()).await.refused(429, "RATE_LIMITED");
    assert!(refused.header("retry-after").is_some());
}

async fn an_unknown_tool_is_an_error_of_the_protocol(bench: Bench) {
    let floor = Floor::new(bench).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "mcp__mail__burn", "arguments": {} } });
    let answer = mcp::send(&floor.supervisor, &body).await.ok();
    assert_eq!(answer.body["error"]["code"], -32602, "{}", answer.text);
}

async fn a_call_that_is_none_has_invalid_params(bench: Bench) {
    let floor = Floor::new(bench).await;
    let named = |arguments: Value| json!({ "name": "mcp__mail__list_inbox", "arguments": arguments });
    for params in [Value::Null, json!({}), json!({ "name": 5 }), named(json!([])), named(json!("x")), named(json!(1))] {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        let answer = mcp::send(&floor.supervisor, &body).await.ok();
        assert_eq!((&answer.body["error"]["code"], &answer.body["id"]), (&json!(-32602), &json!(7)), "{}", answer.text);
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call" });
    assert_eq!(mcp::send(&floor.supervisor, &bare).await.ok().body["error"]["code"], -32602);
    let none = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": [] });
    mcp::send(&floor.supervisor, &none).await.refused(400, "VALIDATION_ERROR");
}

async fn an_agent_without_a_post_has_no_tools(bench: Bench) {
    let server = Server::start(bench).await;
    let agent = ordinary_agent(&server).await;
    assert_eq!(mcp::list(&agent).await, Vec::<String>::new());
    let answer = mcp::call(&agent, "mcp__mail__list_inbox", json!({})).await;
    assert!(answer.is_error, "{answer:?}");
    assert_eq!(answer.told["code"], "TOOL_NOT_ALLOWED");
}
