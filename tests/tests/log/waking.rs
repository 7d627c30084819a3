//! Readers are woken by commits: at once in this process, soon on other nodes.

use std::time::Duration;

use muster_tests::both_stores;
use muster_tests::commits::{Build, account, events, one, stream};
use muster_tests::stores::{Bench, Kind};
use store::{Commit, RowChange};
use tokio::sync::watch;

both_stores! {
    a_reader_knows_of_a_commit_when_its_writer_does,
    a_waiting_reader_is_woken,
    a_new_reader_sees_the_head,
    a_reopened_log_shows_its_head,
    a_commit_without_events_wakes_nobody,
}

async fn a_reader_knows_of_a_commit_when_its_writer_does(bench: Bench) {
    let reader = bench.log().subscribe();
    for sequence in 0..5 {
        let receipt = bench.commit(one(&stream("a"), sequence)).await.unwrap();
        assert_eq!(*reader.borrow(), receipt.last);
        // What is announced can be read.
        assert_eq!(bench.log().read_at(receipt.last).await.unwrap().unwrap().position, receipt.last);
    }
}

async fn a_waiting_reader_is_woken(bench: Bench) {
    let reader = bench.log().subscribe();
    let waiting = tokio::spawn(until(reader, 3));
    bench.commit(Commit::default().append(&stream("a"), 0, events(3))).await.unwrap();
    waiting.await.unwrap();
}

async fn a_new_reader_sees_the_head(bench: Bench) {
    bench.commit(Commit::default().append(&stream("a"), 0, events(3))).await.unwrap();
    assert_eq!(*bench.log().subscribe().borrow(), 3);
}

async fn a_reopened_log_shows_its_head(mut bench: Bench) {
    bench.commit(Commit::default().append(&stream("a"), 0, events(3))).await.unwrap();
    bench.reopen().await;
    assert_eq!(*bench.log().subscribe().borrow(), 3);
}

async fn a_commit_without_events_wakes_nobody(bench: Bench) {
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    let mut reader = bench.log().subscribe();
    reader.borrow_and_update();
    bench.commit(Commit::of_rows(vec![RowChange::AddAccount(account("ada@example.org"))])).await.unwrap();
    bench.commit(one(&stream("a"), 0)).await.unwrap_err();
    assert!(!reader.has_changed().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_on_another_node_is_woken() {
    let bench = Bench::open(Kind::Postgres).await;
    let other = bench.open_another().await.unwrap();
    let (here, there) = (bench.log().subscribe(), other.log.subscribe());
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    until(there.clone(), 1).await;
    other.log.commit(one(&stream("a"), 1)).await.unwrap();
    until(here, 2).await;
    bench.commit(one(&stream("a"), 2)).await.unwrap();
    until(there, 3).await;
}

/// Waits for a position; the limit is for a test that fails, not for one that passes.
async fn until(mut reader: watch::Receiver<i64>, position: i64) {
    let woken = tokio::time::timeout(Duration::from_secs(20), reader.wait_for(|known| *known >= position)).await;
    assert!(woken.expect("the reader is woken").is_ok(), "the log was closed");
}
