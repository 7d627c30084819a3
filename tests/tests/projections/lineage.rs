//! Whose an event is and what it came from: the events of workspaces, and causes followed both ways.

use domain::WorkspaceId;
use muster_tests::both_stores;
use muster_tests::commits::Build;
use muster_tests::stores::Bench;
use projections::lineage::{self, Bounds, Cut, Relation, Tree};
use serde_json::json;
use store::{Commit, NewEvent};
use uuid::Uuid;

use crate::fleet::{Fleet, renaming, stored, workspace};

both_stores! {
    the_events_of_workspaces_are_found_in_the_order_of_the_log,
    what_one_command_recorded_hangs_on_its_first_event,
    reactions_to_reactions_are_followed_both_ways,
    causes_that_run_in_a_circle_come_to_an_end,
    an_event_that_was_not_recorded_has_no_tree,
}

const BOUNDS: Bounds = Bounds { depth: 20, events: 100 };

/// A renaming by a command, because of an event.
fn caused(of: WorkspaceId, fleet: &Fleet, command: &str, cause: Option<Uuid>) -> NewEvent {
    let metadata = json!({ "actor_type": "system", "command_id": command, "causation_id": cause });
    NewEvent { metadata: metadata.to_string(), ..stored(&renaming(command), of, fleet.owner) }
}

/// Positions with how each hangs on which.
fn shape(tree: &Tree) -> Vec<(i64, Option<(Relation, i64)>)> {
    let parent = |n: usize| tree.nodes[n].position;
    let of = |it: &lineage::Node| (it.position, it.relation.zip(it.parent.map(parent)));
    tree.nodes.iter().map(of).collect()
}

async fn causes(fleet: &Fleet, position: i64) -> Tree {
    lineage::causes(&fleet.log(), fleet.views(), position, BOUNDS).await.unwrap().unwrap()
}

async fn effects(fleet: &Fleet, position: i64) -> Tree {
    lineage::effects(&fleet.log(), fleet.views(), position, BOUNDS).await.unwrap().unwrap()
}

async fn the_events_of_workspaces_are_found_in_the_order_of_the_log(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (a, b) = (fleet.workspace("a").await, fleet.workspace("b").await);
    let hidden = fleet.workspace("hidden").await;
    for n in 0..3 {
        for id in [b, hidden, a] {
            fleet.renamed(id, &format!("{n}")).await;
        }
    }
    fleet.project_everything().await;
    let found = async |of: &[WorkspaceId], after, upto, limit| {
        lineage::positions_of(fleet.views(), of, after, upto, limit).await.unwrap()
    };
    assert_eq!(found(&[a], 0, 100, 100).await, [1, 6, 9, 12]);
    assert_eq!(found(&[a, b], 0, 100, 100).await, [1, 2, 4, 6, 7, 9, 10, 12]);
    assert_eq!(found(&[b, a], 2, 10, 3).await, [4, 6, 7]);
    let many: Vec<WorkspaceId> = (0..150).map(|_| WorkspaceId(Uuid::now_v7())).chain([a, b]).collect();
    assert_eq!(found(&many, 2, 10, 100).await, [4, 6, 7, 9, 10]);
    assert!(found(&[], 0, 100, 100).await.is_empty());
    let count = async |of: &[WorkspaceId], upto| lineage::count_of(fleet.views(), of, upto).await.unwrap();
    assert_eq!((count(&[a], 100).await, count(&[a, b], 9).await, count(&[], 9).await), (4, 6, 0));
}

async fn what_one_command_recorded_hangs_on_its_first_event(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let events = (0..3).map(|_| caused(id, &fleet, "together", None)).collect();
    fleet.bench.commit(Commit::default().append(&workspace(id), 1, events)).await.unwrap();
    // The same id elsewhere in the log is somebody else's.
    let other = vec![caused(id, &fleet, "other", None)];
    fleet.bench.commit(Commit::default().append(&workspace(id), 4, other)).await.unwrap();
    let again = vec![caused(id, &fleet, "together", None)];
    fleet.bench.commit(Commit::default().append(&workspace(id), 5, again)).await.unwrap();
    fleet.project_everything().await;
    let on_second = Some((Relation::Command, 2));
    assert_eq!(shape(&effects(&fleet, 2).await), [(2, None), (3, on_second), (4, on_second)]);
    assert_eq!(shape(&effects(&fleet, 3).await), [(3, None)]);
    assert_eq!(shape(&causes(&fleet, 4).await), [(4, None), (2, Some((Relation::Command, 4)))]);
    assert_eq!(shape(&causes(&fleet, 6).await), [(6, None)]);
}

async fn reactions_to_reactions_are_followed_both_ways(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let stream = workspace(id);
    let root = fleet.bench.everything().await[0].event_id;
    let first = caused(id, &fleet, "one", Some(root));
    let second = caused(id, &fleet, "two", Some(first.event_id));
    let beside = caused(id, &fleet, "three", Some(root));
    for (n, event) in [first, second, beside].into_iter().enumerate() {
        fleet.bench.commit(Commit::default().append(&stream, n as i64 + 1, vec![event])).await.unwrap();
    }
    fleet.project_everything().await;
    let on = |position| Some((Relation::Reaction, position));
    let tree = effects(&fleet, 1).await;
    assert_eq!((shape(&tree), tree.cut), (vec![(1, None), (2, on(1)), (4, on(1)), (3, on(2))], None));
    assert_eq!(shape(&causes(&fleet, 3).await), [(3, None), (2, on(3)), (1, on(2))]);
    let affected = tree.affected();
    assert_eq!((affected.len(), affected[0].events, affected[0].first, affected[0].last), (1, 4, 1, 4));
    // Only so far, and only so much.
    let cut = async |bounds| {
        let tree = lineage::effects(&fleet.log(), fleet.views(), 1, bounds).await.unwrap().unwrap();
        (tree.nodes.iter().map(|it| (it.position, it.more)).collect::<Vec<_>>(), tree.cut)
    };
    let shallow = vec![(1, false), (2, true), (4, false)];
    assert_eq!(cut(Bounds { depth: 1, events: 100 }).await, (shallow, Some(Cut::Depth)));
    assert_eq!(cut(Bounds { depth: 9, events: 2 }).await, (vec![(1, true), (2, false)], Some(Cut::Events)));
    assert_eq!(cut(Bounds { depth: 2, events: 4 }).await.1, None);
}

async fn causes_that_run_in_a_circle_come_to_an_end(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let mut one = caused(id, &fleet, "one", None);
    let two = caused(id, &fleet, "two", Some(one.event_id));
    one.metadata = json!({ "command_id": "one", "causation_id": two.event_id }).to_string();
    fleet.bench.commit(Commit::default().append(&workspace(id), 1, vec![one, two])).await.unwrap();
    fleet.project_everything().await;
    assert_eq!(causes(&fleet, 2).await.nodes.len(), 2);
    assert_eq!(effects(&fleet, 2).await.nodes.len(), 2);
}

async fn an_event_that_was_not_recorded_has_no_tree(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.workspace("acme").await;
    fleet.project_everything().await;
    assert_eq!(lineage::at(fleet.views(), 2).await.unwrap(), None);
    assert_eq!(lineage::effects(&fleet.log(), fleet.views(), 2, BOUNDS).await.unwrap(), None);
    assert_eq!(lineage::causes(&fleet.log(), fleet.views(), 2, BOUNDS).await.unwrap(), None);
}
