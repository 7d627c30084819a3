//! What agents do is on record, without their secrets, and whoever must hear of a failure does.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use commands::decisions::LogDecision;
use commands::tool_call::{CallTool, FailTool, SucceedTool};
use commands::{Actor, Context, Executor};
use domain::post::PostError;
use domain::tool_call::ToolCallError;
use domain::{AgentId, ToolCallId};
use muster_tests::both_served_stores;
use muster_tests::fleet::new;
use muster_tests::stores::{Bench, noon};
use projections::decisions::{self, DecisionView, Filter};
use projections::{Engine, timeline};
use reactors::overdue::Overdue;
use serde_json::{Value, json};

use crate::floor::{Floor, refused};

both_served_stores! {
    a_call_is_on_record_before_and_after,
    no_secret_reaches_the_log,
    the_failure_of_a_critical_tool_is_told_to_the_supervisor,
    the_failure_of_a_supervisors_critical_tool_is_told_to_people,
    an_unexpected_failure_is_always_told_to_people,
    an_ordinary_failure_is_the_agents_own,
    a_relieved_agent_calls_nothing_and_what_it_had_begun_still_ends_on_record,
    a_call_whose_server_died_is_ended_as_interrupted_once_by_whichever_node,
    a_call_that_makes_something_is_open_once_on_all_nodes,
    a_call_that_was_cut_short_long_ago_is_lost,
    the_decision_log_is_listed_by_agent_and_time_in_pages,
    people_see_on_the_timeline_only_what_concerns_them,
}

async fn call(floor: &Floor, by: AgentId, tool: &str, input: Value) -> ToolCallId {
    floor.must(&CallTool { call_id: new(), by, tool: tool.to_owned(), input }).await
}

fn call_of(by: AgentId, tool: &str) -> CallTool {
    CallTool { call_id: new(), by, tool: tool.to_owned(), input: json!({}) }
}

async fn fail(floor: &Floor, call_id: ToolCallId, error: &str, critical: bool) {
    floor.must(&FailTool { call_id, error: error.to_owned(), details: None, critical, escalates: true }).await;
}

async fn listed(floor: &Floor, agent: Option<AgentId>) -> Vec<DecisionView> {
    let filter = Filter { workspace: floor.workspace, agent, since: None, until: None, before: None };
    decisions::list(floor.views(), &filter, 100).await.unwrap()
}

async fn a_call_is_on_record_before_and_after(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.worker, "mcp__git__get_diff", json!({})).await;
    floor.must(&SucceedTool { call_id, output: json!({ "filesChanged": 2 }) }).await;
    let again = floor.run(&SucceedTool { call_id, output: json!({}) }).await;
    assert_eq!(again, Err(refused(ToolCallError::AlreadyEnded)));
    let body = "Two parts can be built alone".to_owned();
    floor.must(&LogDecision { by: floor.worker, title: "Split".to_owned(), body }).await;
    floor.project().await;
    let titles: Vec<String> = listed(&floor, Some(floor.worker)).await.into_iter().map(|it| it.title).collect();
    assert_eq!(titles, ["Split", "mcp__git__get_diff_result", "mcp__git__get_diff"]);
}

async fn no_secret_reaches_the_log(bench: Bench) {
    let floor = Floor::new(bench).await;
    let key = format!("ghp_{}", "Zq7".repeat(12));
    let input = json!({ "body": format!("push with {key}"), "env": { "DB_PASSWORD": "hunter2-unique" } });
    let call_id = call(&floor, floor.worker, "mcp__mail__send", input).await;
    floor.must(&SucceedTool { call_id, output: json!({ "log": [format!("Authorization: Bearer {key}")] }) }).await;
    let failing = call(&floor, floor.worker, "mcp__git__rebase", json!({})).await;
    fail(&floor, failing, &format!("https://x:{key}@github.com refused"), true).await;
    floor.must(&LogDecision { by: floor.worker, title: "Used".to_owned(), body: format!("token={key}") }).await;
    floor.project().await;
    for event in floor.bench.everything().await {
        assert!(!event.payload.contains("Zq7Zq7") && !event.payload.contains("hunter2"), "{}", event.payload);
    }
    assert!(listed(&floor, None).await.iter().any(|it| it.body.contains("[redacted]")));
}

