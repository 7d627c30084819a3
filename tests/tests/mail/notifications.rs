//! People are told of what concerns them, as they prefer, once, and what does not get through is on record.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use commands::On;
use commands::notification::{ChangeSettings, News, PreferenceChanges, RaiseNotification};
use commands::tool_call::{CallTool, FailTool};
use domain::AgentId;
use domain::notification::{Channel, WithheldReason};
use domain::notification_settings::{ClockTime, Preferences, QuietHours};
use domain::post::{DeclareDead, Evidence, Post, PostCommand};
use muster_tests::both_stores;
use muster_tests::fleet::new;
use muster_tests::stores::{Bench, noon};
use projections::Engine;
use projections::notifications::{self, NotificationView};
use reactors::{Runner, Telling};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use workbench::alert::Alerts;

use crate::floor::{Floor, PATIENCE};

both_stores! {
    the_owner_is_told_by_every_channel_that_is_on,
    what_does_not_get_through_is_on_record,
    in_quiet_hours_nobody_is_told_but_the_news_is_there,
    an_owner_who_wants_no_errors_is_told_of_none,
    two_nodes_tell_once,
    a_node_that_comes_back_goes_on_where_it_was,
    only_what_people_must_know_is_news,
    the_death_of_a_supervisor_is_news_and_that_of_a_worker_is_not,
    news_is_told_in_the_documents_words,
}

/// Where people are told in these tests.
struct Desk {
    folder: TempDir,
    received: Arc<Mutex<Vec<Value>>>,
    url: String,
}

