//! The history of one aggregate, read from its stream: long ones, unreadable events, and bounds.

use domain::WorkspaceId;
use muster_tests::both_stores;
use muster_tests::commits::Build;
use muster_tests::stores::Bench;
use projections::history::{self, Bounds, HistoryError};
use serde_json::json;
use store::{Commit, NewEvent, StreamId};
use uuid::Uuid;

use crate::fleet::{Fleet, renaming, stored, workspace};

both_stores! {
    a_long_history_is_read_a_chunk_at_a_time,
    a_history_ends_where_it_is_told_to,
    more_events_than_are_allowed_are_not_read,
    an_event_that_cannot_be_read_is_shown_and_changes_nothing,
    what_was_never_recorded_is_unknown,
}

const BOUNDS: Bounds = Bounds { events: 10_000 };

/// A workspace that was renamed so often, every time to the number of the event.
async fn renamed(fleet: &Fleet, times: i64) -> WorkspaceId {
    let id = fleet.workspace("acme").await;
    let events = (2..times + 2).map(|n| stored(&renaming(&n.to_string()), id, fleet.owner)).collect();
    fleet.bench.commit(Commit::default().append(&workspace(id), 1, events)).await.unwrap();
    id
}

async fn a_long_history_is_read_a_chunk_at_a_time(bench: Bench) {
    let fleet = Fleet::new(bench);
    // One more than fills chunks.
    let stream = workspace(renamed(&fleet, 2_000).await);
    let page = history::page(&fleet.log(), &stream, i64::MAX, 998, 4, BOUNDS).await.unwrap();
    assert_eq!(
        (page.total, page.steps.iter().map(|it| it.sequence).collect::<Vec<_>>()),
        (2_001, vec![999, 1000, 1001, 1002])
    );
    let changes = json!([{ "field": "name", "before": "1000", "after": "1001" }]);
    assert_eq!(json!(page.steps[2].changes), changes);
    let state = history::state_at(&fleet.log(), &stream, 1_500, BOUNDS).await.unwrap();
    assert_eq!((state.sequence, &state.state["name"]), (1_500, &json!("1500")));
    let newest = history::state_at(&fleet.log(), &stream, i64::MAX, BOUNDS).await.unwrap();
    assert_eq!((newest.sequence, &newest.state["name"]), (2_001, &json!("2001")));
    let between = history::difference(&fleet.log(), &stream, 1_000, 2_001, BOUNDS).await.unwrap();
    assert_eq!(json!(between.changes), json!([{ "field": "name", "before": "1000", "after": "2001" }]));
}

async fn a_history_ends_where_it_is_told_to(bench: Bench) {
    let fleet = Fleet::new(bench);
    let stream = workspace(renamed(&fleet, 20).await);
    for upto in [1, 2, 7, 20, 21, 22] {
        let page = history::page(&fleet.log(), &stream, upto, 0, 100, BOUNDS).await.unwrap();
        assert_eq!((page.total, page.steps.len() as i64), (upto.min(21), upto.min(21)));
    }
    let nothing = history::page(&fleet.log(), &stream, 0, 0, 100, BOUNDS).await.unwrap_err();
    assert!(matches!(nothing, HistoryError::Unknown(_)));
}

async fn more_events_than_are_allowed_are_not_read(bench: Bench) {
    let fleet = Fleet::new(bench);
    let stream = workspace(renamed(&fleet, 20).await);
    let few = Bounds { events: 10 };
    assert_eq!(history::page(&fleet.log(), &stream, i64::MAX, 0, 10, few).await.unwrap().steps.len(), 10);
    let refused = history::page(&fleet.log(), &stream, i64::MAX, 5, 10, few).await.unwrap_err();
    assert!(matches!(refused, HistoryError::TooLong(10)));
    assert_eq!(history::state_at(&fleet.log(), &stream, 10, few).await.unwrap().sequence, 10);
    let refused = history::state_at(&fleet.log(), &stream, 11, few).await.unwrap_err();
    assert!(matches!(refused, HistoryError::TooLong(10)));
}

async fn an_event_that_cannot_be_read_is_shown_and_changes_nothing(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let from_the_future = NewEvent {
        event_type: "WorkspaceTeleported".into(),
        payload: r#"{"WorkspaceTeleported":{}}"#.into(),
        ..stored(&renaming("x"), id, fleet.owner)
    };
    fleet.appends(&workspace(id), from_the_future).await;
    fleet.renamed(id, "after").await;
    let page = history::page(&fleet.log(), &workspace(id), i64::MAX, 0, 10, BOUNDS).await.unwrap();
    assert!(page.steps[1].unreadable.as_ref().unwrap().contains("WorkspaceTeleported"));
    assert_eq!((page.steps[1].event_type.as_str(), page.steps[1].changes.len()), ("WorkspaceTeleported", 0));
    assert_eq!(json!(page.steps[2].changes), json!([{ "field": "name", "before": "acme", "after": "after" }]));
    let state = history::state_at(&fleet.log(), &workspace(id), 3, BOUNDS).await.unwrap();
    assert_eq!((state.unreadable_events, &state.state["name"]), (1, &json!("after")));
}

async fn what_was_never_recorded_is_unknown(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.workspace("acme").await;
    let later = fleet.workspace("later").await;
    let nobody = StreamId::new("workspace", Uuid::now_v7());
    let unknown = history::state_at(&fleet.log(), &nobody, 1, BOUNDS).await.unwrap_err();
    assert!(matches!(unknown, HistoryError::Unknown(stream) if stream == nobody));
    let early = history::state_at(&fleet.log(), &workspace(later), 1, BOUNDS).await.unwrap_err();
    assert!(matches!(early, HistoryError::NotYet { at: 1, first: 2, .. }));
    let since = history::difference(&fleet.log(), &workspace(later), 1, 2, BOUNDS).await.unwrap();
    assert!(since.from.is_none() && since.changes.iter().any(|it| it.field() == "name"));
}