async fn the_failure_of_a_critical_tool_is_told_to_the_supervisor(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.worker, "mcp__git__rebase", json!({})).await;
    fail(&floor, call_id, "Rebase conflict in auth.ts", false).await;
    floor.project().await;
    let told = floor.inbox(floor.supervisor, true).await.remove(0);
    assert_eq!(
        (told.from_agent_id, told.subject.as_str()),
        (Some(floor.worker), "Critical Tool Failure: mcp__git__rebase")
    );
    assert!(told.body.contains("Agent WORKER") && told.body.contains("Rebase conflict in auth.ts"));
    assert!(floor.human_inbox().await.is_empty());
}

async fn the_failure_of_a_supervisors_critical_tool_is_told_to_people(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.supervisor, "mcp__epic__approve_pr", json!({})).await;
    fail(&floor, call_id, "The merge failed", false).await;
    floor.project().await;
    let told = floor.human_inbox().await.remove(0);
    assert_eq!(told.subject, "Critical Tool Failure: mcp__epic__approve_pr");
}

async fn an_unexpected_failure_is_always_told_to_people(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.worker, "mcp__agent__get_status", json!({})).await;
    fail(&floor, call_id, "Internal tool error", true).await;
    floor.project().await;
    let told = floor.human_inbox().await.remove(0);
    assert_eq!(told.subject, "CRITICAL: Unexpected Error in mcp__agent__get_status");
    assert_eq!(listed(&floor, None).await[0].title, "mcp__agent__get_status_critical_error");
}

async fn an_ordinary_failure_is_the_agents_own(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.worker, "mcp__git__get_diff", json!({})).await;
    fail(&floor, call_id, "No such branch", false).await;
    floor.project().await;
    assert!(floor.human_inbox().await.is_empty() && floor.inbox(floor.supervisor, false).await.is_empty());
    assert_eq!(listed(&floor, None).await[0].title, "mcp__git__get_diff_error");
}

async fn a_relieved_agent_calls_nothing_and_what_it_had_begun_still_ends_on_record(bench: Bench) {
    let floor = Floor::new(bench).await;
    let call_id = call(&floor, floor.worker, "mcp__git__get_diff", json!({})).await;
    floor.relieve(floor.worker).await;
    let again = CallTool { call_id: new(), by: floor.worker, tool: "mcp__git__get_diff".to_owned(), input: json!({}) };
    assert_eq!(floor.run(&again).await, Err(refused(PostError::Relieved { successor: None })));
    floor.must(&SucceedTool { call_id, output: json!({}) }).await;
}

async fn a_call_whose_server_died_is_ended_as_interrupted_once_by_whichever_node(bench: Bench) {
    let floor = Floor::new(bench).await;
    let ended = call(&floor, floor.worker, "mcp__agent__get_status", json!({})).await;
    floor.must(&SucceedTool { call_id: ended, output: json!({}) }).await;
    // Of these nobody will say what came: the server is gone.
    let old = call(&floor, floor.worker, "mcp__git__rebase", json!({})).await;
    floor.bench.clock.set(noon() + TimeDelta::minutes(3));
    let young = floor.must_at(3, &call_of(floor.worker, "mcp__git__get_diff")).await;
    let engine = Engine::start(floor.bench.log(), floor.views().clone(), projections::all(), Default::default());
    let engine = Arc::new(engine);
    let node = || Overdue {
        executor: Arc::new(Executor::new(floor.bench.log())),
        views: floor.views().clone(),
        engine: engine.clone(),
        longest_call: Duration::from_secs(4 * 60),
        longest_launch: Duration::from_secs(5 * 60),
    };
    assert_eq!(node().look().await, Ok(vec![]), "no call is as old as one can be");
    floor.bench.clock.set(noon() + TimeDelta::minutes(5));
    let (one, other) = (node(), node());
    let (one, other) = tokio::join!(one.look(), other.look());
    let all = [one.unwrap(), other.unwrap()].concat();
    assert!(!all.is_empty() && all.iter().all(|it| *it == old), "{all:?}, but {young} goes on");
    assert_eq!(node().look().await, Ok(vec![]), "what has ended is left alone");
    engine.shutdown().await;
    floor.project().await;
    let log = listed(&floor, Some(floor.worker)).await;
    assert_eq!(log.iter().filter(|it| it.call_id == Some(old)).count(), 2);
    assert!(log[0].title == "mcp__git__rebase_error" && log[0].body.contains("interrupted"), "{:?}", log[0]);
    assert!(floor.human_inbox().await.is_empty() && floor.inbox(floor.supervisor, false).await.is_empty());
    let late = floor.run(&SucceedTool { call_id: old, output: json!({}) }).await;
    assert_eq!(late, Err(refused(ToolCallError::AlreadyEnded)));
}

