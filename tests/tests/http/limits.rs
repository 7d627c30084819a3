//! Rate limits over HTTP.

use api::Limits;
use muster_tests::both_served_stores;
use muster_tests::server::{Server, settings};
use muster_tests::stores::Bench;
use serde_json::json;

both_served_stores!(
    each_principal_has_a_quota_of_its_own,
    wrong_credentials_count_against_the_address,
    without_limits_nothing_is_counted,
);

async fn limited(bench: Bench, limits: &str) -> Server {
    let mut settings = settings();
    settings.limits = Limits::parse(limits).unwrap();
    Server::start_with(bench, settings).await
}

async fn each_principal_has_a_quota_of_its_own(bench: Bench) {
    let server = limited(bench, "owner=3,agent=2,address=off").await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let workspace = ada.workspace("acme").await;
    let lead = server.agent(&ada.new_agent(&workspace, None, "lead").await);
    let last = ada.get("/api/workspace.list").await.ok();
    assert_eq!((last.header("ratelimit-limit"), last.header("ratelimit-remaining")), (Some("3"), Some("0")));
    let head = server.head().await;
    let refused =
        ada.post("/api/workspace.create", &json!({ "name": "b", "slug": "b" })).await.refused(429, "RATE_LIMITED");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() <= 21);
    assert_eq!((refused.header("ratelimit-remaining"), refused.header("ratelimit-reset")), (Some("0"), Some("60")));
    assert_eq!(server.head().await, head);
    bob.get("/api/workspace.list").await.ok();
    lead.get("/api/event.list").await.ok();
    lead.get("/api/event.list").await.ok();
    lead.get("/api/event.list").await.refused(429, "RATE_LIMITED");
    server.nobody().get("/api/auth/session").await.ok();
}

async fn wrong_credentials_count_against_the_address(bench: Bench) {
    let server = limited(bench, "address=3").await;
    let ada = server.owner("ada").await;
    server.nobody().get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
    let guess = server.nobody().with("X-Agent-ID", "x").with("X-Agent-Key", "y");
    guess.get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
    guess.get("/api/event.list").await.refused(429, "RATE_LIMITED");
    server.nobody().with("Cookie", "__session=00").get("/api/workspace.list").await.refused(429, "RATE_LIMITED");
    ada.get("/api/workspace.list").await.ok();
    server.nobody().get("/health/live").await.ok();
}

async fn without_limits_nothing_is_counted(bench: Bench) {
    let server = limited(bench, "off").await;
    let ada = server.owner("ada").await;
    for _ in 0..150 {
        assert_eq!(ada.get("/api/workspace.list").await.ok().header("ratelimit-limit"), None);
    }
}
