//! A purge leaves no read model that was made of text which is gone, not even one that cannot be built again.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::offline::{purge, verify};
use projections::{Projection, parking, workspaces};
use store::sql::Query;

use crate::fleet::{Fleet, workspace};
use crate::names::{self, Names};

both_stores! {
    a_purge_builds_everything_anew_beside_a_live_engine,
    a_read_model_that_cannot_be_built_is_dropped_until_an_engine_builds_it,
    what_was_noted_of_parked_events_loses_its_words,
}

async fn a_purge_builds_everything_anew_beside_a_live_engine(bench: Bench) {
    let fleet = Fleet::new(bench);
    let projections = projections::all();
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    let before = builds(&fleet).await;
    let report = purge(&fleet.log(), fleet.views(), &projections, id.0, &mut |_, _| {}).await.unwrap();
    assert_eq!((report.rebuilt.len(), report.dropped.len()), (projections.len(), 0), "{report:#?}");
    let after = builds(&fleet).await;
    assert_eq!(after.len(), projections.len());
    assert!(after.iter().all(|it| !before.contains(it)), "nothing of the old ones is left: {after:?}");
    // The engine goes on with what it finds.
    fleet.renamed(id, "afterwards").await;
    fleet.caught_up(&engine).await;
    assert_eq!(workspaces::find(fleet.views(), id).await.unwrap().unwrap().name, "afterwards");
    for projection in &projections {
        assert!(verify(&fleet.log(), fleet.views(), projection, &mut |_, _| {}).await.unwrap().is_clean());
    }
    engine.shutdown().await;
}

async fn a_read_model_that_cannot_be_built_is_dropped_until_an_engine_builds_it(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let both: Vec<Arc<dyn Projection>> = vec![names, Arc::new(workspaces::Workspaces)];
    let (sick, well) = (fleet.workspace("sick").await, fleet.workspace("well").await);
    fleet.renamed(sick, "bad").await;
    let engine = fleet.engine(both.clone());
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    let report = purge(&fleet.log(), fleet.views(), &both, sick.0, &mut |_, _| {}).await.unwrap();
    assert_eq!(report.rebuilt, [workspaces::NAME]);
    assert!(report.dropped["names"].contains("bad is refused"), "{report:#?}");
    let parked = Query::new("select count(*) from parked_streams");
    assert_eq!(fleet.views().first(parked).await.unwrap().unwrap().int(0).unwrap(), 0);
    assert_eq!(builds(&fleet).await.len(), 1);

    let engine = fleet.engine(both);
    fleet.caught_up(&engine).await;
    assert_eq!(names::find(fleet.views(), well).await.unwrap().name, "well");
    assert_eq!(engine.status().await.unwrap()[0].parked.len(), 1);
    engine.shutdown().await;
}

async fn what_was_noted_of_parked_events_loses_its_words(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let both = vec![names.clone()];
    let (sick, other) = (fleet.workspace("sick").await, fleet.workspace("other").await);
    let erased = fleet.renamed(sick, "bad").await;
    let kept = fleet.renamed(other, "bad").await;
    let engine = fleet.engine(both.clone());
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    for id in [sick, other] {
        parking::skip(&fleet.log(), fleet.views(), &names, &workspace(id)).await.unwrap();
    }
    purge(&fleet.log(), fleet.views(), &both, sick.0, &mut |_, _| {}).await.unwrap();
    let noted = Query::new("select position, error from parking_decisions order by position");
    let noted = fleet.views().query(noted).await.unwrap();
    let noted: Vec<_> = noted.iter().map(|row| (row.int(0).unwrap(), row.text(1).unwrap() == "[erased]")).collect();
    assert_eq!(noted, [(erased, true), (kept, false)]);
}

/// The builds that there are, by name and number.
async fn builds(fleet: &Fleet) -> Vec<(String, i64)> {
    let rows = fleet.views().query(Query::new("select name, build from projections order by name")).await.unwrap();
    rows.iter().map(|row| (row.text(0).unwrap().to_owned(), row.int(1).unwrap())).collect()
}
