//! Every event that the log can hold, as its golden file has it, in every projection.

use std::path::Path;

use domain::{EventKind, catalogue};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::offline::rebuild;
use serde_json::json;
use store::{NewEvent, StreamId};
use uuid::Uuid;

use crate::fleet::Fleet;

both_stores! {
    a_rebuild_of_every_event_equals_the_live_rows,
    read_models_thrown_away_come_back_with_every_event,
}

async fn a_rebuild_of_every_event_equals_the_live_rows(bench: Bench) {
    let fleet = Fleet::new(bench);
    write_every_event(&fleet).await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    for projection in projections::all() {
        let name = projection.name().to_owned();
        let report = rebuild(&fleet.log(), fleet.views(), &projection, &mut |_, _| {}).await.unwrap();
        let compared = report.compared.unwrap();
        assert_eq!(compared.differences_total, 0, "{name}");
        assert!(compared.rows_compared > 0, "{name} has no row of any event");
    }
    assert_eq!(fleet.rows().await, before);
}

async fn read_models_thrown_away_come_back_with_every_event(bench: Bench) {
    let mut fleet = Fleet::new(bench);
    write_every_event(&fleet).await;
    fleet.project_everything().await;
    let before = fleet.rows().await;
    fleet.delete_views().await;
    fleet.project_everything().await;
    assert_eq!(fleet.rows().await, before);
}

/// Writes every event of the catalogue: first those that begin a stream, then the others aggregate by aggregate. A tool is
/// called once more at the end, because some read models know only of calls that go on.
async fn write_every_event(fleet: &Fleet) {
    let (mut first, mut others) = (Vec::<EventKind>::new(), Vec::new());
    for kind in catalogue() {
        let begun = first.iter().any(|it| it.aggregate == kind.aggregate);
        if begun { others.push(kind) } else { first.push(kind) }
    }
    let called = catalogue().into_iter().filter(|it| it.event == "ToolCalled");
    for kind in first.into_iter().chain(others).chain(called) {
        let subject = subject_of(kind.aggregate);
        fleet.appends(&StreamId::new(kind.aggregate, Uuid::from_u128(subject)), golden(kind)).await;
    }
}

/// What the golden files are about.
fn subject_of(aggregate: &str) -> u128 {
    match aggregate {
        "user" => 1,
        "workspace" => 2,
        // A repository is its project's, and a scorecard its agent's.
        "project" | "repository" => 3,
        "agent" | "scorecard" | "post" => 4,
        "session" => 10,
        "task" => 11,
        "pull_request" => 12,
        "wiki" => 14,
        "errand" | "tool_call" => 21,
        "epic" | "mail" => 20,
        "decision" => 22,
        "notification" => 23,
        "notification_settings" => 1,
        unknown => panic!("whose id do the golden files of {unknown} have?"),
    }
}

fn golden(kind: EventKind) -> NewEvent {
    let name = format!("{}/{}.v{}.json", kind.aggregate, kind.event, kind.version);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/tests/golden").join(name);
    let user = Uuid::from_u128(1);
    NewEvent {
        event_id: Uuid::now_v7(),
        event_type: kind.event.into(),
        event_version: kind.version.into(),
        payload: std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
        metadata: json!({ "actor_type": "user", "actor_id": user, "command_id": "c-1" }).to_string(),
        workspace_id: (!matches!(kind.aggregate, "user" | "notification_settings")).then(|| Uuid::from_u128(2)),
    }
}
