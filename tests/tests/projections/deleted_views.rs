//! Read models can be thrown away: they come back as they were.

use muster_tests::both_stores;
use muster_tests::stores::Bench;

use crate::fleet::Fleet;

both_stores! {
    deleted_views_come_back_equal,
    views_of_another_life_of_the_log_are_built_anew,
    views_that_are_ahead_of_the_log_are_built_anew,
}

async fn history(fleet: &Fleet) {
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    let agent = fleet.agent(workspace, Some(project), "dev-1").await;
    fleet.status_changed(workspace, agent, domain::agent::AgentStatus::Probation).await;
    fleet.renamed(workspace, "Acme Inc.").await;
}

async fn deleted_views_come_back_equal(bench: Bench) {
    let mut fleet = Fleet::new(bench);
    history(&fleet).await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    assert!(before.len() >= 11, "{before:#?}");
    fleet.delete_views().await;
    fleet.project_everything().await;
    assert_eq!(fleet.rows().await, before);
}

async fn views_of_another_life_of_the_log_are_built_anew(bench: Bench) {
    let fleet = Fleet::new(bench);
    history(&fleet).await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    fleet.tamper("update projections set epoch = epoch - 1".into()).await;
    fleet.tamper("delete from workspaces__v1_1".into()).await;
    fleet.project_everything().await;
    assert_eq!(fleet.rows().await, before);
}

async fn views_that_are_ahead_of_the_log_are_built_anew(bench: Bench) {
    let fleet = Fleet::new(bench);
    history(&fleet).await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    fleet.tamper("update projections set checkpoint = 99".into()).await;
    let engine = fleet.engine(projections::all());
    // A stale answer would be there at once; the true one only when everything is built anew.
    fleet.workspace("after").await;
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    let after = fleet.rows().await;
    assert_eq!(after.len(), before.len() + 4);
    assert!(before.iter().all(|row| after.contains(row)));
}
