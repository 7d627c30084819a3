//! How tools fail: told to the agent, on record, tried again or told to somebody, as the document says.

use std::sync::Arc;
use std::time::Duration;

use api::{BenchError, McpSettings};
use commands::factory::{DeclareDead, FinishErrand};
use domain::AgentId;
use domain::errand::WorkResult;
use domain::post::{Evidence, Profiles};
use muster_tests::both_served_stores;
use muster_tests::mcp::{self, call};
use muster_tests::muster::bounded;
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use store::StoredEvent;

use crate::floor::{Floor, Pretender, Shown, failure, output, quick, run, success_of, uuid};
use crate::tools::submit;

both_served_stores!(
    every_bad_field_is_named_and_nobody_is_bothered,
    what_passes_by_itself_is_tried_again_and_done,
    what_does_not_pass_is_told_after_three_more_tries,
    the_unexpected_goes_to_the_human_and_shows_nothing,
    a_tool_without_which_work_stops_tells_the_supervisor_or_the_human,
    what_was_called_off_on_purpose_bothers_nobody,
    a_rebase_with_conflicts_says_which,
    what_takes_too_long_goes_on_and_is_picked_up_again,
    a_client_that_hangs_up_leaves_no_call_without_its_end,
    a_bench_elsewhere_cannot_be_looked_at,
    a_relieved_agent_is_locked_out_at_once,
);

/// The mails that the human has, newest first: subject and body.
async fn human_inbox(floor: &Floor) -> Vec<(String, String)> {
    let head = floor.server.head().await.to_string();
    let path = format!("/api/mail.inbox?workspaceId={}", floor.workspace_id);
    let inbox = floor.owner.with("X-Min-Position", &head).get(&path).await.ok().body;
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    inbox["mail"].as_array().unwrap().iter().map(|it| (text(it, "subject"), text(it, "body"))).collect()
}

