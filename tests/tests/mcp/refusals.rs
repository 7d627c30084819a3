//! What the factory's rules do not allow, as its agents hear it: each rule by its code.

use commands::factory::DeclareDead;
use domain::AgentId;
use domain::post::{Evidence, Profiles};
use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::server::Client;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::floor::{Floor, Pretender, failure, output, uuid};
use crate::tools::submit;

both_served_stores!(
    what_a_task_does_not_allow_is_refused_by_its_code,
    a_rebase_leads_from_needs_rebase_and_may_be_asked_for_again,
    reviews_are_one_at_a_time_and_of_what_was_reviewed,
    a_merged_task_is_approved_again_only_by_its_own_pull_request,
    an_epic_is_not_submitted_before_its_time,
    who_was_relieved_stays_relieved_though_the_owner_takes_it_back,
);

async fn code(of: &Client, tool: &str, input: Value) -> Value {
    failure(call(of, tool, input).await)["code"].clone()
}

async fn what_a_task_does_not_allow_is_refused_by_its_code(bench: Bench) {
    let floor = Floor::new(bench).await;
    assert_eq!(code(&floor.worker, "mcp__git__rebase", json!({})).await, "TASK_INVALID_STATE_TRANSITION");
    let ordinary = floor.owner.task(&floor.project_id, "On its own").await;
    let approve = json!({ "taskId": ordinary, "prUrl": "local://1" });
    assert_eq!(code(&floor.supervisor, "mcp__epic__approve_pr", approve).await, "TASK_NOT_IN_EPIC");
}

async fn a_rebase_leads_from_needs_rebase_and_may_be_asked_for_again(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let other = floor.task("Add a till").await;
    let first = submit(&floor.worker_of(&other).await).await;
    submit(&floor.worker).await;
    assert_eq!(code(&floor.worker, "mcp__git__rebase", json!({})).await, "TASK_INVALID_STATE_TRANSITION");
    output(call(&floor.supervisor, "mcp__epic__approve_pr", json!({ "taskId": other, "prUrl": first })).await);
    let rebased = output(call(&floor.worker, "mcp__git__rebase", json!({})).await);
    assert_eq!(output(call(&floor.worker, "mcp__git__rebase", json!({})).await), rebased);
}

async fn reviews_are_one_at_a_time_and_of_what_was_reviewed(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let other = floor.task("Add a till").await;
    let second = floor.worker_of(&other).await;
    let mut urls = vec![];
    for worker in [&floor.worker, &second] {
        output(call(worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
        let opened = output(call(worker, "mcp__task__create_pr", json!({ "title": "It", "description": "x" })).await);
        urls.push(opened["prUrl"].clone());
    }
    let later = json!({ "taskId": other, "prUrl": urls[1] });
    assert_eq!(code(&floor.supervisor, "mcp__epic__approve_pr", later).await, "EPIC_NOT_FIRST_IN_QUEUE");
    let wrong = json!({ "taskId": floor.task_id, "prUrl": "local://another" });
    assert_eq!(code(&floor.supervisor, "mcp__epic__approve_pr", wrong).await, "TASK_PULL_REQUEST_MISMATCH");
}

async fn a_merged_task_is_approved_again_only_by_its_own_pull_request(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let approve = json!({ "taskId": floor.task_id, "prUrl": submit(&floor.worker).await });
    let merged = output(call(&floor.supervisor, "mcp__epic__approve_pr", approve.clone()).await);
    assert_eq!(output(call(&floor.supervisor, "mcp__epic__approve_pr", approve).await), merged);
    let wrong = json!({ "taskId": floor.task_id, "prUrl": "local://another" });
    assert_eq!(code(&floor.supervisor, "mcp__epic__approve_pr", wrong).await, "TASK_PULL_REQUEST_MISMATCH");
}

async fn an_epic_is_not_submitted_before_its_time(bench: Bench) {
    let floor = Floor::new(bench).await;
    let submit = json!({ "title": "All", "description": "of it" });
    assert_eq!(code(&floor.supervisor, "mcp__epic__create_epic_pr", submit.clone()).await, "EPIC_TASKS_OPEN");
    let empty = floor.epic("Nothing").await;
    let supervisor = floor.supervisor_of(&empty).await;
    assert_eq!(code(&supervisor, "mcp__epic__create_epic_pr", submit).await, "EPIC_NOTHING_MERGED");
}

async fn who_was_relieved_stays_relieved_though_the_owner_takes_it_back(bench: Bench) {
    let floor = Floor::new(bench).await;
    let now = floor.server.bench.clock.now();
    let evidence = Evidence { last_heartbeat: now, checks_missed: 2, process_alive: None, last_output_at: None };
    let agent_id = AgentId(uuid(&Floor::id_of(&floor.worker)));
    floor.run(&DeclareDead { agent_id, evidence, profiles: Profiles::default() }).await;
    floor.owner.put("/api/agent.update", &json!({ "id": agent_id, "status": "active" })).await.ok();
    assert_eq!(code(&floor.worker, "mcp__git__rebase", json!({})).await, "AGENT_RELIEVED");
}
