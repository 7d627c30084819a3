//! Two servers on one PostgreSQL: one log, one order, one answer per key, and keys that die on both.

use std::time::{Duration, Instant};

use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::checker::{Found, check};
use crate::client::{Client, Request};
use crate::load::Load;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_read_one_order_without_gaps() {
    let (home, a, b) = two_nodes().await;
    let running = Load::new(&a, 8).await.start(&[&a, &b]);
    running.acknowledged(150).await;
    let mut load = running.stop().await;
    load.settle(&b).await;
    let found = check(&home, &load).await;
    // Both of them wrote, or this shows nothing.
    for node in [&a, &b] {
        assert!(commands_done_by(node).await > 20);
    }
    let written: Vec<&str> =
        found.events.iter().filter(|it| it.in_a_workspace).map(|it| it.event_id.as_str()).collect();
    for node in [&a, &b] {
        let mut read = timeline(&load.owner.at(node), found.head()).await;
        read.reverse();
        assert_eq!(read.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>(), written);
    }
    assert_eq!(timeline(&load.owner.at(&a), found.head()).await, timeline(&load.owner.at(&b), found.head()).await);
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["projections", "verify"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_sent_to_two_nodes_at_once_has_one_effect() {
    let (home, a, b) = two_nodes().await;
    let owner = Client::sign_up(&a).await;
    let (workspace, _) = owner.new_workspace().await;
    let (at_a, at_b) = (owner.at(&a), owner.at(&b));
    for _ in 0..15 {
        let slug = format!("p-{}", Uuid::now_v7().simple());
        let body = json!({"workspaceId": workspace, "name": "Twice", "slug": slug});
        let request = Request::post("/api/project.create", body).keyed(&Uuid::now_v7().to_string());
        let (from_a, from_b) = tokio::join!(at_a.send(&request), at_b.send(&request));
        let (from_a, from_b) = (from_a.unwrap(), from_b.unwrap());
        assert!(from_a.is_good() && from_b.is_good(), "{from_a:#?} {from_b:#?}");
        assert_eq!(from_a.body, from_b.body);
        assert_eq!(from_a.position(), from_b.position());
        assert!(from_a.is_replayed() != from_b.is_replayed(), "{from_a:#?} {from_b:#?}");
    }
    let found = Found::read(&home).await;
    found.check_order();
    assert_eq!(found.events.iter().filter(|it| it.event_type == "ProjectCreated").count(), 15);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_rotated_on_one_node_is_refused_by_the_other_within_a_second() {
    let (_home, a, b) = two_nodes().await;
    let owner = Client::sign_up(&a).await;
    let (workspace, _) = owner.new_workspace().await;
    let body = json!({"workspaceId": workspace, "agentLevel": "organization", "agentCode": "dev", "name": "Dev",
                      "roleTitle": "Developer"});
    let created = owner.must(Request::post("/api/agent.create", body)).await;
    let (agent, mut key) = (created.id("agent"), api_key(&created.body));
    let at_b = Client::stranger(&b);
    let ask = |key: &str| Request::get(format!("/api/agent.get?id={agent}")).by_agent(&agent, key);
    at_b.must(ask(&key).header("X-Min-Position", created.position())).await;
    for _ in 0..3 {
        // Known to the other node, which may have remembered it.
        at_b.must(ask(&key)).await;
        let rotated = owner.must(Request::post("/api/agent.rotateCredentials", json!({"id": agent}))).await;
        let begin = Instant::now();
        let refusal = bounded("the old key is refused", async {
            loop {
                let answer = at_b.send(&ask(&key)).await.unwrap();
                if !answer.is_good() {
                    return answer;
                }
            }
        });
        let refusal = refusal.await;
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        assert_eq!((refusal.status, refusal.code()), (401, "AUTH_INVALID_TOKEN"), "{refusal:#?}");
        let at_home = Client::stranger(&a).send(&ask(&key)).await.unwrap();
        assert_eq!(at_home.status, 401, "{at_home:#?}");
        key = api_key(&rotated.body);
    }
    at_b.must(ask(&key)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_timeline_of_one_node_shows_what_the_other_wrote() {
    let (_home, a, b) = two_nodes().await;
    let owner = Client::sign_up(&a).await;
    let at_b = owner.at(&b);
    let mut stream = at_b.open(&Request::get("/api/event.stream")).await.unwrap();
    assert_eq!(stream.status(), 200);
    let (workspace, position) = owner.new_workspace().await;
    let listed = at_b.see("/api/event.list?limit=1", position).await;
    assert_eq!(listed["events"][0]["type"], "workspace_created");
    let id = listed["events"][0]["id"].as_str().unwrap();
    bounded("the stream shows it", async {
        let mut seen = String::new();
        while !(seen.contains(id) && seen.contains(&workspace)) {
            seen += &String::from_utf8_lossy(&stream.chunk().await.unwrap().expect("the stream goes on"));
        }
    })
    .await;
}

async fn two_nodes() -> (Home, Muster, Muster) {
    let home = Home::new(Kind::Postgres).await;
    // Together, so that they also make the schema together.
    let (a, b) = tokio::join!(Muster::start(&home, &[]), Muster::start(&home, &[]));
    (home, a, b)
}

/// The whole timeline, newest first, page by page.
async fn timeline(client: &Client, position: i64) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let page = client.see(&format!("/api/event.list?limit=100&offset={}", all.len()), position).await;
        all.extend(page["events"].as_array().unwrap().iter().cloned());
        if page["hasMore"] == false {
            assert_eq!(page["total"], all.len());
            return all;
        }
    }
}

async fn commands_done_by(server: &Muster) -> usize {
    let metrics = Client::stranger(server).must(Request::get("/metrics")).await;
    let lines = metrics.body.as_str().unwrap().to_owned();
    let done = |line: &str| line.starts_with("muster_commands_total") && line.contains("outcome=\"done\"");
    let count = |line: &str| line.rsplit_once(' ').and_then(|(_, count)| count.parse::<usize>().ok());
    lines.lines().filter(|line| done(line)).filter_map(count).sum()
}

fn api_key(body: &Value) -> String {
    body["credentials"]["apiKey"].as_str().unwrap().to_owned()
}
