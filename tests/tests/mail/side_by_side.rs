//! People are told side by side: whose address does not answer holds up nobody else.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use chrono::TimeDelta;
use commands::notification::{ChangeSettings, News, PreferenceChanges, RaiseNotification, TakeNotification};
use domain::notification_settings::{Manner, Preferences};
use domain::{NotificationId, WorkspaceId};
use muster_tests::both_served_stores;
use muster_tests::fleet::Fleet;
use muster_tests::stores::{Bench, noon};
use projections::notifications;
use reactors::Telling;
use reactors::tell_again::TellAgain;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use workbench::alert::Reach;

use crate::desk::Nodes;
use crate::floor::{Floor, PATIENCE};

both_served_stores! {
    an_address_that_does_not_answer_holds_up_nobody_else,
    a_node_that_comes_later_tells_nothing_that_is_told_or_being_told,
    whoever_is_told_much_again_takes_turns_with_the_others,
}

/// Where somebody is told; nothing is answered before it is let.
struct Address {
    url: String,
    received: watch::Receiver<Vec<NotificationId>>,
    answers: watch::Sender<bool>,
}

#[derive(Clone)]
struct Receiving {
    received: Arc<watch::Sender<Vec<NotificationId>>>,
    answers: watch::Receiver<bool>,
}

async fn take(State(mut it): State<Receiving>, body: String) {
    let body: Value = serde_json::from_str(&body).unwrap();
    let id = body["id"].as_str().unwrap().parse().unwrap();
    it.received.send_modify(|all| all.push(NotificationId(id)));
    it.answers.wait_for(|it| *it).await.unwrap();
}

impl Address {
    async fn new(answers: bool) -> Self {
        let ((received, seen), (answers, allowed)) = (watch::channel(vec![]), watch::channel(answers));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let state = Receiving { received: Arc::new(received), answers: allowed };
        let router = Router::new().route("/hook", post(take)).with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, received: seen, answers }
    }

    /// Everything that came, once it is so much.
    async fn received(&self, count: usize) -> Vec<NotificationId> {
        let mut received = self.received.clone();
        let all = tokio::time::timeout(PATIENCE, received.wait_for(|it| it.len() >= count)).await;
        all.expect("it came in time").unwrap().clone()
    }

    /// Answers from now on.
    fn answer(&self) {
        self.answers.send_replace(true);
    }
}

/// Somebody with a workspace, who is told at an address.
async fn owner(floor: &Floor, slug: &str, at: &Address) -> WorkspaceId {
    let fleet = Fleet::on(floor.bench.log());
    let changes = PreferenceChanges {
        webhook_enabled: Some(true),
        webhook_url: Some(Some(at.url.clone())),
        ..PreferenceChanges::default()
    };
    floor.must(&ChangeSettings { user_id: fleet.owner, everybody: Manner::default(), changes }).await;
    fleet.workspace(slug).await.unwrap()
}

/// So much news for the owner of a workspace.
async fn raise(floor: &Floor, workspace_id: WorkspaceId, count: usize) -> Vec<NotificationId> {
    let mut raised = vec![];
    for _ in 0..count {
        let (tool, error) = ("mcp__git__rebase".to_owned(), "No".to_owned());
        let news = News::ToolFailed { agent_id: floor.worker, tool, error };
        let raise = RaiseNotification { workspace_id, news, everybody: Preferences::default() };
        raised.push(floor.must(&raise).await.unwrap());
    }
    raised
}

/// A node that waits as long as the test does.
fn node(name: &str) -> Telling {
    let (reach, patience) = (Reach::PublicAndLoopback, Duration::from_secs(600));
    Telling { node: name.to_owned(), reach, patience, ..Telling::default() }
}

async fn an_address_that_does_not_answer_holds_up_nobody_else(bench: Bench) {
    let floor = Floor::new(bench).await;
    let (dead, quick) = (Address::new(false).await, Address::new(true).await);
    let (ada, bob) = (owner(&floor, "ada", &dead).await, owner(&floor, "bob", &quick).await);
    let (for_ada, for_bob) = (raise(&floor, ada, 3).await, raise(&floor, bob, 3).await);
    let nodes = Nodes::start(&floor, vec![node("one")]);
    assert_eq!(quick.received(3).await, for_bob);
    assert_eq!(dead.received(1).await, for_ada[..1], "one after the other");
    dead.answer();
    nodes.finish(&floor).await;
    assert_eq!(dead.received(3).await, for_ada);
    floor.project().await;
}

async fn a_node_that_comes_later_tells_nothing_that_is_told_or_being_told(bench: Bench) {
    let floor = Floor::new(bench).await;
    let (dead, quick) = (Address::new(false).await, Address::new(true).await);
    let (ada, bob) = (owner(&floor, "ada", &dead).await, owner(&floor, "bob", &quick).await);
    let (for_ada, for_bob) = (raise(&floor, ada, 1).await, raise(&floor, bob, 3).await);
    let first = Nodes::start(&floor, vec![node("one")]);
    quick.received(3).await;
    dead.received(1).await;
    Nodes::start(&floor, vec![node("two")]).finish(&floor).await;
    dead.answer();
    first.finish(&floor).await;
    assert_eq!((dead.received(1).await, quick.received(3).await), (for_ada, for_bob));
}

async fn whoever_is_told_much_again_takes_turns_with_the_others(bench: Bench) {
    let floor = Floor::new(bench).await;
    let (dead, quick) = (Address::new(false).await, Address::new(true).await);
    let (ada, bob) = (owner(&floor, "ada", &dead).await, owner(&floor, "bob", &quick).await);
    let (for_ada, for_bob) = (raise(&floor, ada, 12).await, raise(&floor, bob, 1).await);
    for notification_id in for_ada.iter().chain(&for_bob).copied() {
        floor.must(&TakeNotification { notification_id, node: "dead".to_owned() }).await;
    }
    floor.project().await;
    floor.bench.clock.set(noon() + TimeDelta::seconds(60));
    let executor = floor.fleet.elsewhere(floor.bench.log()).executor;
    let again = TellAgain::new(node("one"), executor, floor.views().clone());
    let look = tokio::spawn({
        let again = again.clone();
        async move { again.look().await.unwrap() }
    });
    assert_eq!(quick.received(1).await, for_bob);
    dead.answer();
    let mut told = look.await.unwrap();
    while told < 13 {
        floor.project().await;
        told += again.look().await.unwrap();
    }
    let all = |ids: Vec<NotificationId>| ids.into_iter().collect::<HashSet<_>>();
    let received = dead.received(12).await;
    assert_eq!((received.len(), all(received)), (12, all(for_ada)));
    floor.project().await;
    let now = floor.bench.clock.now() + TimeDelta::hours(1);
    assert_eq!(notifications::to_tell_again(floor.views(), now, 100, 100).await.unwrap(), []);
}
