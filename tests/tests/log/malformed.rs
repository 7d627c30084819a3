//! Commits that make no sense are refused before they reach the database, alike on both stores.

use muster_tests::both_stores;
use muster_tests::commits::{Build, account, claim, command_key, event, event_with, events, one, stream};
use muster_tests::stores::Bench;
use store::{Commit, CommitError, NewEvent, Remember, RowChange, StreamId};

both_stores! {
    a_stream_appears_once_in_a_commit,
    an_append_carries_an_event,
    a_payload_is_json,
    metadata_is_json,
    no_stream_stands_below_zero,
    a_claim_is_taken_once_in_a_commit,
    an_address_is_added_once_in_a_commit,
    text_that_postgres_cannot_hold_is_refused_on_both_stores,
}

async fn a_stream_appears_once_in_a_commit(bench: Bench) {
    let a = stream("a");
    refused(&bench, one(&a, 0).append(&a, 1, events(1))).await;
    refused(&bench, one(&a, 0).append(&a, 0, events(1))).await;
}

async fn an_append_carries_an_event(bench: Bench) {
    refused(&bench, Commit::default().append(&stream("a"), 0, vec![])).await;
    refused(&bench, one(&stream("b"), 0).append(&stream("a"), 0, vec![])).await;
}

async fn a_payload_is_json(bench: Bench) {
    for broken in broken_json() {
        refused(&bench, with(event_with(broken))).await;
    }
}

async fn metadata_is_json(bench: Bench) {
    for broken in broken_json() {
        refused(&bench, with(NewEvent { metadata: broken.into(), ..event() })).await;
    }
}

async fn no_stream_stands_below_zero(bench: Bench) {
    refused_somehow(&bench, one(&stream("a"), -1)).await;
    refused_somehow(&bench, one(&stream("a"), i64::MIN)).await;
    refused_somehow(&bench, one(&stream("a"), i64::MAX)).await;
}

async fn a_claim_is_taken_once_in_a_commit(bench: Bench) {
    let (a, b, slug) = (stream("a"), stream("b"), claim("slug", "x"));
    refused_somehow(&bench, one(&a, 0).take(&slug, &a).take(&slug, &b)).await;
    refused_somehow(&bench, one(&a, 0).take(&slug, &a).take(&slug, &a)).await;
}

async fn an_address_is_added_once_in_a_commit(bench: Bench) {
    let twice = ["ada@example.org"; 2].map(|email| RowChange::AddAccount(account(email)));
    refused_somehow(&bench, twice.into_iter().fold(one(&stream("a"), 0), Build::row)).await;
}

async fn text_that_postgres_cannot_hold_is_refused_on_both_stores(bench: Bench) {
    let (a, nul) = (stream("a"), "a\0b");
    refused(&bench, one(&stream(nul), 0)).await;
    refused(&bench, one(&StreamId::new(nul, "a"), 0)).await;
    refused(&bench, with(NewEvent { event_type: nul.into(), ..event() })).await;
    refused(&bench, with(NewEvent { event_version: nul.into(), ..event() })).await;
    refused(&bench, one(&a, 0).take(&claim("slug", nul), &a)).await;
    refused(&bench, one(&a, 0).row(RowChange::AddAccount(account(nul)))).await;
    let outcome = Remember { key: command_key(nul), fingerprint: vec![], outcome: "{}".into(), expires_at: None };
    refused(&bench, one(&a, 0).remembered(outcome)).await;
}

fn with(event: NewEvent) -> Commit {
    Commit::default().append(&stream("a"), 0, vec![event])
}

fn broken_json() -> [&'static str; 9] {
    ["", "  ", "{", "{} {}", "nonsense", "{'a':1}", "[1,]", "\"\u{0}\"", "NaN"]
}

async fn refused(bench: &Bench, commit: Commit) {
    let shown = format!("{commit:?}");
    let outcome = bench.commit(commit).await;
    assert!(matches!(outcome, Err(CommitError::Malformed(_))), "{outcome:?} for {shown}");
    nothing_landed(bench).await;
}

/// Refused, by whichever of two reasons that both hold.
async fn refused_somehow(bench: &Bench, commit: Commit) {
    let shown = format!("{commit:?}");
    let outcome = bench.commit(commit).await;
    let known = matches!(
        outcome,
        Err(CommitError::Malformed(_)
            | CommitError::Conflict { .. }
            | CommitError::ClaimTaken { .. }
            | CommitError::EmailTaken)
    );
    assert!(known, "{outcome:?} for {shown}");
    nothing_landed(bench).await;
}

async fn nothing_landed(bench: &Bench) {
    assert_eq!(bench.everything().await, []);
    assert_eq!(bench.log().head().await.unwrap().position, 0);
}
