//! One epic from a human's words to the main branch, through deaths and restarts.

use std::collections::BTreeMap;
use std::fs;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, wait_until};
use serde_json::{Value, json};

use crate::ground::Ground;

at_both_homes! {
    an_epic_is_carried_to_the_main_branch_through_deaths_and_restarts,
}

/// What the supervisor is to make of the epic, one task a line.
fn design() -> String {
    let tasks = [
        json!({ "title": "Cart", "file": "cart.txt", "text": "a cart", "commit": true }),
        json!({ "title": "Catalogue", "file": "catalogue.txt", "text": "a catalogue" }),
        // Its first worker dies in the middle.
        json!({ "title": "Checkout", "file": "checkout.txt", "text": "a checkout", "hang": true }),
        // Both write the same line: whoever is reviewed second cannot be rebased.
        json!({ "title": "Left", "file": "shared.txt", "text": "the left",
            "instead": { "title": "Left again", "file": "left.txt", "text": "left after all" } }),
        json!({ "title": "Right", "file": "shared.txt", "text": "the right",
            "instead": { "title": "Right again", "file": "right.txt", "text": "right after all" } }),
        // Is sent back once.
        json!({ "title": "Search", "file": "docs/search.txt", "text": "a search", "sloppy": true, "commit": true }),
    ];
    let lines: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    format!("# A shop\n\n{}\n", lines.join("\n"))
}

async fn an_epic_is_carried_to_the_main_branch_through_deaths_and_restarts(home: Home) {
    let mut ground = Ground::new(home).await;
    let workspace = ground.owner().workspace("acme").await;
    let project = ground.owner().project(&workspace, "shop").await;
    let body = json!({ "projectId": project, "title": "A shop", "description": "Sell things", "design": design() });
    let epic = ground.owner().post("/api/epic.create", &body).await.ok().id_of("epic");

    // A worker dies in the middle of its task, and the server with it.
    let half = ground.note("a worker is half way", |it| it["half"] == true).await;
    ground.kill_nine(&half);
    ground.kill_the_server_and_start_it_again().await;
    let task = half["task"].as_str().unwrap().to_owned();
    let successor =
        ground.note("the task has another worker", |it| it["task"] == task.as_str() && it["agent"] != half["agent"]);
    successor.await;
    assert_eq!(post_state(&ground, &workspace, &half["agent"]).await, "FAILED");

    // The supervisor dies, and the server with it; all begin anew with what is there.
    let supervisor = ground.note("the epic has a supervisor", |it| it["kind"] == "SUPERVISOR").await;
    ground.kill_nine(&supervisor);
    ground.kill_the_server_and_start_it_again().await;
    let successor = ground
        .note("the epic has another supervisor", |it| it["kind"] == "SUPERVISOR" && it["agent"] != supervisor["agent"]);
    successor.await;

    wait_until("the epic waits for a human", async || {
        epic_of(&ground, &epic).await["state"] == "AWAITING_HUMAN_REVIEW"
    })
    .await;
    let submitted = epic_of(&ground, &epic).await;
    assert_eq!(submitted["prUrl"], format!("muster://pull/{epic}"), "{submitted}");
    everything_was_done_once(&ground, &project, &submitted).await;

    let done = ground.owner().post("/api/epic.complete", &json!({ "id": epic })).await;
    assert!(done.status.is_success(), "{}", done.text);
    wait_until("the epic is complete", async || epic_of(&ground, &epic).await["state"] == "COMPLETED").await;
    the_main_branch_has_it_all(&ground);
    ground.stop().await;
    ground.is_proven().await;
}

async fn epic_of(ground: &Ground, id: &str) -> Value {
    ground.owner().get(&format!("/api/epic.get?id={id}")).await.ok().body["epic"].clone()
}

async fn post_state(ground: &Ground, workspace: &str, agent: &Value) -> String {
    let health = ground.owner().get(&format!("/api/agent.health?workspaceId={workspace}&limit=100")).await.ok().body;
    let agents = health["agents"].as_array().unwrap_or_else(|| panic!("{health}"));
    let found = agents.iter().find(|it| it["agentId"] == *agent).unwrap_or_else(|| panic!("{health}"));
    found["state"].as_str().unwrap().to_owned()
}

/// Six tasks and one replacement: six merged, once each; one failed of the two that wanted the same line.
async fn everything_was_done_once(ground: &Ground, project: &str, epic: &Value) {
    let tasks = ground.owner().get(&format!("/api/task.list?projectId={project}&limit=100")).await.ok().body;
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    for task in tasks["tasks"].as_array().unwrap() {
        states.insert(task["title"].as_str().unwrap(), task["state"].as_str().unwrap());
    }
    let count = |state: &str| states.values().filter(|it| **it == state).count();
    assert_eq!((states.len(), count("COMPLETED"), count("FAILED")), (7, 6, 1), "{states:?}");
    let branch = epic["worktreeName"].as_str().unwrap();
    let merges = ground.git(&["log", "--merges", "--format=%(trailers:key=Muster-Task,valueonly)", branch]);
    let mut merged: Vec<&str> = merges.lines().filter(|it| !it.is_empty()).collect();
    merged.sort_unstable();
    let all = merged.len();
    merged.dedup();
    assert_eq!((merged.len(), all), (6, 6), "{merges}");
}

fn the_main_branch_has_it_all(ground: &Ground) {
    let show = |file: &str| ground.git(&["show", &format!("main:{file}")]);
    assert_eq!(show("cart.txt"), "a cart\n");
    assert_eq!(show("catalogue.txt"), "a catalogue\n");
    assert_eq!(show("checkout.txt"), "a checkout\n");
    assert_eq!(show("docs/search.txt"), "a search\n");
    let files = ground.git(&["ls-tree", "-r", "--name-only", "main"]);
    let (shared, other) = (show("shared.txt"), files.lines().find(|it| ["left.txt", "right.txt"].contains(it)));
    match (shared.as_str(), other) {
        ("the left\n", Some("right.txt")) => assert_eq!(show("right.txt"), "right after all\n"),
        ("the right\n", Some("left.txt")) => assert_eq!(show("left.txt"), "left after all\n"),
        unexpected => panic!("{unexpected:?}"),
    }
    assert_eq!(files.lines().count(), 7, "{files}");
    // What is checked out is what the branch says.
    assert_eq!(ground.git(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(ground.repository().join("cart.txt")).unwrap(), "a cart\n");
}
