//! The auditor: it finds rows that the log does not say, and nothing else.

use std::time::Duration;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::auditor::{Auditor, Pace};
use projections::offline::{Terms, rebuild_on};

use crate::fleet::Fleet;

both_stores! {
    a_wrong_row_is_counted_until_it_is_right_again,
    a_missing_workspace_is_found_by_its_events,
    rows_that_move_on_are_no_drift,
    a_workspace_that_is_too_long_is_left_to_verify,
}

async fn a_wrong_row_is_counted_until_it_is_right_again(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let other = fleet.workspace("other").await;
    fleet.project(id, "rocket").await;
    fleet.project_everything().await;
    let mut auditor = auditor(&fleet, 1000);
    look_at_all(&mut auditor).await;
    assert_eq!(drift(&auditor), 0);
    fleet.tamper("update projects__v1_1 set active = 0".into()).await;
    fleet
        .tamper(format!("update workspaces__v1_1 set doc = replace(doc, 'other', 'cheat') where id = '{other}'"))
        .await;
    look_at_all(&mut auditor).await;
    assert_eq!((auditor.drift("projects"), auditor.drift("workspaces"), drift(&auditor)), (1, 1, 2));
    let terms = Terms { accept_differences: true, ..Terms::default() };
    for end in rebuild_on(terms, &fleet.log(), fleet.views(), &projections::all(), &mut |_, _| {}).await.unwrap() {
        end.unwrap();
    }
    look_at_all(&mut auditor).await;
    assert_eq!(drift(&auditor), 0);
}

async fn a_missing_workspace_is_found_by_its_events(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.workspace("acme").await;
    fleet.project_everything().await;
    fleet.tamper("delete from workspaces__v1_1".into()).await;
    let mut auditor = auditor(&fleet, 1000);
    look_at_all(&mut auditor).await;
    assert_eq!((auditor.drift("workspaces"), drift(&auditor)), (1, 1));
}

async fn rows_that_move_on_are_no_drift(bench: Bench) {
    let fleet = Fleet::new(bench);
    let engine = fleet.engine(projections::all());
    let id = fleet.workspace("acme").await;
    fleet.caught_up(&engine).await;
    let mut auditor = auditor(&fleet, 100_000);
    {
        let looking = look_at_all(&mut auditor);
        let mut looking = std::pin::pin!(looking);
        let mut n = 0;
        loop {
            let name = format!("name {n}");
            tokio::select! {
                () = &mut looking => break,
                _ = fleet.renamed(id, &name) => n += 1,
            }
        }
        assert!(n > 0);
    }
    assert_eq!(drift(&auditor), 0);
    engine.shutdown().await;
}

async fn a_workspace_that_is_too_long_is_left_to_verify(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.renamed(id, "Acme Inc.").await;
    fleet.project_everything().await;
    fleet.tamper("delete from workspaces__v1_1".into()).await;
    let mut short = auditor(&fleet, 1);
    look_at_all(&mut short).await;
    assert_eq!(drift(&short), 0);
    let mut long = auditor(&fleet, 2);
    look_at_all(&mut long).await;
    assert_eq!(drift(&long), 1);
}

fn auditor(fleet: &Fleet, most_events: i64) -> Auditor {
    let pace = Pace { every: Duration::from_secs(3600), breath: Duration::ZERO, most_events };
    Auditor::new(fleet.log(), fleet.views().clone(), projections::all(), pace)
}

/// Looks so often that each of a few workspaces had its turn, twice.
async fn look_at_all(auditor: &mut Auditor) {
    for _ in 0..8 {
        auditor.look_once().await.unwrap();
    }
}

fn drift(auditor: &Auditor) -> usize {
    projections::all().iter().map(|it| auditor.drift(it.name())).sum()
}