async fn every_bad_field_is_named_and_nobody_is_bothered(bench: Bench) {
    let floor = Floor::new(bench).await;
    let told = failure(call(&floor.worker, "mcp__task__create_pr", json!({ "title": "", "extra": 1 })).await);
    assert_eq!(told["code"], "VALIDATION_ERROR");
    for complaint in ["title must not be empty", "description is required", "extra is not a known field"] {
        assert!(told["details"].as_str().unwrap().contains(complaint), "{told}");
    }
    let inbox = output(call(&floor.supervisor, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 0, "{inbox}");
    let recorded = floor.decisions_of(&floor.worker).await;
    assert_eq!(recorded, ["mcp__task__create_pr", "mcp__task__create_pr_error"]);
}

async fn what_passes_by_itself_is_tried_again_and_done(bench: Bench) {
    let shown = Arc::new(Shown::default());
    let floor = Floor::with(bench, shown.settings()).await;
    *shown.troubles.lock().unwrap() = vec![BenchError::Busy("index.lock".to_owned()); 3];
    output(call(&floor.worker, "mcp__git__get_diff", json!({})).await);
    assert_eq!(*shown.looks.lock().unwrap(), 4);
}

async fn what_does_not_pass_is_told_after_three_more_tries(bench: Bench) {
    let shown = Arc::new(Shown::default());
    let floor = Floor::with(bench, shown.settings()).await;
    *shown.troubles.lock().unwrap() = vec![BenchError::Busy("index.lock".to_owned()); 9];
    let told = failure(call(&floor.worker, "mcp__git__get_diff", json!({})).await);
    assert_eq!((&told["code"], &told["error"]), (&json!("BENCH_BUSY"), &json!("index.lock")));
    assert_eq!(*shown.looks.lock().unwrap(), 4);
}

async fn the_unexpected_goes_to_the_human_and_shows_nothing(bench: Bench) {
    let shown = Arc::new(Shown::default());
    let floor = Floor::with(bench, shown.settings()).await;
    *shown.troubles.lock().unwrap() = vec![BenchError::Broken("/srv/secret is gone".to_owned())];
    let broken = call(&floor.worker, "mcp__git__get_diff", json!({})).await;
    let file = json!({ "taskId": floor.task_id, "filePath": "panic" });
    let panicked = call(&floor.supervisor, "mcp__epic__read_file", file).await;
    for answer in [broken, panicked] {
        let told = failure(answer);
        assert_eq!(told, json!({ "success": false, "error": "Internal tool error", "code": "INTERNAL_ERROR" }));
    }
    let mails = human_inbox(&floor).await;
    let subjects: Vec<&str> = mails.iter().map(|(subject, _)| subject.as_str()).collect();
    assert_eq!(
        subjects,
        ["CRITICAL: Unexpected Error in mcp__epic__read_file", "CRITICAL: Unexpected Error in mcp__git__get_diff"]
    );
    assert!(mails.iter().all(|(_, body)| !body.contains("secret") && !body.contains("panic")), "{mails:?}");
    assert_eq!(floor.decisions_of(&floor.worker).await, ["mcp__git__get_diff", "mcp__git__get_diff_critical_error"]);
}

async fn a_tool_without_which_work_stops_tells_the_supervisor_or_the_human(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::at(&floor, |work| match work {
        domain::errand::Work::OpenPullRequest { .. } => Err(("the remote refused the push", "403 Forbidden")),
        other => Ok(success_of(other)),
    });
    output(call(&floor.worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    let input = json!({ "title": "Basket", "description": "It holds things" });
    let told = failure(call(&floor.worker, "mcp__task__create_pr", input.clone()).await);
    let wanted = json!({ "success": false, "error": "the remote refused the push", "code": "BENCH_REFUSED",
        "details": "403 Forbidden" });
    assert_eq!(told, wanted);
    let inbox = output(call(&floor.supervisor, "mcp__mail__list_inbox", json!({})).await);
    let mail = inbox["mail"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["subject"] == "Critical Tool Failure: mcp__task__create_pr");
    let mail = mail.unwrap_or_else(|| panic!("{inbox}"));
    assert_eq!(mail["fromAgentId"], Floor::id_of(&floor.worker));
    assert!(mail["body"].as_str().unwrap().contains("Error: the remote refused the push"));

    failure(call(&floor.supervisor, "mcp__epic__create_epic_pr", input).await);
    let mails = human_inbox(&floor).await;
    assert!(mails.iter().any(|(it, _)| it == "Critical Tool Failure: mcp__epic__create_epic_pr"), "{mails:?}");
}

async fn what_was_called_off_on_purpose_bothers_nobody(bench: Bench) {
    let floor = Floor::new(bench).await;
    let pretender = Pretender::succeeding(&floor);
    let approve = json!({ "taskId": floor.task_id, "prUrl": submit(&floor.worker).await });
    drop(pretender);
    let (head, supervisor) = (floor.server.head().await, floor.supervisor.clone());
    let approving = tokio::spawn(async move { call(&supervisor, "mcp__epic__approve_pr", approve).await });
    event_after(&floor, head, "TaskApproved").await;
    let now = floor.server.bench.clock.now();
    let evidence = Evidence { last_heartbeat: now, checks_missed: 2, process_alive: Some(false), last_output_at: None };
    let agent_id = AgentId(uuid(&Floor::id_of(&floor.supervisor)));
    floor.run(&DeclareDead { agent_id, evidence, profiles: Profiles::default() }).await;
    let told = failure(approving.await.unwrap());
    assert_eq!((&told["code"], &told["details"]), (&json!("BENCH_REFUSED"), &json!("its supervisor died")));
    let mails = human_inbox(&floor).await;
    assert!(mails.iter().all(|(subject, _)| !subject.starts_with("Critical Tool Failure")), "{mails:?}");
}

async fn a_rebase_with_conflicts_says_which(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::at(&floor, |work| {
        Ok(match work {
            domain::errand::Work::Rebase { .. } => {
                WorkResult::RebaseConflicted { files: vec!["a.rs".to_owned(), "b.rs".to_owned()] }
            }
            other => success_of(other),
        })
    });
    let other = floor.task("Add a till").await;
    let other_worker = floor.worker_of(&other).await;
    let input = json!({ "title": "Basket", "description": "It holds things" });
    let mut urls = Vec::new();
    for worker in [&other_worker, &floor.worker] {
        output(call(worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
        urls.push(output(call(worker, "mcp__task__create_pr", input.clone()).await)["prUrl"].clone());
    }
    let approve = json!({ "taskId": other, "prUrl": urls[0] });
    output(call(&floor.supervisor, "mcp__epic__approve_pr", approve).await);
    let answer = call(&floor.worker, "mcp__git__rebase", json!({})).await;
    let wanted = json!({ "success": false, "conflicts": 2, "conflictFiles": ["a.rs", "b.rs"] });
    assert_eq!((answer.is_error, &answer.structured), (true, &wanted));
    let recorded = floor.decisions_of(&floor.worker).await;
    assert_eq!(recorded.last().unwrap(), "mcp__git__rebase_error");
}

async fn what_takes_too_long_goes_on_and_is_picked_up_again(bench: Bench) {
    let floor = Floor::with(bench, McpSettings { patience: Duration::from_millis(1), ..quick() }).await;
    output(call(&floor.worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    let input = json!({ "title": "Basket", "description": "It holds things" });
    let told = failure(call(&floor.worker, "mcp__task__create_pr", input.clone()).await);
    assert_eq!(told["code"], "STILL_GOING_ON");
    let errand = told["details"].as_str().unwrap().strip_prefix("errand ").unwrap().to_owned();
    let again = failure(call(&floor.worker, "mcp__task__create_pr", input.clone()).await);
    assert_eq!(again["details"], told["details"], "the same errand");
    let inbox = output(call(&floor.supervisor, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 0, "nobody is told of what goes on: {inbox}");

    let result = WorkResult::PullRequestOpened { pr_url: "muster://pull/1".to_owned(), head: None };
    run(&floor.server.executor, &FinishErrand { errand_id: domain::ErrandId(uuid(&errand)), result }).await;
    let status = output(call(&floor.worker, "mcp__task__get_pr_status", json!({})).await);
    assert_eq!(status["prUrl"], "muster://pull/1");
    let done = output(call(&floor.worker, "mcp__task__create_pr", input).await);
    assert_eq!(done, json!({ "prUrl": "muster://pull/1", "taskId": floor.task_id }), "what was done is told");
}

/// Waits for the first event of a type that the log has after a position.
async fn event_after(floor: &Floor, position: i64, event_type: &str) -> StoredEvent {
    let log = floor.server.bench.log();
    let mut woken = log.subscribe();
    loop {
        let events = log.read_all(position, 10_000).await.unwrap();
        if let Some(found) = events.into_iter().find(|it| it.event_type == event_type) {
            return found;
        }
        bounded("an event", woken.changed()).await.unwrap();
    }
}

async fn a_client_that_hangs_up_leaves_no_call_without_its_end(bench: Bench) {
    let floor = Floor::new(bench).await;
    output(call(&floor.worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    let (head, worker) = (floor.server.head().await, floor.worker.clone());
    let calling = tokio::spawn(async move {
        call(&worker, "mcp__task__create_pr", json!({ "title": "Basket", "description": "" })).await
    });
    let ordered = event_after(&floor, head, "ErrandOrdered").await;
    calling.abort();
    assert!(calling.await.is_err_and(|it| it.is_cancelled()));
    let errand_id = domain::ErrandId(uuid(&ordered.stream.aggregate_id));
    let result = WorkResult::PullRequestOpened { pr_url: "muster://pull/1".to_owned(), head: None };
    run(&floor.server.executor, &FinishErrand { errand_id, result }).await;
    let ended = event_after(&floor, ordered.position, "ToolSucceeded").await;
    assert!(ended.payload.contains("muster://pull/1"), "{}", ended.payload);
}

async fn a_bench_elsewhere_cannot_be_looked_at(bench: Bench) {
    let floor = Floor::new(bench).await;
    let told = failure(call(&floor.worker, "mcp__git__get_diff", json!({})).await);
    assert_eq!(told["code"], "BENCH_NOT_HERE");
    assert_eq!(told["error"], "the bench main is not on this node");
}

async fn a_relieved_agent_is_locked_out_at_once(bench: Bench) {
    let floor = Floor::new(bench).await;
    output(call(&floor.worker, "mcp__agent__get_status", json!({})).await);
    let now = floor.server.bench.clock.now();
    let evidence = Evidence { last_heartbeat: now, checks_missed: 2, process_alive: Some(false), last_output_at: None };
    let agent_id = AgentId(uuid(&Floor::id_of(&floor.worker)));
    floor.run(&DeclareDead { agent_id, evidence, profiles: Profiles::default() }).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    mcp::send(&floor.worker, &body).await.refused(403, "AGENT_INACTIVE");
    let successor = floor.worker_of(&floor.task_id).await;
    let task = output(call(&successor, "mcp__agent__get_task", json!({})).await);
    assert_eq!((&task["taskId"], &task["attempts"]), (&json!(floor.task_id), &json!(1)));
}
