//! When and how much: recorded times, the head, the counts and the epoch.

use chrono::TimeDelta;
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::commits::{Build, event_with, events, one, stream};
use muster_tests::stores::{Bench, noon};
use store::{Clock, Commit, NewEvent};

both_stores! {
    an_event_bears_the_time_of_its_batch,
    recorded_times_never_decrease_when_the_clock_is_set_back,
    recorded_times_never_decrease_over_a_restart,
    events_of_one_commit_share_one_time,
    a_clock_that_was_let_go_shows_the_real_time,
    recorded_times_follow_the_order_of_positions,
    an_empty_log_stands_at_zero,
    the_head_follows_every_commit,
    the_epoch_stays_while_the_log_lives,
    the_counts_count_everything_once,
}

async fn an_event_bears_the_time_of_its_batch(bench: Bench) {
    let receipt = bench.commit(one(&stream("a"), 0)).await.unwrap();
    assert_eq!(receipt.recorded_at, noon().timestamp_micros());
    bench.clock.set(noon() + TimeDelta::microseconds(1));
    let receipt = bench.commit(one(&stream("a"), 1)).await.unwrap();
    assert_eq!(receipt.recorded_at, noon().timestamp_micros() + 1);
    assert_eq!(times(&bench).await, [noon().timestamp_micros(), noon().timestamp_micros() + 1]);
}

async fn recorded_times_never_decrease_when_the_clock_is_set_back(bench: Bench) {
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.clock.set(noon() - TimeDelta::days(1));
    let receipt = bench.commit(one(&stream("a"), 1)).await.unwrap();
    assert_eq!(receipt.recorded_at, noon().timestamp_micros());
    bench.clock.set(noon() + TimeDelta::days(1));
    bench.commit(one(&stream("a"), 2)).await.unwrap();
    let day = TimeDelta::days(1).num_microseconds().unwrap();
    let noon = noon().timestamp_micros();
    assert_eq!(times(&bench).await, [noon, noon, noon + day]);
}

async fn recorded_times_never_decrease_over_a_restart(mut bench: Bench) {
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.clock.set(noon() - TimeDelta::days(400));
    bench.reopen().await;
    bench.commit(one(&stream("a"), 1)).await.unwrap();
    assert_eq!(times(&bench).await, [noon().timestamp_micros(); 2]);
}

async fn events_of_one_commit_share_one_time(bench: Bench) {
    bench.clock.release();
    let two = Commit::default().append(&stream("a"), 0, events(50)).append(&stream("b"), 0, events(50));
    let receipt = bench.commit(two).await.unwrap();
    assert!(times(&bench).await.iter().all(|it| *it == receipt.recorded_at));
}

async fn a_clock_that_was_let_go_shows_the_real_time(bench: Bench) {
    bench.clock.release();
    let before = Clock::default().now_micros();
    let receipt = bench.commit(one(&stream("a"), 0)).await.unwrap();
    let after = Clock::default().now_micros();
    assert!((before..=after).contains(&receipt.recorded_at));
}

async fn recorded_times_follow_the_order_of_positions(bench: Bench) {
    bench.clock.release();
    let hop = |n: i64| {
        // Some see the clock jump ahead, some see it jump back.
        bench.clock.set(noon() + TimeDelta::seconds((n * 37) % 50));
        bench.commit(one(&stream(n), 0))
    };
    let outcomes = join_all((0..60).map(hop)).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    for n in 60..80 {
        hop(n).await.unwrap();
    }
    assert!(times(&bench).await.is_sorted());
}

async fn an_empty_log_stands_at_zero(bench: Bench) {
    let head = bench.log().head().await.unwrap();
    assert_eq!((head.position, head.recorded_at, head.link), (0, 0, [0; 32]));
    assert_eq!(*bench.log().subscribe().borrow(), 0);
    let stats = bench.log().stats().await.unwrap();
    assert_eq!((stats.events, stats.streams, stats.batches, stats.bytes), (0, 0, 0, 0));
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn the_head_follows_every_commit(bench: Bench) {
    let before = bench.log().head().await.unwrap();
    let receipt = bench.commit(Commit::default().append(&stream("a"), 0, events(3))).await.unwrap();
    let after = bench.log().head().await.unwrap();
    assert_eq!((after.position, after.recorded_at), (3, receipt.recorded_at));
    assert_ne!(after.link, before.link);
    bench.commit(one(&stream("a"), 0)).await.unwrap_err();
    assert_eq!(bench.log().head().await.unwrap(), after);
}

async fn the_epoch_stays_while_the_log_lives(mut bench: Bench) {
    let before = bench.log().head().await.unwrap().epoch;
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.reopen().await;
    assert_eq!(bench.log().head().await.unwrap().epoch, before);
}

async fn the_counts_count_everything_once(bench: Bench) {
    let other = NewEvent { event_type: "ThingEnded".into(), ..event_with("\"é\"") };
    bench.commit(Commit::default().append(&stream("a"), 0, vec![event_with("[1]"), event_with("[2]")])).await.unwrap();
    bench.commit(Commit::default().append(&stream("b"), 0, vec![other])).await.unwrap();
    let stats = bench.log().stats().await.unwrap();
    assert_eq!((stats.events, stats.streams, stats.batches), (3, 2, 2));
    // Bytes, not characters; each event has two of metadata.
    assert_eq!(stats.bytes, 3 + 3 + 4 + 3 * 2);
    let by_type: Vec<_> =
        stats.by_type.iter().map(|it| (it.aggregate_type.as_str(), it.event_type.as_str(), it.events)).collect();
    assert_eq!(by_type, [("thing", "ThingHappened", 2), ("thing", "ThingEnded", 1)]);
}

async fn times(bench: &Bench) -> Vec<i64> {
    bench.everything().await.iter().map(|it| it.recorded_at).collect()
}
