//! Commands on a busy stream: decided on what another one will leave, and never answered from what may not come to be.

use std::sync::Arc;

use commands::{CommandError, Done};
use domain::WorkspaceId;
use futures_util::future::join_all;
use futures_util::{FutureExt, poll};
use muster_tests::both_stores;
use muster_tests::commits::{one, stream};
use muster_tests::fleet::Fleet;
use muster_tests::gate::{Gate, batches};
use muster_tests::stores::Bench;
use tokio::task::JoinHandle;
use uuid::Uuid;

both_stores! {
    commands_on_a_busy_stream_share_transactions,
    who_followed_what_was_lost_is_decided_again,
    what_is_already_so_on_the_way_is_not_so_yet,
    what_seemed_so_on_the_way_and_was_lost_is_done,
    a_command_with_a_key_lands_among_those_that_follow_one_another,
    a_command_that_cannot_follow_lands_beside_a_stream_that_never_rests,
    callers_that_go_away_block_nobody,
}

const MANY: usize = 32;

type Renaming = JoinHandle<Result<Done<Uuid>, CommandError>>;

/// A rename in a task of its own, as a request is.
fn rename(fleet: &Arc<Fleet>, id: WorkspaceId, name: impl Into<String>) -> Renaming {
    let (fleet, name) = (fleet.clone(), name.into());
    tokio::spawn(async move { fleet.rename(id, &name).await })
}

async fn all_land(all: Vec<Renaming>) {
    for it in all {
        it.await.unwrap().unwrap();
    }
}

/// A fleet with a workspace that is warm, and somebody in the writer's way.
async fn held_up(bench: &Bench) -> (Arc<Fleet>, WorkspaceId, Gate) {
    let fleet = Arc::new(Fleet::on(bench.log()));
    let id = fleet.workspace("acme").await.unwrap();
    (fleet, id, Gate::shut(bench).await.unwrap())
}

/// Waits until commands have been handed over that will leave the stream further on than it is.
async fn handed_over(bench: &Bench, commands: usize) {
    let log = bench.log();
    while log.waiting() < commands {
        tokio::task::yield_now().await;
    }
}

async fn commands_on_a_busy_stream_share_transactions(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let before = batches(bench.stores()).await;
    let all: Vec<_> = (0..MANY).map(|n| rename(&fleet, id, format!("Name {n}"))).collect();
    handed_over(&bench, MANY).await;
    gate.open().await.unwrap();
    all_land(all).await;
    let took = batches(bench.stores()).await - before;
    assert!(took <= 2, "{MANY} commands on one stream took {took} transactions");
    assert_eq!(bench.everything().await.len(), 1 + MANY);
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn who_followed_what_was_lost_is_decided_again(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let there = Arc::new(fleet.elsewhere(bench.log()));
    // `there` comes first, and those here go on from where the stream stood before that.
    let first = rename(&there, id, "There");
    handed_over(&bench, 1).await;
    let all: Vec<_> = (0..MANY).map(|n| rename(&fleet, id, format!("Name {n}"))).collect();
    handed_over(&bench, 1 + MANY).await;
    gate.open().await.unwrap();
    first.await.unwrap().unwrap();
    all_land(all).await;
    let events = bench.everything().await;
    assert_eq!(events.len(), 2 + MANY);
    for n in 0..MANY {
        let told = events.iter().filter(|it| it.payload.contains(&format!("\"Name {n}\""))).count();
        assert_eq!(told, 1, "Name {n}");
    }
}

async fn what_is_already_so_on_the_way_is_not_so_yet(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let first = rename(&fleet, id, "Same");
    handed_over(&bench, 1).await;
    let mut second = Box::pin(fleet.rename(id, "Same"));
    assert!(poll!(&mut second).is_pending(), "it is not answered from what may not come to be");
    gate.open().await.unwrap();
    let first = first.await.unwrap().unwrap();
    assert_eq!(second.await.unwrap().position, first.position);
    assert_eq!(bench.everything().await.len(), 2);
}

async fn what_seemed_so_on_the_way_and_was_lost_is_done(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let there = Arc::new(fleet.elsewhere(bench.log()));
    let other = rename(&there, id, "There");
    handed_over(&bench, 1).await;
    let lost = rename(&fleet, id, "Same");
    handed_over(&bench, 2).await;
    let second = rename(&fleet, id, "Same");
    gate.open().await.unwrap();
    for it in [other, lost, second] {
        it.await.unwrap().unwrap();
    }
    // One of the two that want the same has done it, after the other's.
    let events = bench.stream(&store::StreamId::new("workspace", id)).await;
    assert_eq!(events.len(), 3);
    assert!(events[2].payload.contains("\"Same\""), "{}", events[2].payload);
}

async fn a_command_with_a_key_lands_among_those_that_follow_one_another(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let mut all: Vec<_> = (0..4).map(|n| rename(&fleet, id, format!("Name {n}"))).collect();
    handed_over(&bench, 4).await;
    // It takes a claim, so it cannot simply follow: a project needs its workspace as it is.
    let project = {
        let fleet = fleet.clone();
        tokio::spawn(async move { fleet.project(id, "shop").await })
    };
    all.extend((4..8).map(|n| rename(&fleet, id, format!("Name {n}"))));
    gate.open().await.unwrap();
    all_land(all).await;
    project.await.unwrap().unwrap();
}

async fn a_command_that_cannot_follow_lands_beside_a_stream_that_never_rests(bench: Bench) {
    let fleet = Arc::new(Fleet::on(bench.log()));
    let id = fleet.workspace("acme").await.unwrap();
    let callers = (0..8).map(|caller| {
        let fleet = fleet.clone();
        tokio::spawn(async move {
            for n in 0..40 {
                fleet.rename(id, &format!("Name {caller} {n}")).await.unwrap();
            }
        })
    });
    let callers: Vec<_> = callers.collect();
    for n in 0..5 {
        // It relies on the workspace and cannot follow those who move it: it has to look, and then to get in.
        fleet.project(id, &format!("shop-{n}")).await.unwrap();
    }
    for caller in join_all(callers).await {
        caller.unwrap();
    }
    assert_eq!(bench.everything().await.len(), 1 + 8 * 40 + 5);
}

async fn callers_that_go_away_block_nobody(bench: Bench) {
    let (fleet, id, gate) = held_up(&bench).await;
    let plug = bench.log();
    let plug = tokio::spawn(async move { plug.commit(one(&stream("plug"), 0)).await });
    // Each is left at another point of its way.
    for polls in 1..12 {
        let mut left = Box::pin(fleet.rename(id, "Left"));
        for _ in 0..polls {
            if left.as_mut().now_or_never().is_some() {
                break;
            }
        }
    }
    gate.open().await.unwrap();
    plug.await.unwrap().unwrap();
    fleet.rename(id, "Stayed").await.unwrap();
    let events = bench.stream(&store::StreamId::new("workspace", id)).await;
    assert!(events.last().unwrap().payload.contains("\"Stayed\""));
    assert!(events.iter().zip(1..).all(|(event, sequence)| event.sequence == sequence));
}
