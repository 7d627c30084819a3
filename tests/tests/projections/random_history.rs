//! A long history of random commands, lawful in all its streams: what was followed live is what the log says.

mod dice;
mod factory;
mod from_github;
mod page;
mod work;
mod world;

use std::time::Duration;

use domain::catalogue;
use futures_util::{StreamExt as _, stream};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::Engine;
use projections::offline::verify;

use self::factory::Factory;
use self::world::World;

both_stores! {
    after_a_random_history_of_fifty_thousand_events_every_read_model_equals_a_rebuild,
}

const EVENTS: usize = 50_000;
/// Commands of the factory between two commits of everything else.
const PER_SHIFT: usize = 25;
const PATIENCE: Duration = Duration::from_secs(120);

async fn after_a_random_history_of_fifty_thousand_events_every_read_model_equals_a_rebuild(bench: Bench) {
    let (log, views) = (bench.log(), bench.stores().views.clone());
    let mut factory = Factory::open(log.clone()).await;
    let mut world = World::new().await;
    let mut engine = None;
    while world.page.written + factory.written() < EVENTS {
        world.fill_page().await;
        bench.clock.set(world.page.now);
        log.commit(std::mem::take(&mut world.page.commit)).await.unwrap();
        factory.play(PER_SHIFT, world.page.now).await;
        if engine.is_none() && world.page.written + factory.written() > EVENTS / 2 {
            // One half of the history is caught up with, the other is followed as it happens.
            engine = Some(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
        }
    }
    let known = catalogue().into_iter().filter(|it| is_played(it.aggregate, it.event));
    let happened = |it: &&str| world.page.kinds.contains_key(*it) || factory.kinds.contains_key(*it);
    let missing: Vec<_> = known.map(|it| it.event).filter(|it| !happened(it)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
    assert!(factory.refused > 100, "only {} commands were illegal", factory.refused);

    let engine = engine.unwrap();
    let all = projections::all();
    let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
    let head = log.head().await.unwrap().position;
    assert_eq!(head, (world.page.written + factory.written()) as i64);
    assert!(engine.wait_for(&names, head, PATIENCE).await, "{:#?}", engine.status().await);
    for status in engine.status().await.unwrap() {
        assert!(status.parked.is_empty() && status.last_error.is_none(), "{status:#?}");
    }
    engine.shutdown().await;
    // A few at a time: each takes connections for as long as it lasts.
    let verified = stream::iter(projections::all())
        .map(|projection| {
            let (log, views) = (log.clone(), views.clone());
            async move { verify(&log, &views, &projection, &mut |_, _| {}).await.unwrap() }
        })
        .buffer_unordered(3);
    for report in verified.collect::<Vec<_>>().await {
        assert_eq!((report.position, report.parked, report.differences_total), (head, 0, 0), "{report:#?}");
        assert!(report.rows_compared > 0, "{}", report.projection);
    }
}

/// Whether it is part of these histories: people and the keys of text have tests of their own.
fn is_played(aggregate: &str, event: &str) -> bool {
    const ELSEWHERE: [&str; 2] = ["WorkspaceTextSealed", "WorkspaceTextErased"];
    aggregate != "user" && !ELSEWHERE.contains(&event)
}
