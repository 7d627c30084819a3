//! What is asked for again is answered from the log, however far behind the read models are, and is not done again.

use std::time::Duration;

use api::McpSettings;
use commands::factory::AddTask;
use commands::mail::{SendMail, To};
use commands::tool_call::CallTool;
use commands::{Actor, Context, Decision, Idempotency};
use domain::{AgentId, Party, TaskId, ToolCallId, WorkspaceId};
use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::server::Client;
use muster_tests::stores::Bench;
use projections::Projection;
use projections::epics::Epics;
use projections::tasks::Tasks;
use serde_json::{Value, json};
use store::CommandKey;
use store::sql::Query;
use uuid::Uuid;

use crate::floor::{Floor, Pretender, failure, output, quick, uuid};
use crate::tools::submit;

both_served_stores!(
    a_worker_hears_again_what_no_read_model_shows,
    a_supervisor_hears_again_what_no_read_model_shows,
    a_call_that_was_cut_short_is_gone_on_with,
    what_was_done_before_a_call_was_cut_short_is_not_done_again,
    a_call_that_others_repeat_is_not_theirs,
    changes_are_requested_once_however_often_they_are_asked_for,
    a_repeat_is_a_sign_of_life_and_on_record,
    calls_that_differ_where_the_record_ends_are_two,
    calls_side_by_side_are_all_answered,
);

fn id_of(agent: &Client) -> AgentId {
    AgentId(uuid(&Floor::id_of(agent)))
}

/// Leaves a call as a server does that is killed: on record, and without its end.
async fn cut_short(floor: &Floor, agent: &Client, tool: &str, input: &Value) -> ToolCallId {
    let (call_id, by) = (ToolCallId(Uuid::now_v7()), id_of(agent));
    floor.run(&CallTool { call_id, by, tool: tool.to_owned(), input: input.clone() }).await.outcome
}

/// What a call had done when it was cut short.
async fn had_done<D: Decision>(floor: &Floor, agent: &Client, call: ToolCallId, decision: &D) -> D::Outcome {
    let by = id_of(agent);
    let mut context = Context::new(Actor::Agent(by), floor.server.bench.clock.now());
    context.command_id = Uuid::new_v5(&call.0, decision.name().as_bytes());
    let (principal, route) = (format!("agent:{by}"), format!("mcp {}", decision.name()));
    let key = CommandKey { principal, route, key: call.to_string() };
    context.idempotency = Some(Idempotency { key, fingerprint: call.0.as_bytes().to_vec(), lifetime: None });
    floor.server.executor.run(&context, decision).await.unwrap().outcome
}

/// How often an agent called a tool, as the record has it.
async fn calls_of(floor: &Floor, agent: &Client, tool: &str) -> usize {
    floor.decisions_of(agent).await.iter().filter(|it| *it == tool).count()
}

async fn a_call_that_was_cut_short_is_gone_on_with(bench: Bench) {
    let floor = Floor::new(bench).await;
    let supervisor = &floor.supervisor;
    let hello = json!({ "toAgentId": Floor::id_of(supervisor), "subject": "Hello", "body": "password=hunter2" });
    let mail_id = output(call(&floor.worker, "mcp__mail__send", hello).await)["mailId"].clone();
    for (tool, input) in [
        ("mcp__epic__create_task", json!({ "title": "Add a till", "description": "with a field `password: String`" })),
        ("mcp__mail__send", json!({ "toHuman": true, "subject": "Hello", "body": "x".repeat(20_000) })),
        ("mcp__mail__reply", json!({ "inReplyToMailId": mail_id, "body": "Hello" })),
        ("mcp__system__log_decision", json!({ "title": "Split", "body": "" })),
    ] {
        let before = calls_of(&floor, supervisor, tool).await;
        let cut = cut_short(&floor, supervisor, tool, &input).await;
        let first = output(call(supervisor, tool, input.clone()).await);
        assert_eq!(calls_of(&floor, supervisor, tool).await, before + 1, "{tool}");
        let events = floor.server.bench.everything().await;
        let ended = events.iter().rfind(|it| it.event_type == "ToolSucceeded").unwrap();
        assert_eq!(ended.stream.aggregate_id, cut.to_string());
        // Its answer may have been lost: who calls it again, and nothing else before, means it.
        assert_eq!(output(call(supervisor, tool, input.clone()).await), first, "{tool}");
        assert_eq!(calls_of(&floor, supervisor, tool).await, before + 1, "{tool}");
        output(call(supervisor, "mcp__agent__get_status", json!({})).await);
        assert_ne!(output(call(supervisor, tool, input).await), first, "who goes on has got the answer: {tool}");
        assert_eq!(calls_of(&floor, supervisor, tool).await, before + 2, "{tool}");
    }
}

