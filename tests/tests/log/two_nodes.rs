//! What a node remembers of streams is believed only as long as nobody else has written.

use muster_tests::commits::{Build, claim, one, remember, stream};
use muster_tests::stores::{Bench, Kind};
use store::{CommitError, Guard, Stores, StreamId};

/// A database with two nodes: this one and another.
async fn two_nodes() -> (Bench, Stores) {
    let bench = Bench::open(Kind::Postgres).await;
    let other = bench.open_another().await.unwrap();
    (bench, other)
}

fn at(stream: &StreamId, sequence: i64) -> Guard {
    Guard::At { stream: stream.clone(), sequence }
}

fn conflict(stream: &StreamId, expected: i64, actual: i64) -> CommitError {
    CommitError::Conflict { stream: stream.clone(), expected, actual }
}

#[tokio::test]
async fn a_stream_that_another_node_moved_is_looked_for_again() {
    let (here, there) = two_nodes().await;
    let a = stream("a");
    here.commit(one(&a, 0)).await.unwrap();
    there.log.commit(one(&a, 1)).await.unwrap();
    assert_eq!(here.commit(one(&a, 1)).await, Err(conflict(&a, 1, 2)));
    here.commit(one(&a, 2)).await.unwrap();
    there.log.commit(one(&a, 3)).await.unwrap();
    assert_eq!(here.stream(&a).await.len(), 4);
}

#[tokio::test]
async fn a_guard_on_a_stream_that_another_node_moved_does_not_hold() {
    let (here, there) = two_nodes().await;
    let (a, b) = (stream("a"), stream("b"));
    here.commit(one(&a, 0)).await.unwrap();
    here.commit(one(&b, 0).guard(at(&a, 1))).await.unwrap();
    there.log.commit(one(&a, 1)).await.unwrap();
    assert_eq!(here.commit(one(&b, 1).guard(at(&a, 1))).await, Err(conflict(&a, 1, 2)));
    here.commit(one(&b, 1).guard(at(&a, 2))).await.unwrap();
}

#[tokio::test]
async fn a_command_ahead_of_a_stream_that_is_known_is_a_conflict() {
    let (here, _there) = two_nodes().await;
    let a = stream("a");
    here.commit(one(&a, 0)).await.unwrap();
    assert_eq!(here.commit(one(&a, 2)).await, Err(conflict(&a, 2, 1)));
    assert_eq!(here.commit(one(&a, 0)).await, Err(conflict(&a, 0, 1)));
    here.commit(one(&a, 1)).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_another_node_began_is_a_conflict_beside_commands_that_land() {
    let (here, there) = two_nodes().await;
    there.log.commit(one(&stream("taken"), 0)).await.unwrap();
    let taken = stream("taken");
    let (late, fine) = tokio::join!(here.commit(one(&taken, 0)), here.commit(one(&stream("free"), 0)));
    assert_eq!(late, Err(conflict(&taken, 0, 1)));
    assert_eq!(fine.unwrap().last, 2);
    assert_eq!(here.everything().await.len(), 2);
}

#[tokio::test]
async fn a_late_command_with_a_key_is_told_that_it_has_landed() {
    let (here, there) = two_nodes().await;
    let a = stream("a");
    let command = one(&a, 0).remembered(remember("k", "{}"));
    there.log.commit(command.clone()).await.unwrap();
    here.commit(one(&a, 1)).await.unwrap();
    assert!(matches!(here.commit(command).await, Err(CommitError::KeyUsed(_))));
}

#[tokio::test]
async fn a_stream_is_the_first_reason_also_when_it_was_not_looked_for() {
    let (here, there) = two_nodes().await;
    let (a, slug) = (stream("a"), claim("slug", "x"));
    there.log.commit(one(&a, 0).take(&slug, &a)).await.unwrap();
    assert_eq!(here.commit(one(&a, 0).take(&slug, &a)).await, Err(conflict(&a, 0, 1)));
}
