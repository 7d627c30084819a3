//! The server seen through the official Python client: each kind of agent, by the newest protocol and by the handshake.

use muster_tests::both_served_stores;
use muster_tests::mcp::{McpClient, Speech};
use muster_tests::server::Client;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::floor::{Floor, Pretender};
use crate::permissions::tools_of;

both_served_stores!(
    each_kind_of_agent_is_shown_its_tools_however_it_speaks,
    an_epic_goes_from_its_first_task_to_the_human_through_the_client,
    the_client_gets_failures_as_answers_and_unknown_tools_as_errors,
);

/// A client of the agent; none when this machine is offline and has none.
async fn connect(floor: &Floor, agent: &Client, speech: Speech) -> Option<McpClient> {
    McpClient::connect(&floor.server.url("/mcp"), agent, speech).await
}

/// Calls a tool that must succeed. The client itself holds the output against its schema.
async fn done(client: &mut McpClient, tool: &str, input: Value) -> Value {
    McpClient::done(client.call(tool, input).await)
}

async fn each_kind_of_agent_is_shown_its_tools_however_it_speaks(bench: Bench) {
    let floor = Floor::new(bench).await;
    for (speech, protocol) in [(Speech::Newest, "2026-07-28"), (Speech::Handshake, "2025-11-25")] {
        for (column, agent) in [&floor.orchestrator, &floor.supervisor, &floor.worker].into_iter().enumerate() {
            let Some(mut client) = connect(&floor, agent, speech).await else { return };
            assert_eq!(client.protocol, protocol);
            assert_eq!(client.tool_names().await, tools_of(column));
            for tool in client.tools().await {
                assert!(tool["description"].as_str().is_some_and(|it| it.len() > 10), "{tool}");
                assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
                assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            }
            let status = done(&mut client, "mcp__agent__get_status", json!({})).await;
            assert_eq!(status["agentId"], Floor::id_of(agent));
        }
    }
}

async fn an_epic_goes_from_its_first_task_to_the_human_through_the_client(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let Some(mut orchestrator) = connect(&floor, &floor.orchestrator, Speech::Newest).await else { return };
    let mut supervisor = connect(&floor, &floor.supervisor, Speech::Newest).await.unwrap();
    let mut first = connect(&floor, &floor.worker, Speech::Handshake).await.unwrap();

    let epic = done(&mut supervisor, "mcp__agent__get_epic", json!({})).await;
    assert_eq!(epic["epicId"], floor.epic_id);
    let task = json!({ "title": "Add a till", "description": "It takes money" });
    let task = done(&mut supervisor, "mcp__epic__create_task", task).await;
    let second_id = task["taskId"].as_str().unwrap().to_owned();
    let second = floor.worker_of(&second_id).await;
    let mut second = connect(&floor, &second, Speech::Newest).await.unwrap();

    let pr = json!({ "title": "Done", "description": "As the design says" });
    for worker in [&mut first, &mut second] {
        done(worker, "mcp__agent__get_task", json!({})).await;
        done(worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await;
        done(worker, "mcp__task__create_pr", pr.clone()).await;
    }
    let mail = done(&mut supervisor, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(mail["count"], 2);
    for mail in mail["mail"].as_array().unwrap() {
        done(&mut supervisor, "mcp__mail__read", json!({ "mailId": mail["id"] })).await;
    }
    let tasks = done(&mut supervisor, "mcp__epic__list_tasks", json!({ "state": "PENDING_REVIEW" })).await;
    assert_eq!(tasks["count"], 2);

    for n in 0..2 {
        let queue = done(&mut supervisor, "mcp__epic__get_review_queue", json!({})).await;
        let merged = done(&mut supervisor, "mcp__epic__approve_pr", queue["currentReview"].clone()).await;
        assert_eq!(merged["merged"], true);
        if n == 0 {
            let rebased = done(&mut second, "mcp__git__rebase", json!({})).await;
            assert_eq!(rebased["success"], true);
        }
    }
    done(&mut supervisor, "mcp__system__log_decision", json!({ "title": "All is merged", "body": "" })).await;
    let pr = json!({ "title": "Baskets", "description": "All of it" });
    let pr = done(&mut supervisor, "mcp__epic__create_epic_pr", pr).await;
    let mail = json!({ "toHuman": true, "subject": "Look", "body": pr["prUrl"] });
    done(&mut supervisor, "mcp__mail__send", mail).await;

    let supervisors = done(&mut orchestrator, "mcp__orchestrator__list_supervisors", json!({})).await;
    let check = json!({ "supervisorId": supervisors["supervisors"][0]["agentId"] });
    let health = done(&mut orchestrator, "mcp__orchestrator__check_supervisor_health", check).await;
    assert_eq!(health["healthy"], true);
}

async fn the_client_gets_failures_as_answers_and_unknown_tools_as_errors(bench: Bench) {
    let floor = Floor::new(bench).await;
    for speech in [Speech::Newest, Speech::Handshake] {
        let Some(mut worker) = connect(&floor, &floor.worker, speech).await else { return };
        let answer = worker.call("mcp__task__get_pr_status", json!({})).await;
        assert_eq!((answer.is_error, &answer.told["code"]), (true, &json!("NOT_YOURS")));
        let denied = worker.call("mcp__epic__approve_pr", json!({})).await;
        assert_eq!(denied.told["error"], "Tool mcp__epic__approve_pr is not allowed for WORKER agents");
        let unknown = worker.refused("mcp__mail__burn", json!({})).await;
        assert_eq!(unknown, json!({ "code": -32602, "message": "Unknown tool: mcp__mail__burn" }));
    }
}
