//! Versions: a new one is built beside the one that is served, and then takes over.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::{Building, Projection, State};
use store::sql::Query;

use crate::fleet::{Fleet, PATIENCE, workspace};
use crate::names::{self, Names};

both_stores! {
    a_raised_version_is_built_beside_while_the_old_one_is_served,
    nodes_of_two_versions_serve_together_while_the_new_one_is_built,
    a_rebuild_stops_at_poison_and_the_old_version_goes_on_being_served,
    a_stopped_rebuild_goes_on_when_the_event_is_skipped,
    an_older_muster_takes_its_projection_back_when_the_newer_one_is_gone,
    nothing_is_left_of_a_version_that_was_replaced,
}

async fn a_raised_version_is_built_beside_while_the_old_one_is_served(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    run(&fleet, Arc::new(Names::version(1))).await;

    let (second, reached, open) = Names::held(2);
    let engine = fleet.engine(vec![second]);
    reached.notified().await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap().name, "acme");
    let status = engine.status().await.unwrap().remove(0);
    assert_eq!((status.version, status.serving_version, status.state), (2, Some(1), State::Rebuilding));
    assert_eq!(status.building, Some(Building { version: 2, checkpoint: 0 }));

    drop(open);
    // Only the new version's code is here, so this position is reached when it has taken over.
    fleet.renamed(id, "acme 2").await;
    fleet.caught_up(&engine).await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap().name, "ACME 2");
    let status = engine.status().await.unwrap().remove(0);
    assert_eq!((status.serving_version, status.state, status.building), (Some(2), State::Running, None));
    engine.shutdown().await;
}

async fn nodes_of_two_versions_serve_together_while_the_new_one_is_built(bench: Bench) {
    let fleet = Fleet::new(bench);
    let old = fleet.engine(vec![Arc::new(Names::version(1))]);
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&old).await;
    let (second, reached, open) = Names::held(2);
    let new = fleet.engine(vec![second]);
    reached.notified().await;
    // The old node goes on folding, and the new node's queries see it.
    fleet.renamed(id, "acme 2").await;
    fleet.caught_up(&new).await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap().name, "acme 2");
    drop(open);
    old.shutdown().await;
    fleet.renamed(id, "acme 3").await;
    fleet.caught_up(&new).await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap(), name(id, "ACME 3", 3));
    new.shutdown().await;
}

async fn a_rebuild_stops_at_poison_and_the_old_version_goes_on_being_served(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.renamed(id, "bad").await;
    let well = fleet.workspace("well").await;
    run(&fleet, Arc::new(Names::version(1))).await;
    let engine = fleet.engine(vec![Names::second_refusing("bad")]);
    let status = halted(&engine).await;
    assert_eq!((status.serving_version, status.checkpoint), (Some(1), 3));
    assert_eq!(status.building, Some(Building { version: 2, checkpoint: 1 }));
    assert!(status.last_error.unwrap().contains("bad is refused"));
    assert_eq!(names::find(fleet.views(), well).await.unwrap().name, "well");
    engine.shutdown().await;
}

async fn a_stopped_rebuild_goes_on_when_the_event_is_skipped(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.renamed(id, "bad").await;
    run(&fleet, Arc::new(Names::version(1))).await;
    let engine = fleet.engine(vec![Names::second_refusing("bad")]);
    let status = halted(&engine).await;
    assert_eq!(status.parked[0].position, 2);
    engine.skip("names", &workspace(id)).await.unwrap();
    let last = fleet.renamed(id, "good").await;
    assert!(engine.wait_for(&["names"], last, PATIENCE).await);
    assert_eq!(names::find(fleet.views(), id).await.unwrap(), name(id, "GOOD", 2));
    engine.shutdown().await;
}

async fn an_older_muster_takes_its_projection_back_when_the_newer_one_is_gone(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    run(&fleet, Arc::new(Names::version(1))).await;
    fleet.renamed(id, "acme 2").await;
    run(&fleet, Arc::new(Names::version(2))).await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap().name, "ACME 2");
    fleet.renamed(id, "acme 3").await;
    run(&fleet, Arc::new(Names::version(1))).await;
    assert_eq!(names::find(fleet.views(), id).await.unwrap(), name(id, "acme 3", 3));
}

async fn nothing_is_left_of_a_version_that_was_replaced(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    run(&fleet, Arc::new(Names::version(1))).await;
    let engine = fleet.engine(vec![Arc::new(Names::version(2))]);
    for n in 0..2 {
        // After the second of these, the registry has certainly been read anew.
        fleet.renamed(id, &format!("acme {n}")).await;
        fleet.caught_up(&engine).await;
    }
    engine.shutdown().await;
    let builds = fleet.views().query(Query::new("select version from projections")).await.unwrap();
    assert_eq!(builds.iter().map(|row| row.int(0).unwrap()).collect::<Vec<_>>(), [2]);
    assert!(fleet.views().query(Query::new("select doc from names__v1_1")).await.is_err());
}

async fn run(fleet: &Fleet, projection: Arc<dyn Projection>) {
    let engine = fleet.engine(vec![projection]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
}

/// Waits until a rebuild has stopped.
async fn halted(engine: &projections::Engine) -> projections::ProjectionStatus {
    let look = async {
        loop {
            let status = engine.status().await.unwrap().remove(0);
            if status.state == State::Halted {
                return status;
            }
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect("the rebuild stops")
}

fn name(id: domain::WorkspaceId, name: &str, facts: i64) -> names::Name {
    names::Name { id: id.0, name: name.into(), facts }
}
