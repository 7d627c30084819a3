//! Poison: a stream that cannot be applied is parked, reported, and retried or skipped on record.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::parking::{self, ParkingError};
use projections::{Projection, State, workspaces};
use store::NewEvent;
use store::sql::Query;

use crate::fleet::{Fleet, stored, workspace};
use crate::names::{self, Names};

both_stores! {
    poison_parks_only_its_stream_and_only_where_it_is_poison,
    a_fold_that_panics_is_poison,
    an_event_that_cannot_be_decoded_is_poison,
    a_retried_stream_is_applied_from_its_first_parked_event,
    a_retry_that_fails_changes_nothing,
    a_skipped_event_is_given_up_on_record_and_the_rest_is_applied,
    a_skipped_event_stays_skipped_in_a_rebuild,
    a_parked_stream_can_be_retried_while_the_engine_works,
    what_is_not_parked_cannot_be_retried,
}

async fn poison_parks_only_its_stream_and_only_where_it_is_poison(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let engine = fleet.engine(vec![names, Arc::new(workspaces::Workspaces)]);
    let (sick, well) = (fleet.workspace("sick").await, fleet.workspace("well").await);
    let poison = fleet.renamed(sick, "bad").await;
    fleet.renamed(sick, "better").await;
    fleet.renamed(well, "fine").await;
    fleet.caught_up(&engine).await;
    fleet.renamed(sick, "best").await;
    fleet.caught_up(&engine).await;

    assert_eq!(names::find(fleet.views(), sick).await.unwrap().name, "sick");
    assert_eq!(names::find(fleet.views(), well).await.unwrap().name, "fine");
    assert_eq!(workspaces::find(fleet.views(), sick).await.unwrap().unwrap().name, "best");
    let status = engine.status().await.unwrap();
    let [names, others] = status.as_slice() else { panic!("two projections") };
    let [parked] = names.parked.as_slice() else { panic!("one parked stream") };
    assert_eq!((&parked.stream, parked.position, parked.sequence, parked.held), (&workspace(sick), poison, 2, 3));
    assert!(parked.error.contains("bad is refused"), "{}", parked.error);
    assert_eq!((names.state, names.lag_events), (State::Running, 0));
    assert!(names.last_error.as_ref().unwrap().contains(&format!("position {poison}")));
    assert_eq!((others.parked.len(), &others.last_error), (0, &None));
    engine.shutdown().await;
}

async fn a_fold_that_panics_is_poison(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(vec![Arc::new(Names::version(1))]);
    let (sick, well) = (fleet.workspace("panic").await, fleet.workspace("well").await);
    fleet.caught_up(&engine).await;
    assert_eq!(names::find(fleet.views(), sick).await, None);
    assert_eq!(names::find(fleet.views(), well).await.unwrap().name, "well");
    let status = engine.status().await.unwrap();
    assert!(status[0].parked[0].error.contains("a fold with a bug"), "{status:?}");
    engine.shutdown().await;
}

async fn an_event_that_cannot_be_decoded_is_poison(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let from_the_future = NewEvent {
        event_type: "WorkspaceTeleported".into(),
        payload: r#"{"WorkspaceTeleported":{}}"#.into(),
        ..stored(&crate::fleet::renaming("x"), id, fleet.owner)
    };
    let position = fleet.appends(&workspace(id), from_the_future).await;
    let engine = fleet.engine(projections::all());
    fleet.caught_up(&engine).await;
    for status in engine.status().await.unwrap() {
        let reads_it = ["workspaces", "timeline", "lineage"].contains(&status.name.as_str());
        let expected = if reads_it { vec![position] } else { vec![] };
        assert_eq!(status.parked.iter().map(|it| it.position).collect::<Vec<_>>(), expected, "{}", status.name);
    }
    engine.shutdown().await;
}

