//! Optimistic concurrency: a commit lands on all its streams as the writer knew them, or on none.

use muster_tests::both_stores;
use muster_tests::commits::{Build, claim, events, one, stream};
use muster_tests::stores::Bench;
use store::{Commit, CommitError};

both_stores! {
    a_writer_behind_the_stream_is_told_where_it_stands,
    a_writer_ahead_of_the_stream_is_told_where_it_stands,
    a_stream_begins_only_once,
    who_remembers_nothing_refuses_the_same,
    a_commit_lands_on_all_its_streams,
    one_conflict_keeps_the_whole_commit_out,
    the_first_conflict_is_the_one_that_is_named,
    a_refused_commit_leaves_no_hole,
}

async fn a_writer_behind_the_stream_is_told_where_it_stands(bench: Bench) {
    let a = stream("a");
    bench.commit(Commit::default().append(&a, 0, events(3))).await.unwrap();
    let refusal = bench.commit(one(&a, 2)).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: a, expected: 2, actual: 3 });
}

async fn a_writer_ahead_of_the_stream_is_told_where_it_stands(bench: Bench) {
    let (a, new) = (stream("a"), stream("new"));
    bench.commit(one(&a, 0)).await.unwrap();
    let refusal = bench.commit(one(&a, 5)).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: a, expected: 5, actual: 1 });
    let refusal = bench.commit(one(&new, 1)).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: new, expected: 1, actual: 0 });
}

async fn a_stream_begins_only_once(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0)).await.unwrap();
    let refusal = bench.commit(one(&a, 0)).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: a.clone(), expected: 0, actual: 1 });
    assert_eq!(bench.stream(&a).await.len(), 1);
}

async fn who_remembers_nothing_refuses_the_same(mut bench: Bench) {
    let a = stream("a");
    bench.commit(Commit::default().append(&a, 0, events(3))).await.unwrap();
    for expected in [0, 2, 5] {
        bench.close();
        bench.reopen().await;
        let (late, beside) = tokio::join!(bench.commit(one(&a, expected)), bench.commit(one(&stream(expected), 0)));
        assert_eq!(late.unwrap_err(), CommitError::Conflict { stream: a.clone(), expected, actual: 3 });
        beside.unwrap();
    }
    assert_eq!(bench.stream(&a).await.len(), 3);
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn a_commit_lands_on_all_its_streams(bench: Bench) {
    let names: Vec<_> = (0..5).map(stream).collect();
    let commit = names.iter().fold(Commit::default(), |commit, it| commit.append(it, 0, events(2)));
    let receipt = bench.commit(commit).await.unwrap();
    assert_eq!((receipt.first, receipt.last), (1, 10));
    for name in &names {
        assert_eq!(bench.stream(name).await.len(), 2);
    }
}

async fn one_conflict_keeps_the_whole_commit_out(bench: Bench) {
    let (a, b, c) = (stream("a"), stream("b"), stream("c"));
    bench.commit(one(&b, 0)).await.unwrap();
    let slug = claim("slug", "x");
    let all =
        Commit::default().append(&a, 0, events(1)).append(&b, 0, events(1)).append(&c, 0, events(1)).take(&slug, &a);
    let refusal = bench.commit(all).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: b, expected: 0, actual: 1 });
    assert_eq!(bench.stream(&a).await, []);
    assert_eq!(bench.stream(&c).await, []);
    // The claim is still free too.
    bench.commit(one(&c, 0).take(&slug, &c)).await.unwrap();
}

async fn the_first_conflict_is_the_one_that_is_named(bench: Bench) {
    let (a, b, c) = (stream("a"), stream("b"), stream("c"));
    let both = Commit::default().append(&c, 0, events(1)).append(&b, 7, events(1)).append(&a, 7, events(1));
    let refusal = bench.commit(both).await.unwrap_err();
    assert_eq!(refusal, CommitError::Conflict { stream: b, expected: 7, actual: 0 });
}

async fn a_refused_commit_leaves_no_hole(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0)).await.unwrap();
    bench.commit(one(&a, 0)).await.unwrap_err();
    bench.commit(one(&stream("b"), 9)).await.unwrap_err();
    let receipt = bench.commit(one(&a, 1)).await.unwrap();
    assert_eq!(receipt.first, 2);
}
