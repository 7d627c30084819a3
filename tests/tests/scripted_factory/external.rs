//! A bench without tmux: it says so, makes the worktrees and leaves agents to whoever starts them; the work goes on.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::ground::{Ground, Setup};
use crate::tripwires::find;

at_both_homes! {
    without_tmux_agents_start_themselves_and_the_work_goes_on,
}

/// A folder with all programs that there are, but one.
fn all_programs_but(missing: &str) -> TempDir {
    let folder = tempfile::Builder::new().prefix("muster-programs-").tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let programs = std::env::split_paths(&path).filter_map(|it| it.read_dir().ok()).flatten().flatten();
    for program in programs.filter(|it| it.file_name() != missing) {
        // Of two with the same name the first counts.
        let _ = symlink(program.path(), folder.path().join(program.file_name()));
    }
    folder
}

async fn without_tmux_agents_start_themselves_and_the_work_goes_on(home: Home) {
    let programs = all_programs_but("tmux");
    let mut ground = Ground::with(home.with_variable("PATH", programs.path()), &Setup::default()).await;
    ground.said("agents are external").await;
    let workspace = ground.owner().workspace("acme").await;
    let project = ground.owner().project(&workspace, "shop").await;
    let design = json!({ "title": "Cart", "file": "cart.txt", "text": "a cart" }).to_string();
    let body = json!({ "projectId": project, "title": "A shop", "description": "Sell things", "design": design });
    let epic = ground.owner().post("/api/epic.create", &body).await.ok().id_of("epic");

    let supervisor = left_to_itself(&ground, &workspace, "SUPERVISOR").await;
    let _supervisor = start_by_hand(&ground, &supervisor, &format!("epic-{epic}")).await;
    let worker = left_to_itself(&ground, &workspace, "WORKER").await;
    let task = worker["taskId"].as_str().unwrap();
    let _worker = start_by_hand(&ground, &worker, &format!("task-{task}")).await;
    let about = format!("/api/epic.get?id={epic}");
    ground.see(&about, "the epic waits for a human", |it| it["epic"]["state"] == "AWAITING_HUMAN_REVIEW").await;
    ground.owner().post("/api/epic.complete", &json!({ "id": epic })).await.ok();
    ground.see(&about, "the epic is complete", |it| it["epic"]["state"] == "COMPLETED").await;
    assert_eq!(ground.git(&["show", "main:cart.txt"]), "a cart\n");

    // Nobody started the orchestrator: people are told, and it is waited for.
    let orchestrator = left_to_itself(&ground, &workspace, "ORCHESTRATOR").await;
    let subject = format!("Silent agent: {}", orchestrator["tmuxSession"].as_str().unwrap());
    let inbox = format!("/api/mail.inbox?workspaceId={workspace}");
    let is_told = |it: &Value| it["mail"].as_array().unwrap().iter().any(|it| it["subject"] == subject);
    ground.see(&inbox, "people are told of the orchestrator", is_told).await;
    let id = orchestrator["agentId"].as_str().unwrap();
    ground.owner().get(&format!("/api/agent.terminal?id={id}")).await.refused(404, "NOT_FOUND");

    // Once there is a tmux, they have it launched.
    symlink(find("tmux"), programs.path().join("tmux")).unwrap();
    ground.kill_the_server_and_start_it_again().await;
    ground.owner().post("/api/agent.launch", &json!({ "id": id })).await.ok();
    ground.note("the orchestrator runs", |it| it["agent"] == id).await;
    let health = format!("/api/agent.health?workspaceId={workspace}&type=ORCHESTRATOR");
    let runs = |it: &Value| it["agents"][0]["launch"] == "started" && it["agents"][0]["external"] == false;
    ground.see(&health, "the orchestrator was started", runs).await;
    ground.stop().await;
    nobody_was_judged(&ground.events().await);
    ground.is_proven().await;
}

/// An agent that was not started by its bench, as its owner sees it.
async fn left_to_itself(ground: &Ground, workspace: &str, kind: &str) -> Value {
    let path = format!("/api/agent.health?workspaceId={workspace}&type={kind}");
    let mut found = Value::Null;
    wait_until(kind, async || {
        found = ground.owner().get(&path).await.ok().body["agents"][0].clone();
        found["launch"] == "left_to_itself"
    })
    .await;
    assert_eq!((&found["external"], &found["state"]), (&json!(true), &json!("IN_PROGRESS")), "{found}");
    found
}

/// Starts an agent as its owner would: with a key that they got for it, in the worktree that its bench made.
async fn start_by_hand(ground: &Ground, agent: &Value, tree: &str) -> Child {
    let id = agent["agentId"].as_str().unwrap();
    let rotated = ground.owner().post("/api/agent.rotateCredentials", &json!({ "id": id })).await.ok().body;
    let key = rotated["credentials"]["apiKey"].as_str().unwrap();
    let worktree = ground.path("trees").join(tree);
    assert!(worktree.join("README.md").exists(), "there is no {}", worktree.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/factory/agent.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(ground.notes()).current_dir(&worktree).stdin(Stdio::null()).stdout(Stdio::null());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("MUSTER_MCP_URL", ground.url("/mcp"))
        .env("MUSTER_AGENT_ID", id)
        .env("MUSTER_AGENT_KEY", key)
        .env("MUSTER_AGENT_KIND", agent["type"].as_str().unwrap())
        .env("MUSTER_MISSION_FILE", ground.path("bench/missions").join(format!("{id}.md")))
        .env("MUSTER_WORKTREE", &worktree);
    command.kill_on_drop(true).spawn().unwrap()
}

fn nobody_was_judged(counts: &BTreeMap<String, usize>) {
    let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
    for kind in ["AgentDeclaredDead", "AgentRelieved", "ErrandFailed", "AgentLaunchFailed"] {
        assert_eq!(count(kind), 0, "{kind}: {counts:?}");
    }
    assert_eq!(count("AgentPosted"), 3, "{counts:?}");
    assert_eq!((count("AgentLaunchOrdered"), count("TaskCompleted")), (1, 1), "{counts:?}");
}
