//! The log is append-only, and whoever gets around that is found out.

use muster_tests::both_stores;
use muster_tests::commits::{Build, event_with, events, one, stream};
use muster_tests::stores::{Bench, Kind};
use store::{Commit, NewEvent, VerifyReport};
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use uuid::Uuid;

both_stores! {
    the_database_refuses_to_change_or_remove_an_event,
    the_database_refuses_to_change_or_remove_a_batch,
    a_clean_log_verifies,
    verification_tells_how_far_it_is,
    a_log_that_grows_meanwhile_verifies,
    a_changed_byte_is_found_in_every_column,
    a_removed_event_is_found,
    a_removed_first_event_is_found,
    a_removed_batch_is_found,
    a_swapped_pair_is_found,
    a_pair_swapped_between_batches_is_found,
    a_truncated_tail_is_found,
    an_event_past_the_head_is_found,
    a_head_that_was_set_back_is_found,
    a_head_that_was_set_ahead_is_found,
    a_forged_batch_is_found,
    a_reader_reports_a_hole_and_never_skips_it,
}

async fn the_database_refuses_to_change_or_remove_an_event(bench: Bench) {
    the_database_refuses(
        bench,
        &[
            "update events set payload = '{}' where position = 2",
            "update events set position = 99 where position = 2",
            "delete from events where position = 2",
            "delete from events",
        ],
        "insert or replace into events select 2, aggregate_type, aggregate_id, sequence, 'Forged', event_version,
             payload, metadata, event_id, workspace_id, recorded_at from events where position = 2",
        "truncate events",
    )
    .await;
}

async fn the_database_refuses_to_change_or_remove_a_batch(bench: Bench) {
    the_database_refuses(
        bench,
        &[
            "update batches set recorded_at = 0 where first_position = 2",
            "delete from batches where first_position = 2",
            "delete from batches",
        ],
        "insert or replace into batches select 2, events, 0, leaves, link from batches where first_position = 2",
        "truncate batches",
    )
    .await;
}

async fn the_database_refuses(bench: Bench, everywhere: &[&str], on_sqlite: &str, on_postgres: &str) {
    write_some(&bench).await;
    let before = bench.everything().await;
    let own = match bench.kind {
        Kind::Sqlite => on_sqlite,
        Kind::Postgres => on_postgres,
    };
    for sql in everywhere.iter().chain([&own]) {
        let refusal = bench.run_raw(sql).await.expect_err(sql).to_string();
        assert!(refusal.contains("append-only"), "{sql}: {refusal}");
    }
    assert_eq!(bench.everything().await, before);
    assert_eq!(verify(&bench).await.finding, None);
}

async fn a_clean_log_verifies(mut bench: Bench) {
    write_some(&bench).await;
    for _ in 0..2 {
        let report = verify(&bench).await;
        assert_eq!((report.events, &report.finding), (10, &None));
        assert_eq!(report.link, hex::encode(bench.log().head().await.unwrap().link));
        bench.reopen().await;
    }
}

async fn verification_tells_how_far_it_is(bench: Bench) {
    write_some(&bench).await;
    let mut progress = Vec::new();
    bench.log().verify(|done| progress.push(done)).await.unwrap();
    assert!(progress.is_sorted());
    assert_eq!(progress.last(), Some(&10));
}

async fn a_log_that_grows_meanwhile_verifies(bench: Bench) {
    write_some(&bench).await;
    let (late, mut grown) = (stream("late"), 0);
    let grow = |_| {
        let commit = bench.commit(one(&late, grown));
        block_in_place(|| Handle::current().block_on(commit)).unwrap();
        grown += 1;
    };
    let report = bench.log().verify(grow).await.unwrap();
    assert_eq!((report.events, report.finding), (10, None));
    assert!(bench.log().head().await.unwrap().position > 10, "nothing was written while the log was read");
}

async fn a_changed_byte_is_found_in_every_column(bench: Bench) {
    write_some(&bench).await;
    let changes = [
        ("aggregate_type", "'thinG'"),
        ("aggregate_id", "'A'"),
        ("sequence", "77"),
        ("event_type", "'ThingHappeneD'"),
        ("event_version", "'2'"),
        ("payload", r#"'{"n": 5}'"#),
        ("metadata", "'{ }'"),
        ("event_id", "'00000000-0000-7000-8000-000000000000'"),
        ("event_id", "'not an id'"),
        ("workspace_id", "'00000000-0000-7000-8000-000000000000'"),
        ("workspace_id", "'not an id'"),
        ("recorded_at", "recorded_at + 1"),
    ];
    for (column, value) in changes {
        let text = bench.everything().await;
        bench.tamper("create table kept as select * from events where position = 5").await;
        bench.tamper(&format!("update events set {column} = {value} where position = 5")).await;
        found_at(&bench, 5, column).await;
        bench
            .tamper(&format!(
                "update events set {column} = (select {column} from kept) where position = 5; drop table kept"
            ))
            .await;
        assert_eq!(bench.everything().await, text);
        assert_eq!(verify(&bench).await.finding, None);
    }
}

async fn a_removed_event_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("delete from events where position = 6").await;
    found_at(&bench, 6, "removed").await;
}

async fn a_removed_first_event_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("delete from events where position = 1").await;
    found_at(&bench, 1, "removed").await;
}

