//! Many writers at once: one order without gaps, and every receipt is true.

use std::collections::BTreeMap;

use muster_tests::both_stores;
use muster_tests::commits::{Build, account, event, events, one, stream};
use muster_tests::postgres::Cluster;
use muster_tests::stores::{Bench, Kind, noon};
use store::{
    Access, Clock, Commit, CommitError, EventLog, Location, Receipt, RowChange, Settings, StoredEvent, Stores, StreamId,
};
use tokio::task::JoinSet;
use uuid::Uuid;

both_stores! {
    thirty_two_writers_share_one_stream,
    thirty_two_writers_fill_their_own_streams,
    thirty_two_writers_of_overlapping_streams_never_block_each_other,
    a_reader_at_the_head_sees_every_position_in_order,
}

const WRITERS: usize = 32;
const COMMITS: usize = 5;

/// What a writer was told: the event it wrote, and where it is.
type Told = Vec<(Uuid, Receipt)>;

async fn thirty_two_writers_share_one_stream(bench: Bench) {
    let told = write_at_once(WRITERS, |_| {
        let log = bench.log();
        async move {
            let mut told = Told::new();
            let mut known = 0;
            while told.len() < COMMITS {
                match write(&log, &stream("shared"), known, &mut told).await {
                    Ok(sequence) => known = sequence,
                    Err(CommitError::Conflict { actual, .. }) => known = actual,
                    Err(other) => panic!("{other}"),
                }
            }
            told
        }
    })
    .await;
    all_is_as_told(&bench, &told).await;
    assert_eq!(bench.stream(&stream("shared")).await.len(), WRITERS * COMMITS);
}

async fn thirty_two_writers_fill_their_own_streams(bench: Bench) {
    let told = write_at_once(WRITERS, |writer| {
        let log = bench.log();
        async move {
            let mut told = Told::new();
            for sequence in 0..COMMITS as i64 {
                write(&log, &stream(writer), sequence, &mut told).await.unwrap();
            }
            told
        }
    })
    .await;
    all_is_as_told(&bench, &told).await;
    for writer in 0..WRITERS {
        assert_eq!(bench.stream(&stream(writer)).await.len(), COMMITS);
    }
}

async fn thirty_two_writers_of_overlapping_streams_never_block_each_other(bench: Bench) {
    let landed = write_at_once(WRITERS, |writer| {
        let log = bench.log();
        async move {
            let (left, right) = (stream(writer % 5), stream(5 + writer % 3));
            let (mut at_left, mut at_right, mut landed) = (0, 0, 0);
            while landed < COMMITS {
                let both = Commit::default().append(&right, at_right, events(1)).append(&left, at_left, events(2));
                match log.commit(both).await {
                    Ok(_) => (at_left, at_right, landed) = (at_left + 2, at_right + 1, landed + 1),
                    Err(CommitError::Conflict { stream, actual, .. }) if stream == left => at_left = actual,
                    Err(CommitError::Conflict { actual, .. }) => at_right = actual,
                    Err(other) => panic!("{other}"),
                }
            }
            landed
        }
    })
    .await;
    let all = bench.everything().await;
    assert_eq!(all.len(), landed.iter().sum::<usize>() * 3);
    is_gapless(&all);
}

