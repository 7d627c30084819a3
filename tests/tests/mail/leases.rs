//! Who takes a notification has it for a while: what a dead node took, another tells.

use axum::http::StatusCode;
use chrono::TimeDelta;
use commands::notification::{News, RaiseNotification, ReportDelivery, TakeNotification};
use domain::NotificationId;
use domain::notification::{Channel, NotificationError, Outcome};
use domain::notification_settings::Preferences;
use futures_util::future::join_all;
use muster_tests::both_served_stores;
use muster_tests::stores::{Bench, noon};
use reactors::Telling;
use reactors::tell_again::TellAgain;
use serde_json::{Value, json};

use crate::desk::{Desk, news, prefer, react};
use crate::floor::{Floor, refused};

both_served_stores! {
    what_a_dead_node_took_is_told_by_another_when_its_time_is_over,
    a_node_that_comes_back_tells_what_it_took_when_its_time_is_over,
    of_many_nodes_that_look_one_tells,
    only_what_nobody_has_heard_of_is_told_again,
    what_fails_the_second_time_is_on_record_and_at_rest,
}

/// News that the node `one` has taken, which has died since.
async fn taken(floor: &Floor, desk: &Desk) -> NotificationId {
    prefer(floor, desk.both()).await;
    let (tool, error) = ("mcp__epic__approve_pr".to_owned(), "The merge failed".to_owned());
    let news = News::ToolFailed { agent_id: floor.supervisor, tool, error };
    let raise = RaiseNotification { workspace_id: floor.workspace, news, everybody: Preferences::default() };
    let notification_id = floor.must(&raise).await.unwrap();
    floor.must(&TakeNotification { notification_id, node: "one".to_owned() }).await;
    // The others leave it to that node.
    react(floor, vec![desk.telling("two")]).await;
    assert_eq!(told(desk), (0, 0));
    notification_id
}

/// How often the desktop and the webhook were used.
fn told(desk: &Desk) -> (usize, usize) {
    (desk.shown().matches("CRITICAL").count(), desk.received.lock().unwrap().len())
}

fn again(floor: &Floor, telling: Telling) -> TellAgain {
    let executor = floor.fleet.elsewhere(floor.bench.log()).executor;
    TellAgain::new(telling, executor, floor.views().clone())
}

fn pass(floor: &Floor, seconds: i64) {
    floor.bench.clock.set(noon() + TimeDelta::seconds(seconds));
}

/// Who took it, and when.
async fn takers(floor: &Floor) -> Vec<Value> {
    let all = floor.bench.everything().await;
    let taken = all.iter().filter(|it| it.event_type == "NotificationTaken");
    taken
        .map(|it| serde_json::from_str::<Value>(&it.payload).unwrap()["NotificationTaken"].clone())
        .map(|it| json!([it["node"], it["taken_at"], it["until"]]))
        .collect()
}

async fn what_a_dead_node_took_is_told_by_another_when_its_time_is_over(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let notification_id = taken(&floor, &desk).await;
    let two = again(&floor, desk.telling("two"));
    pass(&floor, 59);
    assert_eq!((two.look().await.unwrap(), told(&desk)), (0, (0, 0)));
    for node in ["one", "two"] {
        let early = floor.run(&TakeNotification { notification_id, node: node.to_owned() }).await;
        assert_eq!(early, Err(refused(NotificationError::TakenBy("one".to_owned()))));
    }
    pass(&floor, 60);
    assert_eq!((two.look().await.unwrap(), told(&desk)), (1, (1, 1)));
    floor.project().await;
    assert!(news(&floor).await[0].deliveries.iter().all(|it| it.at == Some(noon() + TimeDelta::seconds(60))));
    let (first, second) = (json!("2026-03-01T12:00:00Z"), json!("2026-03-01T12:01:00Z"));
    let expected = [json!(["one", first, second]), json!(["two", second, "2026-03-01T12:02:00Z"])];
    assert_eq!(takers(&floor).await, expected);
    pass(&floor, 3600);
    assert_eq!((two.look().await.unwrap(), told(&desk)), (0, (1, 1)));
}

async fn a_node_that_comes_back_tells_what_it_took_when_its_time_is_over(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    taken(&floor, &desk).await;
    let floor = floor.restarted().await;
    let one = again(&floor, desk.telling("one"));
    assert_eq!((one.look().await.unwrap(), told(&desk)), (0, (0, 0)));
    pass(&floor, 61);
    assert_eq!((one.look().await.unwrap(), told(&desk)), (1, (1, 1)));
}

async fn of_many_nodes_that_look_one_tells(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    taken(&floor, &desk).await;
    pass(&floor, 60);
    let nodes = ["one", "two", "three", "four"].map(|it| again(&floor, desk.telling(it)));
    let told_by: usize = join_all(nodes.iter().map(TellAgain::look)).await.into_iter().map(Result::unwrap).sum();
    assert_eq!((told_by, told(&desk)), (1, (1, 1)));
}

async fn only_what_nobody_has_heard_of_is_told_again(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let notification_id = taken(&floor, &desk).await;
    floor.must(&ReportDelivery { notification_id, channel: Channel::Desktop, outcome: Outcome::Delivered }).await;
    floor.project().await;
    pass(&floor, 60);
    assert_eq!((again(&floor, desk.telling("two")).look().await.unwrap(), told(&desk)), (1, (0, 1)));
    floor.project().await;
    assert!(news(&floor).await[0].deliveries.iter().all(|it| it.at.is_some() && it.error.is_none()));
}

async fn what_fails_the_second_time_is_on_record_and_at_rest(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::SERVICE_UNAVAILABLE).await);
    taken(&floor, &desk).await;
    let two = again(&floor, desk.telling("two"));
    pass(&floor, 60);
    assert_eq!(two.look().await.unwrap(), 1);
    floor.project().await;
    let errors: Vec<_> = news(&floor).await[0].deliveries.iter().map(|it| it.error.clone()).collect();
    assert_eq!(errors, [None, Some("answered with 503".to_owned())]);
    pass(&floor, 600);
    assert_eq!((two.look().await.unwrap(), told(&desk)), (0, (1, 1)));
}
