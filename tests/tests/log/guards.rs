//! Guards: what must hold for a commit to land, with nothing appended there.

use muster_tests::both_stores;
use muster_tests::commits::{Build, claim, events, one, stream};
use muster_tests::stores::Bench;
use store::{Claim, Commit, CommitError, Guard, StreamId};

both_stores! {
    a_commit_lands_while_a_stream_it_read_stands_still,
    a_commit_is_refused_once_a_stream_it_read_has_moved,
    a_stream_that_must_be_unborn_is_at_zero,
    a_commit_lands_while_its_claim_is_held,
    a_commit_is_refused_when_another_stream_holds_the_claim,
    a_commit_is_refused_when_nobody_holds_the_claim,
    a_commit_lands_while_a_scope_is_empty,
    a_commit_is_refused_when_a_scope_holds_a_claim,
    a_scope_is_empty_again_after_its_last_release,
    guards_look_at_the_log_as_it_was_before_the_commit,
    a_refused_guard_keeps_the_whole_commit_out,
    a_commit_of_guards_only_asks_and_changes_nothing,
}

async fn a_commit_lands_while_a_stream_it_read_stands_still(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(Commit::default().append(&a, 0, events(2))).await.unwrap();
    bench.commit(one(&b, 0).guard(at(&a, 2))).await.unwrap();
    assert_eq!(bench.stream(&a).await.len(), 2);
}

async fn a_commit_is_refused_once_a_stream_it_read_has_moved(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(Commit::default().append(&a, 0, events(2))).await.unwrap();
    for expected in [0, 1, 3] {
        let refusal = bench.commit(one(&b, 0).guard(at(&a, expected))).await;
        assert_eq!(refusal, Err(CommitError::Conflict { stream: a.clone(), expected, actual: 2 }));
    }
    assert_eq!(bench.stream(&b).await, []);
}

async fn a_stream_that_must_be_unborn_is_at_zero(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&b, 0).guard(at(&a, 0))).await.unwrap();
    let refusal = bench.commit(one(&a, 0).guard(at(&b, 0))).await;
    assert_eq!(refusal, Err(CommitError::Conflict { stream: b, expected: 0, actual: 1 }));
}

async fn a_commit_lands_while_its_claim_is_held(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&active(), &a)).await.unwrap();
    bench.commit(one(&b, 0).guard(held(&a))).await.unwrap();
}

async fn a_commit_is_refused_when_another_stream_holds_the_claim(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&active(), &a)).await.unwrap();
    assert_eq!(bench.commit(one(&b, 0).guard(held(&b))).await, Err(not_held(&b)));
    assert_eq!(bench.stream(&b).await, []);
}

async fn a_commit_is_refused_when_nobody_holds_the_claim(bench: Bench) {
    let a = stream("a");
    assert_eq!(bench.commit(one(&a, 0).guard(held(&a))).await, Err(not_held(&a)));
    bench.commit(one(&a, 0).take(&active(), &a)).await.unwrap();
    bench.commit(one(&a, 1).release(&active())).await.unwrap();
    assert_eq!(bench.commit(one(&a, 2).guard(held(&a))).await, Err(not_held(&a)));
}

async fn a_commit_lands_while_a_scope_is_empty(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0).take(&claim("agent:1", "x"), &a)).await.unwrap();
    // Neither a scope that begins alike nor one that contains it counts.
    bench.commit(one(&a, 1).guard(empty("agent")).guard(empty("agent:11")).guard(empty("agent:_"))).await.unwrap();
}

async fn a_commit_is_refused_when_a_scope_holds_a_claim(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0).take(&active(), &a)).await.unwrap();
    let refusal = bench.commit(one(&b, 0).guard(empty("active"))).await;
    assert_eq!(refusal, Err(CommitError::ScopeNotEmpty { scope: "active".into() }));
}

async fn a_scope_is_empty_again_after_its_last_release(bench: Bench) {
    let a = stream("a");
    let second = claim("active", "second");
    bench.commit(one(&a, 0).take(&active(), &a).take(&second, &a)).await.unwrap();
    bench.commit(one(&a, 1).release(&active())).await.unwrap();
    bench.commit(one(&a, 2).guard(empty("active"))).await.unwrap_err();
    bench.commit(one(&a, 2).release(&second)).await.unwrap();
    bench.commit(one(&a, 3).guard(empty("active"))).await.unwrap();
}

async fn guards_look_at_the_log_as_it_was_before_the_commit(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    // What the commit takes does not fill the scope that it needs empty, nor hold what it needs held.
    assert_eq!(bench.commit(one(&a, 0).take(&active(), &a).guard(held(&a))).await, Err(not_held(&a)));
    bench.commit(one(&a, 0).take(&active(), &a).guard(empty("active"))).await.unwrap();
    bench.commit(one(&a, 1).release(&active()).guard(empty("active"))).await.unwrap_err();
    // It may give up the very claim that let it in.
    let moved = one(&b, 0).guard(held(&a)).release(&active()).take(&active(), &b);
    bench.commit(moved).await.unwrap();
    bench.commit(one(&b, 1).guard(held(&b))).await.unwrap();
}

async fn a_refused_guard_keeps_the_whole_commit_out(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    let commit = one(&a, 0).take(&active(), &a).guard(at(&b, 4));
    bench.commit(commit).await.unwrap_err();
    assert_eq!(bench.everything().await, []);
    bench.commit(one(&b, 0).take(&active(), &b)).await.unwrap();
}

async fn a_commit_of_guards_only_asks_and_changes_nothing(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0)).await.unwrap();
    let receipt = bench.commit(Commit::default().guard(at(&a, 1)).guard(empty("active"))).await.unwrap();
    assert_eq!((receipt.first, receipt.last), (1, 1));
    let refusal = bench.commit(Commit::default().guard(at(&a, 0))).await;
    assert_eq!(refusal, Err(CommitError::Conflict { stream: a, expected: 0, actual: 1 }));
    assert_eq!(bench.everything().await.len(), 1);
}

fn active() -> Claim {
    claim("active", "agent")
}

fn at(stream: &StreamId, sequence: i64) -> Guard {
    Guard::At { stream: stream.clone(), sequence }
}

fn held(holder: &StreamId) -> Guard {
    Guard::Held { claim: active(), holder: holder.clone() }
}

fn not_held(holder: &StreamId) -> CommitError {
    CommitError::ClaimNotHeld { claim: active(), holder: holder.clone() }
}

fn empty(scope: &str) -> Guard {
    Guard::Empty { scope: scope.into() }
}