async fn a_call_that_makes_something_is_open_once_on_all_nodes(bench: Bench) {
    let floor = Floor::new(bench).await;
    let other_node = Executor::new(floor.bench.log());
    let context = Context::new(Actor::System("test"), noon());
    let (one, other) = (call_of(floor.worker, "mcp__mail__send"), call_of(floor.worker, "mcp__mail__send"));
    let (first, second) = tokio::join!(floor.run(&one), other_node.run(&context, &other));
    let (first, second) = (first.is_ok(), second.is_ok());
    assert!(first || second, "one of them begins");
    let open = floor.must(&call_of(floor.worker, "mcp__mail__send")).await;
    let called = floor.bench.everything().await.into_iter().filter(|it| it.event_type == "ToolCalled");
    assert_eq!(called.map(|it| it.stream.aggregate_id).collect::<Vec<_>>(), [open.to_string()]);
    floor.must(&SucceedTool { call_id: open, output: json!({}) }).await;
    assert_eq!(floor.must(&call_of(floor.worker, "mcp__mail__send")).await, open, "its answer may have been lost");
    floor.must(&call_of(floor.worker, "mcp__agent__get_status")).await;
    let next = floor.must(&call_of(floor.worker, "mcp__mail__send")).await;
    assert_ne!(next, open);
    fail(&floor, next, "No such agent", false).await;
    assert_ne!(floor.must(&call_of(floor.worker, "mcp__mail__send")).await, next, "what failed is tried anew");
}

async fn a_call_that_was_cut_short_long_ago_is_lost(bench: Bench) {
    let floor = Floor::new(bench).await;
    let old = floor.must_at(0, &call_of(floor.worker, "mcp__mail__send")).await;
    assert_eq!(floor.must_at(29, &call_of(floor.worker, "mcp__mail__send")).await, old);
    let new = floor.must_at(30, &call_of(floor.worker, "mcp__mail__send")).await;
    assert_ne!(new, old);
    assert_eq!(floor.must_at(30, &call_of(floor.worker, "mcp__mail__send")).await, new);
    floor.project().await;
    let log = listed(&floor, Some(floor.worker)).await;
    let ended = log.iter().find(|it| it.title == "mcp__mail__send_error").unwrap();
    assert!(ended.call_id == Some(old) && ended.body.contains("interrupted"), "{ended:?}");
}

async fn the_decision_log_is_listed_by_agent_and_time_in_pages(bench: Bench) {
    let floor = Floor::new(bench).await;
    for by in [floor.worker, floor.supervisor, floor.worker] {
        call(&floor, by, "mcp__agent__get_status", json!({})).await;
    }
    floor.project().await;
    assert_eq!((listed(&floor, None).await.len(), listed(&floor, Some(floor.worker)).await.len()), (3, 2));
    let all = Filter { workspace: floor.workspace, agent: None, since: None, until: None, before: None };
    let first = decisions::list(floor.views(), &all, 2).await.unwrap();
    let rest = Filter { before: Some(first[1].position), ..all.clone() };
    assert_eq!(decisions::list(floor.views(), &rest, 2).await.unwrap().len(), 1);
    let later = noon() + TimeDelta::seconds(1);
    for (filter, count) in [
        (Filter { since: Some(noon()), until: Some(later), ..all.clone() }, 3),
        (Filter { since: Some(later), ..all.clone() }, 0),
        (Filter { until: Some(noon()), ..all }, 0),
    ] {
        assert_eq!(decisions::list(floor.views(), &filter, 100).await.unwrap().len(), count);
    }
}

async fn people_see_on_the_timeline_only_what_concerns_them(bench: Bench) {
    let floor = Floor::new(bench).await;
    let quiet = call(&floor, floor.worker, "mcp__agent__get_status", json!({})).await;
    floor.must(&SucceedTool { call_id: quiet, output: json!({}) }).await;
    floor.send(domain::Party::Agent(floor.supervisor), commands::mail::To::Agent(floor.worker), "Hi").await.unwrap();
    let failing = call(&floor, floor.supervisor, "mcp__epic__approve_pr", json!({})).await;
    fail(&floor, failing, "The merge failed", false).await;
    floor.project().await;
    let filter = timeline::Filter { workspaces: vec![floor.workspace], ..timeline::Filter::default() };
    let page = timeline::list(floor.views(), &filter, 100, 0).await.unwrap();
    let kinds: Vec<&str> = page.entries.iter().map(|it| it.kind.as_str()).collect();
    let ours = |it: &&&str| ["mail_received", "tool_failed", "notification_failed"].contains(*it);
    assert_eq!(kinds.iter().filter(ours).collect::<Vec<_>>(), [&"mail_received", &"tool_failed"]);
}