async fn a_reader_at_the_head_sees_every_position_in_order(bench: Bench) {
    let log = bench.log();
    let mut head = log.subscribe();
    let reader = tokio::spawn(async move {
        let mut seen: Vec<i64> = Vec::new();
        while seen.len() < WRITERS * COMMITS {
            let after = seen.len() as i64;
            head.wait_for(|known| *known > after).await.unwrap();
            seen.extend(log.read_all(after, 7).await.unwrap().iter().map(|it| it.position));
        }
        seen
    });
    write_at_once(WRITERS, |writer| {
        let log = bench.log();
        async move {
            for sequence in 0..COMMITS as i64 {
                log.commit(one(&stream(writer), sequence)).await.unwrap();
            }
        }
    })
    .await;
    assert!(reader.await.unwrap().into_iter().eq(1..=(WRITERS * COMMITS) as i64));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_on_one_database_share_one_order() {
    let bench = Bench::open(Kind::Postgres).await;
    let other = bench.open_another().await.unwrap();
    let logs = [bench.log(), other.log.clone()];
    let told = write_at_once(WRITERS, |writer| {
        let log = logs[writer % 2].clone();
        async move {
            let mut told = Told::new();
            let mut known = 0;
            while told.len() < COMMITS {
                match write(&log, &stream("shared"), known, &mut told).await {
                    Ok(sequence) => known = sequence,
                    Err(CommitError::Conflict { actual, .. }) => known = actual,
                    Err(refusal) => panic!("{refusal}"),
                }
            }
            told
        }
    })
    .await;
    all_is_as_told(&bench, &told).await;
    assert_eq!(other.log.read_all(0, 10_000).await.unwrap(), bench.everything().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_goes_on_by_itself_when_its_database_comes_back() {
    let cluster = Cluster::start().unwrap();
    let location = Location::Postgres(cluster.create_database().await.unwrap());
    let stores = Stores::open(Settings { location, clock: Clock::fixed(noon()), access: Access::Serve }).await.unwrap();
    stores.log.commit(one(&stream("a"), 0)).await.unwrap();
    cluster.kill_nine().unwrap();
    let away = stores.log.commit(one(&stream("a"), 1)).await;
    assert!(matches!(away, Err(CommitError::Unavailable(_))), "{away:?}");
    cluster.start_again().unwrap();
    // Every connection that died with the server may show itself once.
    let mut known = 1;
    while known < 3 {
        match stores.log.commit(one(&stream("a"), known)).await {
            Ok(_) => known += 1,
            Err(CommitError::Unavailable(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    is_gapless(&stores.log.read_all(0, 10).await.unwrap());
    assert_eq!(stores.log.verify(|_| {}).await.unwrap().finding, None);
}

/// Appends one event, and notes the receipt.
async fn write(log: &EventLog, to: &StreamId, expected: i64, told: &mut Told) -> Result<i64, CommitError> {
    let event = event();
    let id = event.event_id;
    let receipt = log.commit(Commit::default().append(to, expected, vec![event])).await?;
    told.push((id, receipt));
    Ok(expected + 1)
}

async fn write_at_once<T, F>(writers: usize, writer: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    (0..writers).map(writer).collect::<JoinSet<T>>().join_all().await
}

/// The log holds exactly what the writers were told, where they were told.
async fn all_is_as_told(bench: &Bench, told: &[Told]) {
    let all = bench.everything().await;
    is_gapless(&all);
    let stored: BTreeMap<Uuid, (i64, i64)> =
        all.iter().map(|it| (it.event_id, (it.position, it.recorded_at))).collect();
    let receipts: BTreeMap<Uuid, (i64, i64)> =
        told.iter().flatten().map(|(id, receipt)| (*id, (receipt.first, receipt.recorded_at))).collect();
    assert_eq!(stored, receipts);
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

fn is_gapless(all: &[StoredEvent]) {
    let mut streams: BTreeMap<StreamId, i64> = BTreeMap::new();
    for (event, position) in all.iter().zip(1..) {
        assert_eq!(event.position, position);
        let sequence = streams.entry(event.stream.clone()).or_default();
        *sequence += 1;
        assert_eq!(event.sequence, *sequence, "{} at {position}", event.stream);
    }
    assert!(all.is_sorted_by_key(|it| it.recorded_at));
}

#[tokio::test]
async fn what_landed_but_was_answered_in_unknown_words_is_not_written_twice() {
    let bench = Bench::open(Kind::Postgres).await;
    // As a newer schema might: it refuses a command that is not there, for a reason that this code does not know.
    let strange = "create or replace function row_refusals(r_command int[], r_kind text[], r_row jsonb[])
        returns table (command int, place bigint, reason jsonb) language sql stable
        as $$ select 99, 1::bigint, '{\"why\": \"the weather\"}'::jsonb where cardinality(r_command) > 0 $$";
    bench.run_raw(strange).await.unwrap();
    let commit = one(&stream("a"), 0).row(RowChange::AddAccount(account("ada@example.org")));
    let outcome = bench.commit(commit).await;
    assert!(matches!(outcome, Err(CommitError::Unavailable(_))), "{outcome:?}");
    assert_eq!(bench.everything().await.len(), 1);
    bench.commit(one(&stream("a"), 1)).await.unwrap();
    assert!(bench.log().verify(|_| {}).await.unwrap().finding.is_none());
}