async fn a_removed_batch_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("delete from events where position = 2; delete from batches where first_position = 2").await;
    found_at(&bench, 2, "removed with its batch").await;
}

async fn a_swapped_pair_is_found(bench: Bench) {
    write_some(&bench).await;
    swap(&bench, 5, 6).await;
    found_at(&bench, 5, "swapped").await;
}

async fn a_pair_swapped_between_batches_is_found(bench: Bench) {
    write_some(&bench).await;
    swap(&bench, 2, 9).await;
    found_at(&bench, 2, "swapped").await;
}

async fn a_truncated_tail_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("delete from events where position > 8").await;
    found_at(&bench, 9, "truncated").await;
    bench.tamper("delete from batches where first_position > 8").await;
    found_at(&bench, 9, "truncated with its batches").await;
}

async fn an_event_past_the_head_is_found(bench: Bench) {
    write_some(&bench).await;
    bench
        .tamper(
            "insert into events select 11, aggregate_type, aggregate_id, 99, event_type, event_version, payload,
                 metadata, event_id, workspace_id, recorded_at from events where position = 10",
        )
        .await;
    found_at(&bench, 11, "added").await;
}

async fn a_head_that_was_set_back_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("update head set position = 9").await;
    assert!(verify(&bench).await.finding.is_some());
}

async fn a_head_that_was_set_ahead_is_found(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("update head set position = 11").await;
    found_at(&bench, 11, "set ahead").await;
}

/// The forger also writes the batch's own record anew, but cannot write the links that follow from it.
async fn a_forged_batch_is_found(bench: Bench) {
    write_some(&bench).await;
    let mut forged = bench.everything().await.remove(1);
    forged.payload = r#"{"n":"forged"}"#.into();
    let leaf = hex::encode(store::chain::leaf_of_stored(&forged));
    let bytes = match bench.kind {
        Kind::Sqlite => format!("x'{leaf}'"),
        Kind::Postgres => format!("decode('{leaf}', 'hex')"),
    };
    bench.tamper(&format!("update events set payload = '{}' where position = 2", forged.payload)).await;
    bench.tamper(&format!("update batches set leaves = {bytes} where first_position = 2")).await;
    found_at(&bench, 2, "forged").await;
    let head = bench.log().head().await.unwrap();
    let first = bench.everything().await.remove(0);
    let before =
        store::chain::link(&store::chain::GENESIS, 1, first.recorded_at, [store::chain::leaf_of_stored(&first)].iter());
    let leaf = store::chain::leaf_of_stored(&forged);
    let link = hex::encode(store::chain::link(&before, 2, forged.recorded_at, [leaf].iter()));
    let bytes = match bench.kind {
        Kind::Sqlite => format!("x'{link}'"),
        Kind::Postgres => format!("decode('{link}', 'hex')"),
    };
    bench.tamper(&format!("update batches set link = {bytes} where first_position = 2")).await;
    // The event and its batch agree now; the next batch gives it away.
    found_at(&bench, 3, "forged with its link").await;
    assert_eq!(bench.log().head().await.unwrap(), head);
}

async fn a_reader_reports_a_hole_and_never_skips_it(bench: Bench) {
    write_some(&bench).await;
    bench.tamper("delete from events where position = 6").await;
    let log = bench.log();
    assert_eq!(log.read_all(0, 5).await.unwrap().len(), 5);
    assert!(matches!(log.read_all(0, 10).await, Err(store::StoreError::Damaged(_))));
    assert!(matches!(log.read_all(5, 10).await, Err(store::StoreError::Damaged(_))));
    assert!(matches!(log.read_stream(&stream("a"), 1, None).await, Err(store::StoreError::Damaged(_))));
}

/// Ten events: batches at 1, 2 and 3 of one event, at 4 of five, at 9 of two.
async fn write_some(bench: &Bench) {
    let a = stream("a");
    let numbered = |from: usize, count| (from..from + count).map(|n| event_with(format!(r#"{{"n":{n}}}"#))).collect();
    for sequence in 0..3 {
        bench.commit(Commit::default().append(&a, sequence, numbered(1 + sequence as usize, 1))).await.unwrap();
    }
    bench.commit(Commit::default().append(&a, 3, numbered(4, 5))).await.unwrap();
    let workspace = NewEvent { workspace_id: Some(Uuid::now_v7()), ..event_with("9") };
    bench.commit(Commit::default().append(&a, 8, vec![workspace]).append(&stream("b"), 0, events(1))).await.unwrap();
    // Refused commits and commits of nothing leave no trace in the chain.
    bench.commit(one(&a, 0)).await.unwrap_err();
}

/// Puts each of two events in the other's place, with its stream and sequence.
async fn swap(bench: &Bench, one: i64, other: i64) {
    let sql = format!(
        "update events set position = -1 where position = {one};
         update events set position = {one} where position = {other};
         update events set position = {other} where position = -1"
    );
    bench.tamper(&sql).await;
}

async fn verify(bench: &Bench) -> VerifyReport {
    bench.log().verify(|_| {}).await.unwrap()
}

async fn found_at(bench: &Bench, position: i64, what: &str) {
    let report = verify(bench).await;
    let finding = report.finding.unwrap_or_else(|| panic!("{what}: nothing was found"));
    assert_eq!(finding.position, position, "{what}: {finding:?}");
    assert!(report.events < position, "{what}: {report:?}", report = report.events);
}
