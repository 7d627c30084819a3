//! Rebuilding and verifying from the command line.

use std::sync::Arc;

use domain::WorkspaceId;
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::offline::{OfflineError, Terms, rebuild, rebuild_on, verify};
use projections::{Projection, projects::Projects, timeline::Timeline, workspaces::Workspaces};
use store::sql::Query;
use uuid::Uuid;

use crate::fleet::{Fleet, PATIENCE};
use crate::names::{self, Names};

both_stores! {
    a_rebuild_equals_the_live_rows,
    a_rebuild_that_differs_is_not_served_unless_it_is_accepted,
    a_rebuild_compares_what_is_served_where_it_stands,
    an_unfinished_build_that_may_be_wrong_is_not_continued,
    a_rebuild_beside_steady_writes_is_compared_and_comes_to_an_end,
    a_rebuild_stops_at_poison_and_leaves_what_is_served,
    a_rebuild_beside_a_running_engine_loses_nothing,
    verify_finds_a_wrong_a_missing_and_an_extra_row_and_names_them,
    verify_finds_a_wrong_column_beside_the_record,
    verify_changes_nothing_and_reports_progress,
    verify_leaves_out_what_is_parked,
    verify_says_when_there_is_nothing_to_verify,
}

async fn a_rebuild_equals_the_live_rows(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    fleet.project(workspace, "rocket").await;
    fleet.agent(workspace, None, "dev-1").await;
    fleet.renamed(workspace, "Acme Inc.").await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    for projection in projections::all() {
        let report = rebuild(&fleet.log(), fleet.views(), &projection, &mut |_, _| {}).await.unwrap();
        assert_eq!((report.position, report.compared.unwrap().differences_total), (4, 0));
    }
    assert_eq!(fleet.rows().await, before);
    // And once more, beside what the first rebuild made; then the engine goes on from there.
    rebuild(&fleet.log(), fleet.views(), &timeline(), &mut |_, _| {}).await.unwrap();
    fleet.renamed(workspace, "Acme Ltd.").await;
    fleet.project_everything().await;
    assert!(verify(&fleet.log(), fleet.views(), &timeline(), &mut |_, _| {}).await.unwrap().is_clean());
}

async fn a_rebuild_that_differs_is_not_served_unless_it_is_accepted(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    fleet.tamper("delete from workspaces__v1_1".into()).await;
    let wrong = fleet.rows().await;
    let report = rebuild(&fleet.log(), fleet.views(), &workspaces(), &mut |_, _| {}).await.unwrap();
    assert!(!report.took_over);
    assert_eq!(report.compared.unwrap().differences[0].key, id.to_string());
    assert_eq!(fleet.rows().await, wrong);
    let terms = Terms { accept_differences: true, ..Terms::default() };
    let report = rebuild_on(terms, &fleet.log(), fleet.views(), &[workspaces()], &mut |_, _| {}).await.unwrap();
    let report = report[0].as_ref().unwrap();
    assert_eq!((report.took_over, report.compared.as_ref().unwrap().differences_total), (true, 1));
    assert_eq!(fleet.rows().await, before);
}

/// What is served stands still somewhere before the head: it is compared where it stands.
async fn a_rebuild_compares_what_is_served_where_it_stands(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.project_everything().await;
    fleet.renamed(id, "Acme Inc.").await;
    let report = rebuild(&fleet.log(), fleet.views(), &workspaces(), &mut |_, _| {}).await.unwrap();
    let compared = report.compared.unwrap();
    assert_eq!((report.took_over, report.position), (true, 2));
    assert_eq!((compared.position, compared.rows_compared, compared.differences_total), (1, 1, 0));
}

