//! Engines: they follow the log, know how far they are, and never apply a batch twice.

use std::sync::Arc;
use std::time::Duration;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::{Engine, Settings, State, workspaces};
use store::sql::{Database, Query};
use uuid::Uuid;

use crate::fleet::{Fleet, PATIENCE, later};
use crate::names::{self, Names};

both_stores! {
    a_query_sees_a_fact_once_its_position_is_reached,
    a_read_model_of_an_empty_log_is_waited_for,
    engines_that_race_apply_every_fact_once,
    an_engine_that_is_shut_down_leaves_its_work_to_others_at_once,
    a_node_that_does_not_fold_sees_what_the_other_folds,
    what_is_not_for_a_read_model_does_not_stir_it,
    what_was_not_for_a_read_model_is_noted_before_its_engine_ends,
    waiting_for_what_does_not_happen_ends,
    status_tells_how_far_behind_a_projection_is,
    many_rows_of_one_batch_are_loaded_and_written,
    the_planner_knows_tables_that_fill_while_they_are_read,
}

async fn a_query_sees_a_fact_once_its_position_is_reached(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    for n in 0..20 {
        let position = fleet.renamed(id, &format!("acme {n}")).await;
        assert!(engine.wait_for(&[workspaces::NAME, "timeline"], position, PATIENCE).await);
        assert_eq!(workspaces::find(fleet.views(), id).await.unwrap().unwrap().name, format!("acme {n}"));
    }
    engine.shutdown().await;
}

async fn a_read_model_of_an_empty_log_is_waited_for(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    assert!(engine.wait_for(&[workspaces::NAME], 0, PATIENCE).await);
    assert_eq!(workspaces::find(fleet.views(), domain::WorkspaceId(Uuid::now_v7())).await, Ok(None));
    engine.shutdown().await;
}

async fn engines_that_race_apply_every_fact_once(bench: Bench) {
    let fleet = Fleet::new(bench);
    // Leases that end at once, and small batches: both engines work on everything all the time.
    let settings = |owner: &str| Settings {
        owner: owner.into(),
        batch: 3,
        catch_up: 15,
        lease: Duration::from_millis(1),
        ..Settings::default()
    };
    let start = |owner| {
        let names: Arc<dyn projections::Projection> = Arc::new(Names::version(1));
        Engine::start(fleet.log(), fleet.views().clone(), vec![names], settings(owner))
    };
    let (one, other) = (start("one"), start("other"));
    let ids = [fleet.workspace("a").await, fleet.workspace("b").await];
    for n in 0..50 {
        fleet.renamed(ids[n % 2], &format!("name {n}")).await;
    }
    fleet.caught_up(&one).await;
    fleet.caught_up(&other).await;
    for (n, id) in ids.into_iter().enumerate() {
        let row = names::find(fleet.views(), id).await.unwrap();
        assert_eq!((row.name, row.facts), (format!("name {}", 48 + n), 26));
    }
    one.shutdown().await;
    other.shutdown().await;
}

async fn an_engine_that_is_shut_down_leaves_its_work_to_others_at_once(bench: Bench) {
    let fleet = Fleet::new(bench);
    let forever =
        |owner: &str| Settings { owner: owner.into(), lease: Duration::from_secs(3600), ..Settings::default() };
    for owner in ["first", "second", "third"] {
        let engine = Engine::start(fleet.log(), fleet.views().clone(), projections::all(), forever(owner));
        fleet.workspace(owner).await;
        fleet.caught_up(&engine).await;
        assert_eq!(engine.status().await.unwrap()[0].owner.as_deref(), Some(owner));
        engine.shutdown().await;
    }
}

async fn what_is_not_for_a_read_model_does_not_stir_it(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    let stand = |name| engine.stand(&[name]).expect("this node folds");
    let (wiki, workspaces) = (stand("wiki"), stand(workspaces::NAME));
    fleet.renamed(id, "globex").await;
    fleet.caught_up(&engine).await;
    assert_eq!(stand("wiki"), wiki);
    assert!(stand(workspaces::NAME) > workspaces);
    engine.shutdown().await;
}

