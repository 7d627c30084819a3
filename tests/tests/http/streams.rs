//! The timeline as it grows: nothing lost, nothing twice, and an end when there must be one.

use chrono::Duration;
use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use serde_json::json;

both_served_stores!(
    a_listener_hears_what_happens_from_now_on,
    a_listener_that_comes_back_misses_nothing,
    a_listener_hears_only_what_it_asked_for,
    a_listener_hears_of_a_workspace_that_it_opens_later,
    a_cursor_of_another_life_is_refused,
    streams_end_when_the_server_does,
    a_stream_ends_with_the_key_that_opened_it,
    a_stream_ends_with_the_session_that_opened_it,
    a_slow_listener_gets_everything_in_order,
);

async fn a_listener_hears_what_happens_from_now_on(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let mut stream = ada.listen("/api/event.stream").await;
    let project = ada.project(&workspace, "shop").await;
    let heard = stream.next().await.unwrap();
    assert_eq!((heard.event.as_str(), &heard.data["projectId"]), ("project_created", &json!(project)));
    assert_eq!(heard.id, format!("1-{}", server.head().await));
    let listed = ada.get("/api/event.list?limit=1").await.ok();
    assert_eq!(listed.body["events"][0], heard.data);
}

async fn a_listener_that_comes_back_misses_nothing(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let mut stream = ada.listen("/api/event.stream").await;
    let workspace = ada.workspace("acme").await;
    let last = stream.next().await.unwrap().id;
    drop(stream);
    ada.project(&workspace, "a").await;
    ada.new_agent(&workspace, None, "lead").await;
    let mut stream = ada.with("Last-Event-ID", &last).listen("/api/event.stream").await;
    assert_eq!(stream.types(2).await, ["project_created", "agent_created"]);
    ada.project(&workspace, "b").await;
    assert_eq!(stream.types(1).await, ["project_created"]);
    let mut from_the_start = ada.with("Last-Event-ID", "1-0").listen("/api/event.stream").await;
    let everything = ["workspace_created", "project_created", "agent_created", "project_created"];
    assert_eq!(from_the_start.types(4).await, everything);
}

async fn a_listener_hears_only_what_it_asked_for(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    let shop = ada.project(&one, "shop").await;
    let dev = ada.new_agent(&one, Some(&shop), "dev").await;
    let mut of_two = ada.listen(&format!("/api/event.stream?workspaceId={two}")).await;
    let mut of_type = ada.listen("/api/event.stream?type=project_updated").await;
    let mut of_dev = server.agent(&dev).listen("/api/event.stream").await;
    bob.workspace("bobs").await;
    ada.project(&one, "other").await;
    ada.new_agent(&two, None, "lead").await;
    ada.put("/api/project.update", &json!({ "id": shop, "name": "Shop" })).await.ok();
    assert_eq!(of_two.types(1).await, ["agent_created"]);
    assert_eq!(of_type.types(1).await, ["project_updated"]);
    assert_eq!(of_dev.types(1).await, ["project_updated"], "a project agent hears of its project alone");
}

async fn a_listener_hears_of_a_workspace_that_it_opens_later(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let mut stream = ada.listen("/api/event.stream").await;
    let workspace = ada.workspace("acme").await;
    ada.delete(&format!("/api/workspace.delete?id={workspace}")).await.ok();
    assert_eq!(stream.types(2).await, ["workspace_created", "workspace_deleted"]);
}

async fn a_cursor_of_another_life_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    ada.with("Last-Event-ID", "2-0").get("/api/event.stream").await.refused(410, "CURSOR_STALE");
    ada.with("Last-Event-ID", "1-999").get("/api/event.stream").await.refused(410, "CURSOR_STALE");
    for wrong in ["1", "x-1", "1-", "1-x", "-1-1"] {
        let answer = ada.with("Last-Event-ID", wrong).get("/api/event.stream").await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["Last-Event-ID"]);
    }
}

async fn streams_end_when_the_server_does(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let mut stream = ada.listen("/api/event.stream").await;
    ada.workspace("acme").await;
    assert_eq!(stream.types(1).await, ["workspace_created"]);
    server.app.shut_down();
    assert_eq!(stream.next().await, None);
    assert_eq!(ada.listen("/api/event.stream").await.next().await, None);
}

async fn a_stream_ends_with_the_key_that_opened_it(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let lead = ada.new_agent(&workspace, None, "lead").await;
    let mut rotated = server.agent(&lead).listen("/api/event.stream").await;
    let fresh = ada.post("/api/agent.rotateCredentials", &json!({ "id": lead["agent"]["id"] })).await.ok().body;
    assert_eq!(rotated.next().await, None);
    let mut suspended = server.agent(&fresh).listen("/api/event.stream").await;
    ada.put("/api/agent.update", &json!({ "id": lead["agent"]["id"], "status": "inactive" })).await.ok();
    assert_eq!(suspended.next().await, None);
}

async fn a_stream_ends_with_the_session_that_opened_it(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let mut left = ada.listen("/api/event.stream").await;
    ada.post("/api/auth/logout", &json!({})).await.ok();
    assert_eq!(left.next().await, None);
    let bob = server.owner("bob").await;
    let mut expired = bob.listen("/api/event.stream").await;
    server.bench.clock.set(server.bench.clock.now() + Duration::days(8));
    assert_eq!(expired.next().await, None);
}

async fn a_slow_listener_gets_everything_in_order(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let mut stream = ada.listen("/api/event.stream").await;
    for at in 0..130 {
        ada.put("/api/workspace.update", &json!({ "id": workspace, "name": format!("{at}") })).await.ok();
    }
    let mut positions = Vec::new();
    for _ in 0..130 {
        positions.push(stream.next().await.unwrap().data["metadata"]["position"].as_i64().unwrap());
    }
    assert!(positions.is_sorted() && positions.windows(2).all(|pair| pair[0] != pair[1]));
}