async fn an_unfinished_build_that_may_be_wrong_is_not_continued(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.project(WorkspaceId(Uuid::now_v7()), "rocket").await;
    fleet.workspace("acme").await;
    let engine = fleet.engine(vec![workspaces()]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    let epoch = fleet.log().head().await.unwrap().epoch;
    let given_up = "insert into parking_decisions
            (name, version, position, decision, aggregate_type, aggregate_id, error, decided_at)
         values ('workspaces', 1, 1, 'skipped', 'project', 'x', 'x', 0)";
    // Of another life of the log, stopped at an event, further than the log, and with an event that was given up since.
    for (build, (checkpoint, epoch, state)) in (10..).step_by(10).zip([
        (1, epoch + 1, "rebuilding"),
        (1, epoch, "halted"),
        (3, epoch, "rebuilding"),
        (1, epoch, "rebuilding"),
    ]) {
        if build == 40 {
            fleet.tamper(given_up.into()).await;
        }
        fleet.tamper(format!("create table workspaces__v1_{build} (id text)")).await;
        fleet
            .tamper(format!(
                "insert into projections (name, build, version, tables, checkpoint, epoch, revision, serving, state)
                 values ('workspaces', {build}, 1, 'workspaces', {checkpoint}, {epoch}, 1, 0, '{state}')"
            ))
            .await;
        let report = rebuild(&fleet.log(), fleet.views(), &workspaces(), &mut |_, _| {}).await.unwrap();
        assert_eq!((report.resumed_from, report.took_over, report.position), (0, true, 2), "{build}");
        assert!(fleet.views().query(Query::new(format!("select id from workspaces__v1_{build}"))).await.is_err());
    }
}

async fn a_rebuild_beside_steady_writes_is_compared_and_comes_to_an_end(bench: Bench) {
    let fleet = Fleet::new(bench);
    let names: Arc<dyn Projection> = Arc::new(Names::version(1));
    let engine = fleet.engine(vec![names.clone()]);
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    let log = fleet.log();
    let mut silent = |_, _| {};
    let rebuilding = rebuild(&log, fleet.views(), &names, &mut silent);
    let mut rebuilding = std::pin::pin!(tokio::time::timeout(PATIENCE, rebuilding));
    // Nobody stops writing before the rebuild has ended.
    let mut written = 0;
    let report = loop {
        let name = format!("name {written}");
        tokio::select! {
            report = &mut rebuilding => break report.expect("the rebuild ends").unwrap(),
            _ = fleet.renamed(id, &name) => written += 1,
        }
    };
    assert!(report.took_over && report.compared.unwrap().is_clean());
    engine.shutdown().await;
    assert!(verify(&fleet.log(), fleet.views(), &names, &mut |_, _| {}).await.unwrap().is_clean());
}

async fn a_rebuild_stops_at_poison_and_leaves_what_is_served(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, refused) = Names::refusing(&[]);
    let id = fleet.workspace("acme").await;
    let engine = fleet.engine(vec![names.clone()]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    refused.lock().unwrap().push("acme".into());
    let refusal = rebuild(&fleet.log(), fleet.views(), &names, &mut |_, _| {}).await.unwrap_err();
    assert!(matches!(refusal, OfflineError::Poison(poison) if poison.position == 1));
    assert_eq!(names::find(fleet.views(), id).await.unwrap().name, "acme");
}

async fn a_rebuild_beside_a_running_engine_loses_nothing(bench: Bench) {
    let fleet = Fleet::new(bench);
    let names: Arc<dyn Projection> = Arc::new(Names::version(1));
    let engine = fleet.engine(vec![names.clone()]);
    let id = fleet.workspace("acme").await;
    let work = async {
        for n in 0..40 {
            fleet.renamed(id, &format!("name {n}")).await;
        }
    };
    let log = fleet.log();
    fleet.caught_up(&engine).await;
    let mut silent = |_, _| {};
    let (report, ()) = tokio::join!(rebuild(&log, fleet.views(), &names, &mut silent), work);
    report.unwrap();
    fleet.caught_up(&engine).await;
    let row = names::find(fleet.views(), id).await.unwrap();
    assert_eq!((row.name.as_str(), row.facts), ("name 39", 41));
    engine.shutdown().await;
}

async fn verify_finds_a_wrong_a_missing_and_an_extra_row_and_names_them(bench: Bench) {
    let fleet = Fleet::new(bench);
    let wrong = fleet.workspace("wrong").await;
    let missing = fleet.workspace("missing").await;
    fleet.workspace("right").await;
    fleet.project_everything().await;
    let extra = Uuid::max();
    fleet
        .tamper(format!("update workspaces__v1_1 set doc = replace(doc, 'wrong', 'cheat') where id = '{wrong}'"))
        .await;
    fleet
        .tamper(format!(
            "insert into workspaces__v1_1 (id, owner_id, created_at, deleted, doc)
             select '{extra}', owner_id, created_at, deleted, doc from workspaces__v1_1 where id = '{missing}'"
        ))
        .await;
    fleet.tamper(format!("delete from workspaces__v1_1 where id = '{missing}'")).await;

    let report = verify(&fleet.log(), fleet.views(), &workspaces(), &mut |_, _| {}).await.unwrap();
    assert_eq!((report.rows_compared, report.differences_total, report.position), (4, 3, 3));
    let [first, second, third] = report.differences.as_slice() else { panic!("three differences") };
    assert_eq!((first.table.as_str(), &first.key), ("workspaces", &wrong.to_string()));
    assert_eq!(first.served.as_ref().unwrap()["doc"]["name"], "cheat");
    assert_eq!(first.rebuilt.as_ref().unwrap()["doc"]["name"], "wrong");
    assert_eq!((&second.key, second.served.is_none(), second.rebuilt.is_some()), (&missing.to_string(), true, true));
    assert_eq!((&third.key, third.served.is_some(), third.rebuilt.is_none()), (&extra.to_string(), true, true));
}

async fn verify_finds_a_wrong_column_beside_the_record(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    fleet.project(workspace, "rocket").await;
    fleet.project_everything().await;
    fleet.tamper("update projects__v1_1 set active = 0".into()).await;
    let report = verify(&fleet.log(), fleet.views(), &projects(), &mut |_, _| {}).await.unwrap();
    assert_eq!(report.differences[0].served.as_ref().unwrap()["active"], 0);
    assert_eq!(report.differences[0].rebuilt.as_ref().unwrap()["active"], 1);
}

async fn verify_changes_nothing_and_reports_progress(bench: Bench) {
    let fleet = Fleet::new(bench);
    for n in 0..10 {
        fleet.workspace(&format!("w-{n}")).await;
    }
    fleet.project_everything().await;
    fleet.tamper("delete from workspaces__v1_1".into()).await;
    let before = fleet.rows().await;
    let mut told = Vec::new();
    let report = verify(&fleet.log(), fleet.views(), &workspaces(), &mut |done, total| told.push((done, total))).await;
    assert_eq!(report.unwrap().differences_total, 10);
    assert_eq!(told.last(), Some(&(10, 10)));
    assert_eq!(fleet.rows().await, before);
}

async fn verify_leaves_out_what_is_parked(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (names, _) = Names::refusing(&["bad"]);
    let id = fleet.workspace("acme").await;
    fleet.renamed(id, "bad").await;
    fleet.renamed(id, "good").await;
    let engine = fleet.engine(vec![names.clone()]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    let report = verify(&fleet.log(), fleet.views(), &names, &mut |_, _| {}).await.unwrap();
    assert_eq!((report.parked, report.is_clean()), (1, true));
}

async fn verify_says_when_there_is_nothing_to_verify(bench: Bench) {
    let fleet = Fleet::new(bench);
    let first: Arc<dyn Projection> = Arc::new(Names::version(1));
    let second: Arc<dyn Projection> = Arc::new(Names::version(2));
    let refusal = verify(&fleet.log(), fleet.views(), &first, &mut |_, _| {}).await.unwrap_err();
    assert_eq!(refusal, OfflineError::NotServed("names".into()));
    let engine = fleet.engine(vec![first]);
    fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    let refusal = verify(&fleet.log(), fleet.views(), &second, &mut |_, _| {}).await.unwrap_err();
    assert_eq!(refusal, OfflineError::OtherVersion { name: "names".into(), served: 1, known: 2 });
}

fn workspaces() -> Arc<dyn Projection> {
    Arc::new(Workspaces)
}

fn projects() -> Arc<dyn Projection> {
    Arc::new(Projects)
}

fn timeline() -> Arc<dyn Projection> {
    Arc::new(Timeline)
}
