//! People are told of what concerns them, as they prefer, once, and what does not get through is on record.

use axum::http::StatusCode;
use commands::notification::{ChangeSettings, News, PreferenceChanges, RaiseNotification};
use commands::tool_call::{CallTool, FailTool};
use commands::user::DeleteAccount;
use commands::{New, On};
use domain::AgentId;
use domain::notification::{Channel, WithheldReason};
use domain::notification_settings::{Addresses, ClockTime, Manner, Preferences, QuietHours};
use domain::post::{DeclareDead, Evidence, Post, PostCommand};
use domain::user::{SignUp, User, UserCommand, UserError};
use muster_tests::both_served_stores;
use muster_tests::fleet::new;
use muster_tests::stores::{Bench, noon};
use reactors::Telling;
use serde_json::{Value, json};
use workbench::alert::Alerts;

use crate::desk::{Desk, news, prefer, react, trouble};
use crate::floor::{Floor, refused};

both_served_stores! {
    the_owner_is_told_by_every_channel_that_is_on,
    what_does_not_get_through_is_on_record,
    in_quiet_hours_nobody_is_told_but_the_news_is_there,
    an_owner_who_wants_no_errors_is_told_of_none,
    where_people_are_told_is_in_no_event,
    whoever_said_nothing_is_told_as_everybody_is,
    an_owner_whose_account_is_gone_is_told_nothing,
    two_nodes_tell_once,
    a_node_that_comes_back_goes_on_where_it_was,
    only_what_people_must_know_is_news,
    the_death_of_a_supervisor_is_news_and_that_of_a_worker_is_not,
    news_is_told_in_the_documents_words,
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

async fn where_people_are_told_is_in_no_event(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, desk.both()).await;
    let head = floor.bench.log().head().await.unwrap().position;
    prefer(&floor, desk.both()).await;
    assert_eq!(floor.bench.log().head().await.unwrap().position, head, "it was already so");
    let elsewhere = desk.url.replace("abc", "xyz");
    prefer(&floor, PreferenceChanges { webhook_url: Some(Some(elsewhere)), ..PreferenceChanges::default() }).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert_eq!(desk.received.lock().unwrap().len(), 1);
    let all = floor.bench.everything().await;
    assert!(all.iter().all(|it| !it.payload.contains("hook?token")), "{all:#?}");
    let changed: Vec<Value> = (all.iter().filter(|it| it.event_type == "NotificationSettingsChanged"))
        .map(|it| serde_json::from_str::<Value>(&it.payload).unwrap()["NotificationSettingsChanged"].clone())
        .map(|it| json!([it["addresses_changed"], it["preferences"]["has_webhook_url"]]))
        .collect();
    assert_eq!(changed, [json!([["webhook"], true]), json!([["webhook"], true])]);
}

async fn whoever_said_nothing_is_told_as_everybody_is(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let addresses = Addresses { webhook_url: Some(desk.url.clone()), ..Addresses::default() };
    let everybody = Manner::new(Preferences { webhook_enabled: true, ..Preferences::default() }, addresses);
    let telling = || Telling { everybody: everybody.clone(), ..desk.telling("one") };
    trouble(&floor).await;
    react(&floor, vec![telling()]).await;
    // What is not said stays as everybody has it, also where to, whatever the node has later.
    let changes = PreferenceChanges { push_enabled: Some(true), ..PreferenceChanges::default() };
    floor.must(&ChangeSettings { user_id: floor.fleet.owner, everybody: everybody.clone(), changes }).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert_eq!(desk.received.lock().unwrap().len(), 2);
}

async fn an_owner_whose_account_is_gone_is_told_nothing(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let user_id = floor.fleet.owner;
    let command = UserCommand::SignUp(SignUp { user_id, now: noon() });
    floor.must(&New::<User> { name: "signs_up", id: user_id.0, command }).await;
    prefer(&floor, desk.both()).await;
    floor.must(&DeleteAccount { user_id }).await;
    trouble(&floor).await;
    react(&floor, vec![desk.telling("one")]).await;
    assert_eq!(news(&floor).await[0].withheld, Some(WithheldReason::Disabled));
    assert_eq!((desk.shown().as_str(), desk.received.lock().unwrap().len()), ("", 0));
    let late = ChangeSettings { user_id, everybody: Manner::default(), changes: desk.both() };
    assert_eq!(floor.run(&late).await, Err(refused(UserError::NotFound)));
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
