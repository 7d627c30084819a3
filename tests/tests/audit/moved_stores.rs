//! A log copied from store to store is the same log: every byte, every link, and all that stands beside it.

use muster_tests::commits::{one, stream};
use muster_tests::stores::Bench;
use store::transfer::{TransferError, copy};
use store::{CommitError, StoreError};

use crate::both_ways;
use crate::moves::{everything, history, other, stranger};

both_ways!(
    a_copy_has_every_byte_and_every_link_and_all_that_stands_beside,
    a_copy_there_and_back_is_the_log_that_it_was,
    a_second_copy_brings_what_is_new,
    a_log_with_another_history_is_left_alone,
    a_log_that_is_served_takes_no_copy,
    a_copy_of_a_log_in_use_is_a_beginning_of_it_with_the_rows_that_fit,
    a_damaged_log_is_not_copied_past_the_damage,
    an_empty_log_is_copied_too,
);

async fn a_copy_has_every_byte_and_every_link_and_all_that_stands_beside(from: Bench, mut to: Bench) {
    history(&from, 40).await;
    let mut steps = Vec::new();
    let report = copy(from.location(), to.location(), |done, total| steps.push((done, total))).await.unwrap();
    to.reopen().await;
    let (there, here) = (everything(&from).await, everything(&to).await);
    assert_eq!(there, here);
    assert!(here.beside.iter().filter(|(_, rows)| !rows.is_empty()).count() >= 6, "{:?}", here.beside);
    let head = to.log().head().await.unwrap();
    assert_eq!((report.position, report.epoch, report.link), (head.position, 1, hex::encode(head.link)));
    assert_eq!((report.copied, steps.last()), (head.position, Some(&(head.position, head.position))));
    // It goes on as the log that it is: a claim is held, a key is known, a stream stands where it stood.
    let refused = to.commit(one(&stream(0), 0)).await.unwrap_err();
    assert!(matches!(refused, CommitError::Conflict { .. }), "{refused}");
    to.commit(one(&stream("new"), 0)).await.unwrap();
    assert_eq!(to.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn a_copy_there_and_back_is_the_log_that_it_was(from: Bench, to: Bench) {
    history(&from, 20).await;
    copy(from.location(), to.location(), |_, _| {}).await.unwrap();
    let mut back = Bench::closed(other(to.kind)).await;
    copy(to.location(), back.location(), |_, _| {}).await.unwrap();
    back.reopen().await;
    assert_eq!(everything(&from).await, everything(&back).await);
}

async fn a_second_copy_brings_what_is_new(from: Bench, mut to: Bench) {
    history(&from, 10).await;
    let first = copy(from.location(), to.location(), |_, _| {}).await.unwrap();
    history(&from, 10).await;
    let second = copy(from.location(), to.location(), |_, _| {}).await.unwrap();
    assert_eq!(first.copied + second.copied, second.position);
    let nothing = copy(from.location(), to.location(), |_, _| {}).await.unwrap();
    assert_eq!((nothing.copied, nothing.position), (0, second.position));
    to.reopen().await;
    assert_eq!(everything(&from).await, everything(&to).await);
}

async fn a_log_with_another_history_is_left_alone(from: Bench, mut to: Bench) {
    history(&from, 5).await;
    stranger(&mut to).await;
    let before = everything(&to).await;
    to.close();
    refused(copy(from.location(), to.location(), |_, _| {}).await, "another history");
    refused(copy(to.location(), to.location(), |_, _| {}).await, "onto itself");
    to.reopen().await;
    assert_eq!(everything(&to).await, before);
    assert_eq!(to.log().head().await.unwrap().epoch, 1);
    // One that has gone on since it was copied is another history too.
    let mut ahead = Bench::closed(to.kind).await;
    copy(from.location(), ahead.location(), |_, _| {}).await.unwrap();
    stranger(&mut ahead).await;
    ahead.close();
    refused(copy(from.location(), ahead.location(), |_, _| {}).await, "another history");
    ahead.reopen().await;
}

async fn a_log_that_is_served_takes_no_copy(from: Bench, mut to: Bench) {
    history(&from, 5).await;
    to.reopen().await;
    match copy(from.location(), to.location(), |_, _| {}).await {
        Err(TransferError::Store(StoreError::InUse(_))) => {}
        other => refused(other, "a muster server is connected"),
    }
    to.commit(one(&stream("mine"), 0)).await.unwrap();
    assert_eq!(to.log().head().await.unwrap().epoch, 1);
}

async fn a_copy_of_a_log_in_use_is_a_beginning_of_it_with_the_rows_that_fit(from: Bench, mut to: Bench) {
    history(&from, 10).await;
    // One key per event of this stream, so that rows and events can be counted against each other.
    let (log, busy) = (from.log(), stream("busy"));
    let writing = tokio::spawn(async move {
        for at in 0..400 {
            let key = muster_tests::commits::remember(&format!("busy-{at}"), "{}");
            let commit = muster_tests::commits::Build::remembered(one(&busy, at), key);
            log.commit(commit).await.unwrap();
        }
    });
    let mut copies = 0;
    while !writing.is_finished() {
        copy(from.location(), to.location(), |_, _| {}).await.unwrap();
        copies += 1;
    }
    writing.await.unwrap();
    assert!(copies > 0);
    to.reopen().await;
    let (whole, copied) = (from.everything().await, to.everything().await);
    assert_eq!(whole[..copied.len()], copied);
    let busy = to.stream(&stream("busy")).await.len();
    let sql = "select count(*) from remembered_commands where key like 'busy-%'";
    let rows = to.log().database().query(store::sql::Query::new(sql)).await.unwrap();
    assert_eq!(rows[0].int(0).unwrap(), busy as i64);
}

async fn a_damaged_log_is_not_copied_past_the_damage(from: Bench, mut to: Bench) {
    history(&from, 20).await;
    from.tamper("update events set event_type = 'Other' where position = 9").await;
    let broken = copy(from.location(), to.location(), |_, _| {}).await.unwrap_err();
    assert!(matches!(&broken, TransferError::Broken(it) if it.contains("position 9")), "{broken}");
    // Nothing came, so it is an empty log like any other.
    to.reopen().await;
    assert_eq!(to.log().head().await.unwrap().position, 0);
}

async fn an_empty_log_is_copied_too(from: Bench, mut to: Bench) {
    let report = copy(from.location(), to.location(), |_, _| {}).await.unwrap();
    assert_eq!((report.copied, report.position), (0, 0));
    to.reopen().await;
    to.commit(one(&stream("first"), 0)).await.unwrap();
}

fn refused<T: std::fmt::Debug>(ended: Result<T, TransferError>, why: &str) {
    match ended {
        Err(TransferError::Refused(what)) => assert!(what.contains(why), "{what}"),
        other => panic!("{other:?}"),
    }
}
