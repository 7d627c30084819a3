//! Moments of the log: which position a time stands for, and what is no moment of this log.

use chrono::TimeDelta;
use muster_tests::both_stores;
use muster_tests::commits::{Build, events, one, stream};
use muster_tests::stores::{Bench, noon};
use store::{Commit, Moment, MomentError, StoreError};

both_stores! {
    a_time_stands_for_the_last_position_recorded_by_then,
    a_moment_outside_the_log_is_refused,
    an_empty_log_has_no_moments,
    events_are_read_at_scattered_positions,
}

/// Batches of 1 to 4 events, ten seconds apart from noon on.
async fn write_batches(bench: &Bench) -> Vec<(i64, i64)> {
    let mut written = vec![];
    for n in 0..9 {
        bench.clock.set(noon() + TimeDelta::seconds(10 * n));
        let commit = Commit::default().append(&stream(format!("s{n}")), 0, events(1 + n as usize % 4));
        let receipt = bench.commit(commit).await.unwrap();
        written.push((receipt.recorded_at, receipt.last));
    }
    written
}

async fn a_time_stands_for_the_last_position_recorded_by_then(bench: Bench) {
    let written = write_batches(&bench).await;
    bench.clock.set(noon() + TimeDelta::days(1));
    for (recorded_at, last) in &written {
        for later in [0, 1, 9_999_999] {
            assert_eq!(bench.log().position_at(&Moment::Time(recorded_at + later)).await, Ok(*last));
        }
        assert_eq!(bench.log().position_at(&Moment::Position(*last)).await, Ok(*last));
    }
    let head = written.last().unwrap().1;
    assert_eq!(bench.log().position_at(&Moment::from(noon() + TimeDelta::hours(5))).await, Ok(head));
}

async fn a_moment_outside_the_log_is_refused(bench: Bench) {
    let written = write_batches(&bench).await;
    let (first, head) = (written[0].0, written.last().unwrap().1);
    let at = |moment| {
        let log = bench.log();
        async move { log.position_at(&moment).await.unwrap_err() }
    };
    assert_eq!(at(Moment::Time(first - 1)).await, MomentError::BeforeTheLog { time: first - 1, first: Some(first) });
    assert_eq!(at(Moment::Position(0)).await, MomentError::NoSuchPosition(0));
    assert_eq!(at(Moment::Position(head + 1)).await, MomentError::BeyondTheHead { position: head + 1, head });
    let tomorrow = (noon() + TimeDelta::days(1)).timestamp_micros();
    assert_eq!(at(Moment::Time(tomorrow)).await, MomentError::InTheFuture(tomorrow));
}

async fn an_empty_log_has_no_moments(bench: Bench) {
    let time = noon().timestamp_micros();
    let nothing = bench.log().position_at(&Moment::Time(time)).await.unwrap_err();
    assert_eq!(nothing, MomentError::BeforeTheLog { time, first: None });
    assert!(nothing.to_string().contains("2026-") && nothing.to_string().ends_with("which is empty"), "{nothing}");
    let beyond = bench.log().position_at(&Moment::Position(1)).await.unwrap_err();
    assert_eq!(beyond, MomentError::BeyondTheHead { position: 1, head: 0 });
}

async fn events_are_read_at_scattered_positions(bench: Bench) {
    for n in 0..20 {
        bench.commit(one(&stream(format!("s{n}")), 0)).await.unwrap();
    }
    let all = bench.everything().await;
    let read = bench.log().read_positions(&[2, 3, 11, 20]).await.unwrap();
    assert_eq!(read, [1, 2, 10, 19].map(|n: usize| all[n].clone()));
    assert_eq!(bench.log().read_positions(&[]).await.unwrap(), []);
    for absent in [vec![3, 21], vec![0, 1], vec![21]] {
        assert!(matches!(bench.log().read_positions(&absent).await, Err(StoreError::Damaged(_))), "{absent:?}");
    }
}
