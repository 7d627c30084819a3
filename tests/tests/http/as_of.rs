//! Queries of the past: what every route said at many moments of a run is what it says of them afterwards.

mod run;

use std::collections::{BTreeMap, BTreeSet};

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use run::Run;

both_served_stores!(every_query_says_of_then_what_it_said_then, every_query_route_can_be_asked_of_the_past);

/// Every query route, by hand, with what is asked of it: names in braces are ids of the run.
#[rustfmt::skip]
const ASKED: &[&str] = &[
    "workspace.list?", "workspace.list?includeDeleted=true",
    "workspace.get?id={workspace}", "workspace.get?id={closed}", "workspace.get?id={closed}&includeDeleted=true",
    "project.list?workspaceId={workspace}", "project.list?workspaceId={workspace}&includeInactive=true&includeDeleted=true",
    "project.get?id={shop}", "project.get?id={site}", "project.get?id={site}&includeDeleted=true",
    "agent.list?workspaceId={workspace}", "agent.list?workspaceId={workspace}&status=probation",
    "agent.list?workspaceId={workspace}&projectId={shop}&limit=1",
    "agent.get?id={dev}", "agent.get?id={lead}", "agent.get?id={temp}", "agent.get?id={temp}&includeDeleted=true",
    "task.list?projectId={shop}", "task.list?projectId={shop}&status=completed&limit=2", "task.list?projectId={site}",
    "task.list?projectId={shop}&epicId={epic}",
    "task.get?id={task}", "task.get?id={blocked}",
    "session.get?id={session}", "session.get?id={second}",
    "event.list?", "event.list?workspaceId={workspace}&limit=3", "event.list?workspaceId={workspace}&limit=3&offset=2",
    "event.list?workspaceId={workspace}&type=trust_score_changed", "event.list?projectId={shop}&agentId={dev}",
    "event.list?sessionId={session}&limit=100", "event.list?workspaceId={closed}",
    "event.get?id={event}",
    "kpi.get?agentId={dev}", "kpi.explain?agentId={dev}", "kpi.history?agentId={dev}", "kpi.history?agentId={dev}&limit=1&offset=1",
    "trust.explain?agentId={dev}", "trust.history?agentId={dev}",
    "wiki.list?workspaceId={workspace}", "wiki.list?workspaceId={workspace}&status=proposed",
    "wiki.list?workspaceId={workspace}&search=deadlocks", "wiki.list?workspaceId={workspace}&tags=database",
    "wiki.get?id={entry}", "wiki.get?id={next}",
    "epic.list?projectId={shop}", "epic.list?projectId={shop}&state=FAILED", "epic.get?id={epic}", "review.queue?epicId={epic}",
    "mail.inbox?workspaceId={workspace}", "mail.inbox?workspaceId={workspace}&agentId={dev}&unread=true",
    "mail.thread?mailId={mail}", "decision.list?workspaceId={workspace}", "decision.list?workspaceId={workspace}&agentId={dev}&limit=1",
    "notification.list?", "notification.list?workspaceId={workspace}",
];

/// Routes of the past's own, which name their moments themselves, and routes that tell of now alone.
const NOT_ASKED: &[&str] = &[
    "/api/auth/session",
    "/api/auth/github/callback",
    "/api/openapi.json",
    "/api/event.stream",
    "/api/notification.settings",
    "/api/agent.health",
    "/api/agent.terminal",
    "/health/live",
    "/health/ready",
    "/metrics",
];

/// What a route said to somebody, and when.
struct Said {
    who: &'static str,
    path: String,
    position: i64,
    time: String,
    status: u16,
    body: Value,
}

