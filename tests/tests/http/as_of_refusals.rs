//! Moments that cannot be asked of, and who may ask of the past at all.

use api::HttpSettings;
use muster_tests::both_served_stores;
use muster_tests::server::{Server, settings};
use muster_tests::stores::Bench;
use serde_json::json;

both_served_stores!(
    a_moment_that_is_none_of_the_logs_is_refused,
    only_queries_can_be_asked_of_the_past,
    what_was_not_there_then_is_not_found_and_what_is_not_yours_stays_so,
    a_past_that_is_too_long_is_refused_politely,
    looking_at_the_past_counts_no_view,
    the_newest_position_is_asked_of_as_soon_as_it_is_written,
);

async fn a_moment_that_is_none_of_the_logs_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    ada.workspace("acme").await;
    let cases = [
        ("0", "the first is 1"),
        ("-3", "the first is 1"),
        ("3", "beyond the end of the log, which is at 2"),
        ("yesterday", "neither a position nor a time"),
        ("2026-03-01", "neither a position nor a time"),
        ("", "neither a position nor a time"),
        ("2020-01-01T00:00:00Z", "before the first event"),
        ("2099-01-01T00:00:00Z", "has not come yet"),
    ];
    for (moment, why) in cases {
        let refused = ada.get(&format!("/api/workspace.list?asOf={moment}")).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["asOf"], "{moment}");
        assert!(refused.text.contains(why), "{moment}: {}", refused.text);
    }
    let twice = ada.get("/api/workspace.list?asOf=1&asOf=2").await.refused(400, "VALIDATION_ERROR");
    assert_eq!(twice.bad_fields(), ["asOf"]);
    let later = ada.with("X-Min-Position", "2").get("/api/workspace.list?asOf=1").await;
    assert_eq!(later.refused(400, "VALIDATION_ERROR").bad_fields(), ["X-Min-Position"]);
}

async fn only_queries_can_be_asked_of_the_past(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    for path in ["/api/event.stream?asOf=1", &format!("/api/event.stream?workspaceId={workspace}&asOf=1")] {
        let refused = ada.get(path).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["asOf"]);
    }
    let delete = ada.delete(&format!("/api/workspace.delete?id={workspace}&asOf=1")).await;
    assert_eq!(delete.refused(400, "VALIDATION_ERROR").bad_fields(), ["asOf"]);
    ada.get(&format!("/api/workspace.get?id={workspace}")).await.ok();
}

async fn what_was_not_there_then_is_not_found_and_what_is_not_yours_stays_so(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let workspace = ada.workspace("acme").await;
    let before = server.head().await;
    let shop = ada.project(&workspace, "shop").await;
    let then = server.head().await;
    let get = format!("/api/project.get?id={shop}");
    ada.get(&format!("{get}&asOf={before}")).await.refused(404, "PROJECT_NOT_FOUND");
    let shown = ada.get(&format!("{get}&asOf={then}")).await.ok();
    assert_eq!(shown.header("x-as-of-position"), Some(then.to_string().as_str()));
    for moment in [before, then] {
        bob.get(&format!("{get}&asOf={moment}")).await.refused(403, "PROJECT_ACCESS_DENIED");
        let all = bob.get(&format!("/api/event.list?asOf={moment}")).await.ok();
        assert_eq!(all.body["total"], 0);
        server.nobody().get(&format!("{get}&asOf={moment}")).await.refused(401, "AUTH_INVALID_TOKEN");
    }
    assert_eq!(ada.get(&get).await.ok().header("x-as-of-position"), None, "today is no past");
}

async fn a_past_that_is_too_long_is_refused_politely(bench: Bench) {
    let server = Server::start_with(bench, HttpSettings { as_of_events: 3, ..settings() }).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    for slug in ["a", "b", "c"] {
        ada.project(&workspace, slug).await;
    }
    let (head, list) = (server.head().await, format!("/api/project.list?workspaceId={workspace}"));
    let refused = ada.get(&format!("{list}&asOf={head}")).await.refused(400, "PAST_TOO_LONG");
    assert!(refused.text.contains(&format!("muster serve --as-of {head}")), "{}", refused.text);
    let shown = ada.get(&format!("{list}&asOf={}", head - 1)).await.ok();
    assert_eq!(shown.body["projects"].as_array().unwrap().len(), 2, "three events are not too many");
}

async fn looking_at_the_past_counts_no_view(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = json!({ "workspaceId": ada.workspace("acme").await, "title": "x", "slug": "x", "content": "x" });
    let id = ada.post("/api/wiki.create", &body).await.ok().id_of("entry");
    let head = server.head().await;
    for _ in 0..2 {
        let shown = ada.get(&format!("/api/wiki.get?id={id}&asOf={head}")).await.ok();
        assert_eq!(shown.body["entry"]["viewCount"], 0);
    }
    server.app.count_wiki_views().await;
    assert_eq!(server.head().await, head);
}

async fn the_newest_position_is_asked_of_as_soon_as_it_is_written(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for slug in ["a", "b", "c", "d", "e"] {
        ada.workspace(slug).await;
        let listed = ada.get(&format!("/api/workspace.list?asOf={}", server.head().await)).await.ok();
        assert!(listed.text.contains(&format!("\"slug\":\"{slug}\"")), "{}", listed.text);
    }
}
