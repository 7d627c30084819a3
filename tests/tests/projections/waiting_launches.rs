//! Launches that wait for their bench, per workspace and bench.

use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};
use projections::errands::{self, WaitingLaunches};
use serde_json::{Value, json};
use store::{NewEvent, StreamId};
use uuid::Uuid;

use crate::fleet::Fleet;

both_stores! {
    one_dead_bench_hides_no_other,
    only_launches_that_wait_long_enough_and_were_not_tried_count,
}

async fn happens(fleet: &Fleet, errand: u128, event_type: &str, fields: Value) {
    let event = NewEvent {
        event_id: Uuid::now_v7(),
        event_type: event_type.to_owned(),
        event_version: "1".to_owned(),
        payload: json!({ event_type: fields }).to_string(),
        metadata: json!({ "actor_type": "system", "actor_id": "test" }).to_string(),
        workspace_id: None,
    };
    fleet.appends(&StreamId::new("errand", Uuid::from_u128(errand)), event).await;
}

async fn ordered(fleet: &Fleet, errand: u128, workspace: u128, bench: &str, kind: &str) {
    let work = match kind {
        "launch" => json!({ "kind": kind, "agent_id": Uuid::from_u128(errand) }),
        kind => json!({ "kind": kind, "task_id": Uuid::from_u128(errand) }),
    };
    let fields = json!({
        "errand_id": Uuid::from_u128(errand), "workspace_id": Uuid::from_u128(workspace), "bench": bench, "work": work,
        "ordered_at": noon(),
    });
    happens(fleet, errand, "ErrandOrdered", fields).await;
}

/// The oldest of each workspace and bench, and how many wait there: a page of two, and all pages after it.
async fn waiting(fleet: &Fleet) -> Vec<(u128, i64)> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let before = noon() + chrono::TimeDelta::minutes(1);
        let page = errands::waiting_launches(fleet.views(), before, after, 2).await.unwrap();
        let Some(last) = page.last() else { return all };
        after = last.oldest.position;
        all.extend(page.iter().map(|WaitingLaunches { oldest, count }| (oldest.id.0.as_u128(), *count)));
    }
}

async fn one_dead_bench_hides_no_other(bench: Bench) {
    let fleet = Fleet::new(bench);
    for errand in 1..=5 {
        ordered(&fleet, errand, 1, "dead", "launch").await;
    }
    ordered(&fleet, 6, 2, "dead", "launch").await;
    ordered(&fleet, 7, 1, "main", "launch").await;
    ordered(&fleet, 8, 2, "dead", "launch").await;
    fleet.project_everything().await;
    assert_eq!(waiting(&fleet).await, [(1, 5), (6, 2), (7, 1)]);
}

async fn only_launches_that_wait_long_enough_and_were_not_tried_count(bench: Bench) {
    let fleet = Fleet::new(bench);
    for errand in 1..=3 {
        ordered(&fleet, errand, errand, "main", "launch").await;
    }
    ordered(&fleet, 4, 4, "main", "merge").await;
    let tried = json!({ "attempt": 1, "error": "No network", "retry_at": noon(), "tried_at": noon() });
    happens(&fleet, 1, "ErrandTried", tried).await;
    happens(&fleet, 2, "ErrandCancelled", json!({ "reason": "No shop", "cancelled_at": noon() })).await;
    fleet.project_everything().await;
    assert_eq!(waiting(&fleet).await, [(3, 1)]);
    let young = errands::waiting_launches(fleet.views(), noon(), 0, 10).await.unwrap();
    assert_eq!(young, [], "nobody waits since before noon");
}