async fn every_query_says_of_then_what_it_said_then(bench: Bench) {
    let mut run = Run::begin(bench).await;
    let mut said = Vec::new();
    loop {
        run.settled().await;
        record(&run, &mut said).await;
        if !run.step().await {
            break;
        }
    }
    run.settled().await;
    let (mut good, mut moments) = (BTreeMap::<&str, usize>::new(), BTreeSet::new());
    for it in &said {
        let asked = format!("{}&asOf={}", it.path, it.position);
        let again = run.callers[it.who].get(&asked).await;
        assert_eq!((again.status.as_u16(), &told(again.body)), (it.status, &it.body), "{} {asked}", it.who);
        if it.status == 200 {
            assert_eq!(again.headers["x-as-of-position"], it.position.to_string(), "{asked}");
            *good.entry(route(&it.path)).or_default() += 1;
            moments.insert(it.position);
        }
    }
    for asked in ASKED {
        assert!(good.get(route(asked)).is_some_and(|it| *it > 2), "{asked} was hardly answered: {good:?}");
    }
    assert!(moments.len() > 10, "{moments:?}");
    let probation = |it: &&Said| it.path.contains("status=probation") && it.body["agents"].get(0).is_some();
    assert!(said.iter().any(|it| probation(&it)), "nobody was ever on probation");
    by_time(&run, &said).await;
}

/// A time is as good as the last position recorded by then.
async fn by_time(run: &Run, said: &[Said]) {
    for it in said.iter().filter(|it| it.path.ends_with("event.list?") && it.who == "ada") {
        let again = run.callers[it.who].get(&format!("{}&asOf={}", it.path, it.time)).await.ok();
        assert_eq!(again.body, it.body, "{}", it.time);
    }
}

/// Asks everything that can be asked by now, of everybody.
async fn record(run: &Run, said: &mut Vec<Said>) {
    let position = run.server.head().await;
    for (who, client) in &run.callers {
        for asked in ASKED.iter().filter(|it| !it.starts_with("wiki.get")) {
            if let Some(path) = run.path(asked) {
                said.push(say(run, client, who, path, position).await);
            }
        }
    }
    // To read an entry counts, and its answer says so: it is what the log says once it was told of the view.
    for asked in ASKED.iter().filter(|it| it.starts_with("wiki.get")) {
        let Some(path) = run.path(asked) else { continue };
        let mut seen = say(run, &run.callers["ada"], "ada", path, position).await;
        run.server.app.count_wiki_views().await;
        seen.position = run.server.head().await;
        said.push(seen);
    }
}

async fn say(run: &Run, client: &Client, who: &'static str, path: String, position: i64) -> Said {
    let answer = client.with("X-Min-Position", &position.to_string()).get(&path).await;
    let time = run.server.bench.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    assert!(answer.status.as_u16() < 500, "{path}: {}", answer.text);
    Said { who, path, position, time, status: answer.status.as_u16(), body: told(answer.body) }
}

/// The answer, or of a refusal what it is: each has its own time.
fn told(body: Value) -> Value {
    match body.pointer("/error/code") {
        Some(code) => code.clone(),
        None => body,
    }
}

fn route(asked: &str) -> &str {
    asked.trim_start_matches("/api/").split('?').next().unwrap()
}

async fn every_query_route_can_be_asked_of_the_past(bench: Bench) {
    let server = Server::start(bench).await;
    let api = server.nobody().get("/api/openapi.json").await.ok().body;
    let mut documented = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        // The routes of the audit name their moments themselves.
        if item["get"].is_null() || NOT_ASKED.contains(&path.as_str()) || path.starts_with("/api/audit.") {
            continue;
        }
        let parameters = item["get"]["parameters"].as_array().unwrap();
        let as_of = parameters.iter().find(|it| it["name"] == "asOf").unwrap_or_else(|| panic!("{path} has no asOf"));
        assert_eq!((&as_of["in"], &as_of["required"]), (&json!("query"), &Value::Null), "{path}");
        assert!(item["get"]["responses"]["200"]["headers"]["X-As-Of-Position"].is_object(), "{path}");
        assert!(item["get"]["responses"]["400"]["description"].as_str().unwrap().contains("PAST_TOO_LONG"), "{path}");
        documented.insert(path.trim_start_matches("/api/").to_owned());
    }
    let asked: BTreeSet<String> = ASKED.iter().map(|it| route(it).to_owned()).collect();
    assert_eq!(asked, documented);
}