/// A stream of three facts whose second one is refused.
async fn parked(fleet: &Fleet, names: &Arc<dyn Projection>) -> domain::WorkspaceId {
    let id = fleet.workspace("sick").await;
    fleet.renamed(id, "bad").await;
    fleet.renamed(id, "good").await;
    let engine = fleet.engine(vec![names.clone()]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    id
}

async fn a_retried_stream_is_applied_from_its_first_parked_event(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, refused) = Names::refusing(&["bad"]);
    let id = parked(&fleet, &names).await;
    refused.lock().unwrap().clear();
    let done = parking::retry(&fleet.log(), fleet.views(), &names, &workspace(id)).await.unwrap();
    assert_eq!((done.applied, done.skipped), (2, vec![]));
    let row = names::find(fleet.views(), id).await.unwrap();
    assert_eq!((row.name.as_str(), row.facts), ("good", 3));
    let status = projections::status(&fleet.log(), fleet.views(), &[names]).await.unwrap();
    assert_eq!((status[0].parked.len(), &status[0].last_error), (0, &None));
    assert_eq!(decisions(&fleet).await, [(2, "retried".to_owned())]);
}

async fn a_retry_that_fails_changes_nothing(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, refused) = Names::refusing(&["bad"]);
    let id = parked(&fleet, &names).await;
    *refused.lock().unwrap() = vec!["good".to_owned()];
    let refusal = parking::retry(&fleet.log(), fleet.views(), &names, &workspace(id)).await.unwrap_err();
    assert!(matches!(refusal, ParkingError::StillPoison(poison) if poison.position == 3));
    assert_eq!(names::find(fleet.views(), id).await.unwrap().facts, 1);
    let status = projections::status(&fleet.log(), fleet.views(), &[names]).await.unwrap();
    assert_eq!(status[0].parked[0].position, 2);
    assert_eq!(decisions(&fleet).await, []);
}

async fn a_skipped_event_is_given_up_on_record_and_the_rest_is_applied(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let id = parked(&fleet, &names).await;
    let done = parking::skip(&fleet.log(), fleet.views(), &names, &workspace(id)).await.unwrap();
    assert_eq!((done.applied, done.skipped), (1, vec![2]));
    let row = names::find(fleet.views(), id).await.unwrap();
    assert_eq!((row.name.as_str(), row.facts), ("good", 2));
    assert_eq!(decisions(&fleet).await, [(2, "skipped".to_owned())]);
}

async fn a_skipped_event_stays_skipped_in_a_rebuild(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let id = parked(&fleet, &names).await;
    parking::skip(&fleet.log(), fleet.views(), &names, &workspace(id)).await.unwrap();
    let report = projections::offline::rebuild(&fleet.log(), fleet.views(), &names, &mut |_, _| {}).await.unwrap();
    assert!(report.compared.unwrap().is_clean());
    assert_eq!(names::find(fleet.views(), id).await.unwrap().facts, 2);
}

async fn a_parked_stream_can_be_retried_while_the_engine_works(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, refused) = Names::refusing(&["bad"]);
    let engine = fleet.engine(vec![names]);
    let id = fleet.workspace("sick").await;
    fleet.renamed(id, "bad").await;
    fleet.caught_up(&engine).await;
    refused.lock().unwrap().clear();
    let log = fleet.log();
    let work = async {
        for n in 0..30 {
            fleet.renamed(id, &format!("name {n}")).await;
        }
    };
    let stream = workspace(id);
    let (done, ()) = tokio::join!(engine.retry("names", &stream), work);
    assert!(done.unwrap().applied >= 1);
    fleet.caught_up(&engine).await;
    let row = names::find(fleet.views(), id).await.unwrap();
    assert_eq!((row.name.as_str(), row.facts), ("name 29", 32));
    assert_eq!(log.head().await.unwrap().position, 32);
    engine.shutdown().await;
}

async fn what_is_not_parked_cannot_be_retried(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    let stream = workspace(id);
    let refusal = engine.retry("workspaces", &stream).await.unwrap_err();
    assert_eq!(refusal, ParkingError::NotParked("workspaces".into(), stream.clone()));
    let refusal = engine.skip("unheard_of", &stream).await.unwrap_err();
    assert_eq!(refusal, ParkingError::UnknownProjection("unheard_of".into()));
    engine.shutdown().await;
}

async fn decisions(fleet: &Fleet) -> Vec<(i64, String)> {
    let query = Query::new("select position, decision from parking_decisions order by position");
    let rows = fleet.views().query(query).await.unwrap();
    rows.iter().map(|row| (row.int(0).unwrap(), row.text(1).unwrap().to_owned())).collect()
}