async fn what_was_done_before_a_call_was_cut_short_is_not_done_again(bench: Bench) {
    let floor = Floor::new(bench).await;
    let supervisor = &floor.supervisor;
    let (title, body) = ("Add a till".to_owned(), "As the design says".to_owned());
    let input = json!({ "title": title, "description": body });
    let cut = cut_short(&floor, supervisor, "mcp__epic__create_task", &input).await;
    let add = AddTask { by: id_of(supervisor), task_id: TaskId(Uuid::now_v7()), title, description: body.clone() };
    let task_id = had_done(&floor, supervisor, cut, &add).await;
    let again = output(call(supervisor, "mcp__epic__create_task", input).await);
    assert_eq!(again["taskId"], task_id.to_string());
    let listed = output(call(supervisor, "mcp__epic__list_tasks", json!({})).await);
    assert_eq!(listed["count"], 2, "{listed}");

    let input = json!({ "toAgentId": Floor::id_of(&floor.worker), "subject": "Hello", "body": body });
    let cut = cut_short(&floor, supervisor, "mcp__mail__send", &input).await;
    let (by, to) = (Party::Agent(id_of(supervisor)), To::Agent(id_of(&floor.worker)));
    let workspace_id = WorkspaceId(uuid(&floor.workspace_id));
    let send = SendMail { by, workspace_id, to, subject: "Hello".to_owned(), body };
    let mail_id = had_done(&floor, supervisor, cut, &send).await;
    assert_eq!(output(call(supervisor, "mcp__mail__send", input).await)["mailId"], mail_id.to_string());
    let inbox = output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 1, "{inbox}");
}

async fn a_call_that_others_repeat_is_not_theirs(bench: Bench) {
    let floor = Floor::new(bench).await;
    let input = json!({ "toHuman": true, "subject": "Hello", "body": "Hello" });
    let cut = cut_short(&floor, &floor.worker, "mcp__mail__send", &input).await;
    output(call(&floor.supervisor, "mcp__mail__send", input.clone()).await);
    let events = floor.server.bench.everything().await;
    assert!(!events.iter().any(|it| it.event_type == "ToolSucceeded" && it.stream.aggregate_id == cut.to_string()));
    // A call that is not allowed ends like any other, and the next one is another.
    let task = json!({ "title": "Add a till", "description": "" });
    cut_short(&floor, &floor.worker, "mcp__epic__create_task", &task).await;
    for _ in 0..2 {
        assert_eq!(
            failure(call(&floor.worker, "mcp__epic__create_task", task.clone()).await)["code"],
            "TOOL_NOT_ALLOWED"
        );
    }
    assert_eq!(calls_of(&floor, &floor.worker, "mcp__epic__create_task").await, 2);
}

async fn changes_are_requested_once_however_often_they_are_asked_for(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    submit(&floor.worker).await;
    let changes = json!({ "taskId": floor.task_id, "feedback": "Say what it holds" });
    let asked = || call(&floor.supervisor, "mcp__epic__request_changes", changes.clone());
    let first = output(asked().await);
    assert_eq!(output(asked().await), first, "its answer may have been lost");
    submit(&floor.worker).await;
    assert_eq!(output(asked().await), first);
    let task = output(call(&floor.worker, "mcp__agent__get_task", json!({})).await);
    assert_eq!(task["state"], "PENDING_REVIEW", "what was submitted since is not sent back");
    let inbox = output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 1, "{inbox}");
}

async fn a_repeat_is_a_sign_of_life_and_on_record(bench: Bench) {
    let floor = Floor::new(bench).await;
    let input = json!({ "title": "Waiting", "body": "For the worker" });
    let first = output(call(&floor.supervisor, "mcp__system__log_decision", input.clone()).await);
    assert_eq!(output(call(&floor.supervisor, "mcp__system__log_decision", input).await), first);
    let log = floor.server.bench.everything().await;
    let repeated = log.iter().find(|it| it.event_type == "ToolCallRepeated").unwrap();
    let payload: Value = serde_json::from_str(&repeated.payload).unwrap();
    let path = format!("/api/agent.health?workspaceId={}&type=SUPERVISOR", floor.workspace_id);
    let asked = floor.owner.with("X-Min-Position", &floor.server.head().await.to_string());
    let health = asked.get(&path).await.ok().body;
    assert_eq!(health["agents"][0]["lastHeartbeat"], payload["ToolCallRepeated"]["repeated_at"], "{health}");
    let decisions = floor.decisions_of(&floor.supervisor).await;
    assert_eq!(decisions.last().unwrap(), "mcp__system__log_decision_repeat");
}