async fn what_was_not_for_a_read_model_is_noted_before_its_engine_ends(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    for n in 0..5 {
        fleet.renamed(id, &format!("acme {n}")).await;
    }
    fleet.caught_up(&engine).await;
    assert!(engine.status().await.unwrap().iter().all(|it| (it.checkpoint, it.lag_events) == (6, 0)));
    engine.shutdown().await;
    let noted = projections::status(&fleet.log(), fleet.views(), &projections::all()).await.unwrap();
    assert!(noted.iter().all(|it| (it.checkpoint, it.lag_events) == (6, 0)), "{noted:#?}");
}

async fn a_node_that_does_not_fold_sees_what_the_other_folds(bench: Bench) {
    let fleet = Fleet::new(bench);
    let folds = fleet.engine(projections::all());
    fleet.workspace("acme").await;
    fleet.caught_up(&folds).await;
    let follows = Engine::start(fleet.log(), fleet.views().clone(), vec![], Settings::default());
    assert!(follows.status().await.unwrap().is_empty());
    let follows = fleet.engine(projections::all());
    for name in ["one", "two", "three"] {
        let id = fleet.workspace(name).await;
        fleet.caught_up(&follows).await;
        assert!(workspaces::find(fleet.views(), id).await.unwrap().is_some());
    }
    folds.shutdown().await;
    follows.shutdown().await;
}

async fn waiting_for_what_does_not_happen_ends(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    assert!(!engine.wait_for(&[workspaces::NAME], 2, Duration::from_millis(20)).await);
    assert!(!engine.wait_for(&["unheard_of"], 1, PATIENCE).await);
    assert!(engine.wait_for(&[], 2, Duration::ZERO).await);
    engine.shutdown().await;
}

async fn status_tells_how_far_behind_a_projection_is(bench: Bench) {
    let fleet = Fleet::new(bench);
    let status = projections::status(&fleet.log(), fleet.views(), &projections::all()).await.unwrap();
    assert_eq!(status.len(), projections::all().len());
    assert!(status.iter().all(|it| it.serving_version.is_none()));
    let id = fleet.workspace("acme").await;
    fleet.project_everything().await;
    fleet.renamed(id, "acme 2").await;
    fleet.renamed(id, "acme 3").await;
    fleet.bench.clock.set(later(1));
    let status = projections::status(&fleet.log(), fleet.views(), &projections::all()).await.unwrap();
    for it in status {
        assert_eq!((it.serving_version, it.checkpoint, it.head), (Some(it.version), 1, 3));
        assert_eq!((it.lag_events, it.lag_seconds), (2, 60.0));
        assert_eq!((it.state, it.owner, it.last_error), (State::Running, None, None));
    }
}

async fn many_rows_of_one_batch_are_loaded_and_written(bench: Bench) {
    let fleet = Fleet::new(bench);
    let mut ids = Vec::new();
    for n in 0..345 {
        ids.push(fleet.workspace(&format!("w-{n}")).await);
    }
    fleet.project_everything().await;
    for (n, id) in ids.iter().enumerate() {
        fleet.renamed(*id, &format!("renamed {n}")).await;
    }
    fleet.project_everything().await;
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(workspaces::find(fleet.views(), id).await.unwrap().unwrap().name, format!("renamed {n}"));
    }
}

async fn the_planner_knows_tables_that_fill_while_they_are_read(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    for n in 0..1_000 {
        fleet.renamed(id, &format!("acme {n}")).await;
    }
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    // SQLite needs no such knowledge: every look-up has an index made for it.
    if let Database::Postgres(_) = fleet.views() {
        let known = Query::new(
            "select reltuples::bigint from pg_class where relname like 'timeline\\_\\_v%' and relkind = 'r'",
        );
        let rows = fleet.views().query(known).await.unwrap();
        assert!(rows.iter().all(|row| row.int(0).unwrap() >= 900), "{rows:?}");
        assert_eq!(rows.len(), 2, "what is indexed, and the documents");
    }
}
