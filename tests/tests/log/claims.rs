//! Claims: what at most one stream may hold at a time.

use muster_tests::both_stores;
use muster_tests::commits::{Build, claim, events, one, stream};
use muster_tests::stores::Bench;
use store::{Claim, Commit, CommitError, StreamId};

both_stores! {
    a_claim_has_one_holder,
    a_taken_claim_names_its_holder,
    the_holder_of_a_claim_can_be_asked_for,
    a_taken_claim_keeps_the_whole_commit_out,
    a_released_claim_is_free,
    a_claim_moves_within_one_commit,
    a_claim_is_renamed_within_one_commit,
    releasing_what_nobody_holds_changes_nothing,
    claims_of_two_scopes_are_apart,
    claims_are_compared_by_the_letter,
    a_refused_commit_releases_nothing,
    claims_outlive_a_restart,
    a_commit_of_claims_only_takes_no_position,
}

async fn a_claim_has_one_holder(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    assert_eq!(bench.commit(one(&b, 0).take(&slug(), &b)).await, Err(taken_by(&a)));
    // Asking again does not make the holder a second one.
    assert_eq!(bench.commit(one(&a, 1).take(&slug(), &a)).await, Err(taken_by(&a)));
}

async fn a_taken_claim_names_its_holder(bench: Bench) {
    let (holder, b) = (StreamId::new("work'space", "the \"first\" ü"), stream("b"));
    bench.commit(one(&holder, 0).take(&slug(), &holder)).await.unwrap();
    assert_eq!(bench.commit(one(&b, 0).take(&slug(), &b)).await, Err(taken_by(&holder)));
}

async fn the_holder_of_a_claim_can_be_asked_for(bench: Bench) {
    let (a, log) = (StreamId::new("work'space", "the \"first\" ü"), bench.log());
    assert_eq!(log.holder(&slug()).await, Ok(None));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    assert_eq!(log.holder(&slug()).await, Ok(Some(a.clone())));
    assert_eq!(log.holder(&Claim { scope: "other".into(), ..slug() }).await, Ok(None));
    bench.commit(one(&a, 1).release(&slug())).await.unwrap();
    assert_eq!(log.holder(&slug()).await, Ok(None));
}

async fn a_taken_claim_keeps_the_whole_commit_out(bench: Bench) {
    let (a, b, free) = (stream("a"), stream("b"), claim("slug", "free"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    let both = one(&b, 0).take(&free, &b).take(&slug(), &b);
    assert_eq!(bench.commit(both).await, Err(taken_by(&a)));
    assert_eq!(bench.stream(&b).await, []);
    bench.commit(one(&a, 1).take(&free, &a)).await.unwrap();
}

async fn a_released_claim_is_free(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    bench.commit(one(&a, 1).release(&slug())).await.unwrap();
    bench.commit(one(&b, 0).take(&slug(), &b)).await.unwrap();
}

async fn a_claim_moves_within_one_commit(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    let moved = Commit::default().append(&a, 1, events(1)).append(&b, 0, events(1)).release(&slug()).take(&slug(), &b);
    bench.commit(moved).await.unwrap();
    assert_eq!(bench.commit(one(&a, 2).take(&slug(), &a)).await, Err(taken_by(&b)));
}

async fn a_claim_is_renamed_within_one_commit(bench: Bench) {
    let (a, b, new) = (stream("a"), stream("b"), claim("slug", "new"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    bench.commit(one(&a, 1).release(&slug()).take(&new, &a)).await.unwrap();
    bench.commit(one(&b, 0).take(&slug(), &b)).await.unwrap();
    let refusal = bench.commit(one(&b, 1).take(&new, &b)).await.unwrap_err();
    assert_eq!(refusal, CommitError::ClaimTaken { claim: new, holder: a });
}

async fn releasing_what_nobody_holds_changes_nothing(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0).release(&slug())).await.unwrap();
    bench.commit(one(&a, 1).release(&slug()).take(&slug(), &a)).await.unwrap();
    assert_eq!(bench.commit(one(&a, 2).take(&slug(), &a)).await, Err(taken_by(&a)));
}

async fn claims_of_two_scopes_are_apart(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&claim("one", "x"), &a)).await.unwrap();
    bench.commit(one(&b, 0).take(&claim("two", "x"), &b)).await.unwrap();
}

async fn claims_are_compared_by_the_letter(bench: Bench) {
    let a = stream("a");
    let alike = ["x", "X", "x ", " x", "", "é", "e\u{301}", "ß", "ss"];
    let commit = alike.iter().fold(one(&a, 0), |commit, key| commit.take(&claim("slug", key), &a));
    bench.commit(commit).await.unwrap();
}

async fn a_refused_commit_releases_nothing(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    bench.commit(one(&a, 0).release(&slug())).await.unwrap_err();
    assert_eq!(bench.commit(one(&b, 0).take(&slug(), &b)).await, Err(taken_by(&a)));
}

async fn claims_outlive_a_restart(mut bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&slug(), &a)).await.unwrap();
    bench.reopen().await;
    assert_eq!(bench.commit(one(&b, 0).take(&slug(), &b)).await, Err(taken_by(&a)));
}

async fn a_commit_of_claims_only_takes_no_position(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0)).await.unwrap();
    let receipt = bench.commit(Commit::default().take(&slug(), &a)).await.unwrap();
    assert_eq!((receipt.first, receipt.last), (1, 1));
    assert_eq!(bench.commit(one(&b, 0).take(&slug(), &b)).await, Err(taken_by(&a)));
    assert_eq!(bench.commit(one(&a, 1)).await.unwrap().first, 2);
}

fn slug() -> Claim {
    claim("slug", "x")
}

fn taken_by(holder: &StreamId) -> CommitError {
    CommitError::ClaimTaken { claim: slug(), holder: holder.clone() }
}