impl Desk {
    /// A desktop that writes down what it shows, and an address that answers with a status.
    async fn new(status: StatusCode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("notify-send");
        let shown = folder.path().join("shown");
        fs::write(&script, format!("#!/bin/sh\nprintf '%s|' \"$@\" >> '{}'\n", shown.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let received = Arc::new(Mutex::new(vec![]));
        let take = async move |State(received): State<Arc<Mutex<Vec<Value>>>>, Json(body): Json<Value>| {
            received.lock().unwrap().push(body);
            status
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?token=abc", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(take)).with_state(received.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { folder, received, url }
    }

    fn shown(&self) -> String {
        fs::read_to_string(self.folder.path().join("shown")).unwrap_or_default()
    }

    fn telling(&self, node: &str) -> Telling {
        let alerts = Alerts::with_path(self.folder.path());
        Telling { node: node.to_owned(), alerts, ..Telling::default() }
    }

    /// Desktop and webhook.
    fn both(&self) -> PreferenceChanges {
        PreferenceChanges {
            push_enabled: Some(true),
            webhook_enabled: Some(true),
            webhook_url: Some(Some(self.url.clone())),
            ..PreferenceChanges::default()
        }
    }
}

async fn prefer(floor: &Floor, changes: PreferenceChanges) {
    let (user_id, everybody) = (floor.fleet.owner, Preferences::default());
    floor.must(&ChangeSettings { user_id, everybody, changes }).await;
}

/// Something happens that only people can put right.
async fn trouble(floor: &Floor) {
    let tool = "mcp__epic__approve_pr".to_owned();
    let call_id = floor.must(&CallTool { call_id: new(), by: floor.supervisor, tool, input: json!({}) }).await;
    let error = "The merge failed".to_owned();
    floor.must(&FailTool { call_id, error, details: None, critical: false, escalates: true }).await;
}

/// Lets nodes react to everything there is, until nothing new comes of it.
async fn react(floor: &Floor, nodes: Vec<Telling>) {
    let (log, views) = (floor.bench.log(), floor.views().clone());
    let engine = Arc::new(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
    let start = |telling: Telling| {
        let executor = floor.fleet.elsewhere(log.clone()).executor;
        Runner::start(reactors::with(telling), executor, views.clone(), engine.clone())
    };
    let runners: Vec<Runner> = nodes.into_iter().map(start).collect();
    loop {
        let head = log.head().await.unwrap().position;
        for runner in &runners {
            for name in ["raise_notifications_on_news", "tell_on_notification_raised"] {
                assert!(runner.wait_for(name, head, PATIENCE).await, "{:?}", runner.status());
            }
        }
        if log.head().await.unwrap().position == head {
            break;
        }
    }
    for runner in &runners {
        runner.shutdown().await;
    }
    engine.shutdown().await;
    floor.project().await;
}

async fn news(floor: &Floor) -> Vec<NotificationView> {
    notifications::list(floor.views(), floor.fleet.owner, None, None, 100).await.unwrap()
}

async fn the_owner_is_told_by_every_channel_that_is_on(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    let told = news(&floor).await.remove(0);
    assert_eq!(told.title, "CRITICAL: mcp__epic__approve_pr failed");
    let worked: Vec<(Channel, bool)> =
        told.deliveries.iter().map(|it| (it.channel, it.at.is_some() && it.error.is_none())).collect();
    assert_eq!(worked, [(Channel::Desktop, true), (Channel::Webhook, true)]);
    assert!(desk.shown().contains("CRITICAL: mcp__epic__approve_pr failed|"), "{}", desk.shown());
    let posted = desk.received.lock().unwrap().clone();
    assert_eq!((posted.len(), &posted[0]["kind"], &posted[0]["id"]), (1, &json!("critical_error"), &json!(told.id)));
}

async fn what_does_not_get_through_is_on_record(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::SERVICE_UNAVAILABLE).await);
    prefer(&floor, desk.both()).await;
    trouble(&floor).await;
    // No program is there that could show anything.
    let nothing = tempfile::tempdir().unwrap();
    react(&floor, vec![Telling { alerts: Alerts::with_path(nothing.path()), ..desk.telling("one") }]).await;
    let errors: Vec<String> = news(&floor).await[0].deliveries.iter().filter_map(|it| it.error.clone()).collect();
    assert!(errors[0].contains("notify-send") && errors[1].contains("503"), "{errors:?}");
    let failed = floor.bench.everything().await;
    assert_eq!(failed.iter().filter(|it| it.event_type == "NotificationFailed").count(), 2);
    assert!(failed.iter().filter(|it| it.event_type == "NotificationFailed").all(|it| !it.payload.contains("abc")));
}

async fn in_quiet_hours_nobody_is_told_but_the_news_is_there(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let time = |text| ClockTime::parse(text).unwrap();
    let quiet_hours = Some(Some(QuietHours { start: time("11:00"), end: time("13:00") }));
    prefer(&floor, PreferenceChanges { quiet_hours, ..desk.both() }).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    let told = news(&floor).await.remove(0);
    assert_eq!((told.withheld, told.deliveries.len()), (Some(WithheldReason::QuietHours), 0));
    assert_eq!((desk.shown().as_str(), desk.received.lock().unwrap().len()), ("", 0));
}

async fn an_owner_who_wants_no_errors_is_told_of_none(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, PreferenceChanges { notify_on_errors: Some(false), ..desk.both() }).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert_eq!(news(&floor).await[0].withheld, Some(WithheldReason::Disabled));
    assert_eq!(desk.shown(), "");
}

async fn two_nodes_tell_once(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    for _ in 0..5 {
        trouble(&floor).await;
    }
    react(&floor, vec![desk.telling("one"), desk.telling("two")]).await;
    assert_eq!(desk.received.lock().unwrap().len(), 5);
    assert!(news(&floor).await.iter().all(|it| it.deliveries.iter().all(|it| it.at.is_some())));
}

async fn a_node_that_comes_back_goes_on_where_it_was(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert_eq!((news(&floor).await.len(), desk.received.lock().unwrap().len()), (2, 2));
}

async fn only_what_people_must_know_is_news(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    let tool = "mcp__git__rebase".to_owned();
    let call_id = floor.must(&CallTool { call_id: new(), by: floor.worker, tool, input: json!({}) }).await;
    let error = "Rebase conflict".to_owned();
    // The supervisor hears of it.
    floor.must(&FailTool { call_id, error, details: None, critical: false, escalates: true }).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert!(news(&floor).await.is_empty());
}

async fn dies(floor: &Floor, agent: AgentId) {
    let evidence = Evidence { last_heartbeat: noon(), checks_missed: 2, process_alive: None, last_output_at: None };
    let command = PostCommand::DeclareDead(DeclareDead { evidence, now: noon() });
    floor.must(&On::<Post> { name: "dies", id: agent.0, command }).await;
}

async fn the_death_of_a_supervisor_is_news_and_that_of_a_worker_is_not(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    dies(&floor, floor.worker).await;
    dies(&floor, floor.supervisor).await;
    react(&floor, vec![desk.telling("one")]).await;
    let news = news(&floor).await;
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].title, "CRITICAL: Agent Error");
    assert_eq!(
        news[0].message,
        "❌ Supervisor agent crashed unexpectedly\nEpic: Baskets\nCheck decision logs for details"
    );
}

async fn news_is_told_in_the_documents_words(bench: Bench) {
    let floor = Floor::new(bench).await;
    let (task_id, epic_id, pr_url) = (floor.task, floor.epic, "muster://pull/7".to_owned());
    let reason = "Rebase conflict in auth.ts".to_owned();
    for (news, title, message) in [
        (
            News::TaskSubmitted { task_id, pr_url: pr_url.clone() },
            "Task PR Created: Add a basket",
            "✅ PR ready for review\nBranch: \nPR: muster://pull/7",
        ),
        (News::TaskRebased { task_id }, "Task Rebased: Add a basket", "✅ Rebased and ready for review\nBranch: "),
        (
            News::TaskFailed { task_id, reason, attempts: 5 },
            "Task Failed: Add a basket",
            "❌ 'Add a basket' failed after 5 attempts\nLast error: Rebase conflict in auth.ts\nRequires manual intervention",
        ),
        (
            News::EpicSubmitted { epic_id, pr_url },
            "Epic Complete: Baskets",
            "✅ All tasks completed for 'Baskets'\nEpic PR: muster://pull/7\nReady for your review",
        ),
    ] {
        let raise = RaiseNotification { workspace_id: floor.workspace, news, everybody: Preferences::default() };
        let id = floor.must(&raise).await;
        floor.project().await;
        let told = self::news(&floor).await.remove(0);
        assert_eq!((Some(told.id), told.title.as_str(), told.message.as_str()), (id, title, message));
    }
}
