//! Views of wiki entries: every one counts, and the log hears of them in batches.

use std::sync::Arc;
use std::time::Duration;

use muster_tests::both_served_stores;
use muster_tests::muster::{bounded, wait_until};
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(
    a_view_counts_at_once_and_the_log_hears_of_it_later,
    many_views_become_one_event_per_entry_and_round,
    a_round_without_views_says_nothing,
    a_view_that_is_refused_does_not_count,
    lists_and_versions_show_views_that_are_not_told_yet,
    rounds_go_on_until_the_server_ends,
);

async fn entry(server: &Server, slug: &str) -> (Client, String, String) {
    let ada = server.owner(slug).await;
    let workspace = ada.workspace(slug).await;
    let id = propose(&ada, &workspace, slug).await;
    (ada, workspace, id)
}

async fn propose(ada: &Client, workspace: &str, slug: &str) -> String {
    let body = json!({ "workspaceId": workspace, "title": slug, "slug": slug, "content": "x" });
    ada.post("/api/wiki.create", &body).await.ok().id_of("entry")
}

async fn view(by: &Client, id: &str) -> Value {
    by.get(&format!("/api/wiki.get?id={id}")).await.ok().body["entry"].clone()
}

/// What the log was told of: the entry, how many views, and when the last was.
async fn told(server: &Server) -> Vec<(String, i64, String)> {
    let events = server.bench.everything().await;
    let counted = events.iter().filter(|it| it.event_type == "WikiViewsCounted");
    counted
        .map(|it| {
            let payload: Value = serde_json::from_str(&it.payload).unwrap();
            let fields = &payload["WikiViewsCounted"];
            let last = fields["last_viewed_at"].as_str().unwrap().to_owned();
            (it.stream.aggregate_id.clone(), fields["views"].as_i64().unwrap(), last)
        })
        .collect()
}

async fn a_view_counts_at_once_and_the_log_hears_of_it_later(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, _, id) = entry(&server, "locks").await;
    let head = server.head().await;
    server.bench.clock.set("2026-03-01T12:30:00Z".parse().unwrap());
    let shown = view(&ada, &id).await;
    assert_eq!((&shown["viewCount"], &shown["lastViewedAt"]), (&json!(1), &json!("2026-03-01T12:30:00Z")));
    assert_eq!(shown["updatedAt"], "2026-03-01T12:00:00Z");
    assert_eq!(view(&ada, &id).await["viewCount"], 2);
    assert_eq!(server.head().await, head, "reading writes nothing");
    server.app.count_wiki_views().await;
    assert_eq!(told(&server).await, [(id.clone(), 2, "2026-03-01T12:30:00Z".to_owned())]);
    assert_eq!(view(&ada, &id).await["viewCount"], 3);
}

async fn many_views_become_one_event_per_entry_and_round(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, workspace, one) = entry(&server, "one").await;
    let two = propose(&ada, &workspace, "two").await;
    let head = server.head().await;
    let views = (0..30).map(|at| view(&ada, if at % 3 == 0 { &two } else { &one }));
    futures_util::future::join_all(views).await;
    server.app.count_wiki_views().await;
    assert_eq!(server.head().await, head + 2);
    view(&ada, &one).await;
    server.app.count_wiki_views().await;
    let mut counted: Vec<_> = told(&server).await.into_iter().map(|(id, views, _)| (id, views)).collect();
    counted.sort();
    let mut expected = vec![(one.clone(), 20), (two.clone(), 10), (one.clone(), 1)];
    expected.sort();
    assert_eq!(counted, expected);
    assert_eq!(
        (view(&ada, &one).await["viewCount"].clone(), view(&ada, &two).await["viewCount"].clone()),
        (json!(22), json!(11))
    );
}

async fn a_round_without_views_says_nothing(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, _, id) = entry(&server, "locks").await;
    view(&ada, &id).await;
    server.app.count_wiki_views().await;
    let head = server.head().await;
    server.app.count_wiki_views().await;
    assert_eq!(server.head().await, head);
}

async fn a_view_that_is_refused_does_not_count(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, _, id) = entry(&server, "locks").await;
    let bob = server.owner("bob").await;
    bob.get(&format!("/api/wiki.get?id={id}")).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    assert_eq!(view(&ada, &id).await["viewCount"], 1);
}

async fn lists_and_versions_show_views_that_are_not_told_yet(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, workspace, first) = entry(&server, "locks").await;
    ada.post("/api/wiki.approve", &json!({ "id": first })).await.ok();
    let next = ada.put("/api/wiki.update", &json!({ "id": first, "title": "New" })).await.ok().id_of("entry");
    view(&ada, &first).await;
    let listed = ada.get(&format!("/api/wiki.list?workspaceId={workspace}")).await.ok();
    assert_eq!(listed.body["entries"][0]["viewCount"], 1);
    let shown = ada.get(&format!("/api/wiki.get?id={next}")).await.ok();
    assert_eq!((&shown.body["entry"]["viewCount"], &shown.body["parentEntry"]["viewCount"]), (&json!(1), &json!(1)));
}

async fn rounds_go_on_until_the_server_ends(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, _, id) = entry(&server, "locks").await;
    let rounds = tokio::spawn(Arc::clone(&server.app).keep_counting_wiki_views(Duration::from_millis(1)));
    for round in 1..=2 {
        view(&ada, &id).await;
        wait_until("the log hears of the view", async || told(&server).await.len() == round).await;
    }
    server.app.shut_down();
    bounded("the rounds end", rounds).await.unwrap();
}
