//! On PostgreSQL text is erased beside live nodes: they forget what they kept, and go on.

use muster_tests::muster::{Home, Muster, wait_until};
use muster_tests::stores::Kind;
use serde_json::json;

use crate::erasure_story::{Story, WORD, places_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_nodes_forget_what_is_erased_and_go_on() {
    let home = Home::new(Kind::Postgres).await;
    let (a, b) = tokio::join!(Muster::start(&home, &[]), Muster::start(&home, &[]));
    let story = Story::told_to(&a).await;
    let Story { owner, acme, project, task, agent, position, .. } = &story;
    let (get, past) = (format!("/api/task.get?id={task}"), format!("/api/task.get?id={task}&asOf={position}"));
    // Both have it in memory: as read models show it, as a past, and as warm aggregates.
    let seen = owner.with("X-Min-Position", position.to_string());
    for node in [&a, &b] {
        assert_eq!(seen.get(node, &get).await["task"]["title"], WORD);
        assert_eq!(seen.get(node, &past).await["task"]["title"], WORD);
        let second = json!({"projectId": project, "title": WORD});
        owner.post(node, "/api/task.create", second).await;
    }
    let second = json!({"projectId": project, "title": format!("{WORD} again")});
    let second = owner.post(&b, "/api/task.create", second).await["task"]["id"].clone();
    let before = story.counts(&a).await;

    home.succeed(&["erase", "--workspace", "acme", "--yes"]).await;
    for node in [&a, &b] {
        assert_eq!(owner.get(node, &get).await["task"]["title"], "[erased]");
        wait_until("the past is forgotten", async || owner.get(node, &past).await["task"]["title"] == "[erased]").await;
    }
    // The event of an assignment repeats the title that the node had in memory.
    owner.post(&b, "/api/task.assign", json!({"taskId": second, "agentId": agent})).await;
    let renamed = owner.post(&a, "/api/task.create", json!({"projectId": project, "title": "Magenta"})).await;
    assert_eq!(renamed["task"]["title"], "Magenta");
    assert_eq!(story.counts(&b).await, before);
    let listed = owner.get(&b, &format!("/api/event.list?workspaceId={acme}&limit=100")).await.to_string();
    assert!(!listed.contains(WORD), "{listed}");
    for node in [a, b] {
        node.terminate().await;
    }
    assert_eq!(places_of(&home, WORD.as_bytes(), "").await, [""; 0]);
    assert_eq!(places_of(&home, b"Magenta", "log").await, [""; 0]);
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["projections", "verify"]).await;
}