async fn calls_that_differ_where_the_record_ends_are_two(bench: Bench) {
    let floor = Floor::new(bench).await;
    let long = "x".repeat(10_000);
    let secret = |password: &str| format!("postgres://ada:{password}@db");
    for bodies in [
        [format!("{long} one"), format!("{long} two")],
        ["token=abc".to_owned(), "token=abd".to_owned()],
        // Nothing tells these two apart in the log: the same once more is two as well.
        [secret("hunter2"), secret("hunter3")],
        [secret("hunter4"), secret("hunter4")],
    ] {
        let mut sent = Vec::new();
        for body in &bodies {
            let input = json!({ "toAgentId": Floor::id_of(&floor.worker), "subject": "Hello", "body": body });
            sent.push(output(call(&floor.supervisor, "mcp__mail__send", input).await)["mailId"].clone());
        }
        assert_ne!(sent[0], sent[1], "{}", bodies[1]);
    }
    let inbox = output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 8, "{inbox}");
}

async fn calls_side_by_side_are_all_answered(bench: Bench) {
    let floor = Floor::with(bench, McpSettings { backoff: vec![Duration::from_millis(20); 100], ..quick() }).await;
    let input = json!({ "title": "Add a till", "description": "As the design says" });
    let calling = || call(&floor.supervisor, "mcp__epic__create_task", input.clone());
    let answers = futures_util::future::join_all((0..8).map(|_| calling())).await;
    let mut tasks: Vec<String> = answers.into_iter().map(|it| output(it)["taskId"].to_string()).collect();
    tasks.sort();
    tasks.dedup();
    let listed = output(call(&floor.supervisor, "mcp__epic__list_tasks", json!({})).await);
    assert_eq!(listed["count"], 1 + tasks.len(), "{listed}");
    let events = floor.server.bench.everything().await;
    let count = |kind: &str| events.iter().filter(|it| it.event_type == kind).count();
    assert_eq!(count("ToolCalled"), count("ToolSucceeded") + count("ToolFailed"), "every call has its end");
}

/// Takes a read model's rows away, as if it had seen nothing yet.
async fn forget(floor: &Floor, read_model: &dyn Projection) {
    let sql = format!("delete from {}__v{}_1", read_model.name(), read_model.version());
    floor.server.bench.stores().views.transact(vec![Query::new(sql).into()]).await.unwrap();
}

async fn a_worker_hears_again_what_no_read_model_shows(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let pr_url = submit(&floor.worker).await;
    let shown = output(call(&floor.worker, "mcp__agent__get_task", json!({})).await);
    assert_eq!(shown["state"], "PENDING_REVIEW");
    forget(&floor, &Tasks).await;
    let input = json!({ "title": "Basket", "description": "It holds things" });
    let again = output(call(&floor.worker, "mcp__task__create_pr", input).await);
    assert_eq!(again, json!({ "prUrl": pr_url, "taskId": floor.task_id }));
}

async fn a_supervisor_hears_again_what_no_read_model_shows(bench: Bench) {
    let floor = Floor::new(bench).await;
    floor.awaits_human_review().await;
    let shown = output(call(&floor.supervisor, "mcp__agent__get_epic", json!({})).await);
    assert_eq!(shown["state"], "AWAITING_HUMAN_REVIEW");
    forget(&floor, &Tasks).await;
    forget(&floor, &Epics).await;
    let approve = json!({ "taskId": floor.task_id, "prUrl": format!("muster://pull/{}", floor.task_id) });
    let merged = output(call(&floor.supervisor, "mcp__epic__approve_pr", approve).await);
    assert_eq!(merged, json!({ "merged": true, "mergeCommitSha": "c0ffee" }));
    let input = json!({ "title": "Baskets", "description": "All of them" });
    let submitted = output(call(&floor.supervisor, "mcp__epic__create_epic_pr", input).await);
    assert_eq!(submitted["prUrl"], format!("muster://pull/{}", floor.epic_id));
}
