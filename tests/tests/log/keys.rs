//! Idempotency: a command that has landed is remembered with its events, and its repeat is not run.

use chrono::TimeDelta;
use muster_tests::both_stores;
use muster_tests::commits::{Build, claim, command_key, one, remember, stream};
use muster_tests::stores::{Bench, noon};
use store::{CommandKey, Commit, CommitError, Remember, Remembered, reactor_key};
use uuid::Uuid;

both_stores! {
    a_repeat_is_told_what_was_remembered,
    a_used_key_comes_before_every_other_reason,
    a_repeat_changes_nothing,
    a_refused_command_is_not_remembered,
    a_key_belongs_to_one_caller_and_one_route,
    a_key_is_free_again_after_its_time,
    a_reused_key_remembers_the_later_command,
    a_key_without_an_end_is_never_forgotten,
    a_command_without_events_is_remembered_at_the_head,
    keys_outlive_a_restart,
    of_many_repeats_at_once_one_lands,
}

async fn a_repeat_is_told_what_was_remembered(bench: Bench) {
    bench.commit(one(&stream("other"), 0)).await.unwrap();
    let outcome = r#"{"id":"ü \u0000 '"}"#;
    bench.commit(one(&stream("a"), 0).remembered(remember("k", outcome))).await.unwrap();
    bench.commit(one(&stream("other"), 1)).await.unwrap();
    let repeat = bench.commit(one(&stream("a"), 1).remembered(remember("k", "{}"))).await;
    let known = Remembered { fingerprint: outcome.into(), outcome: outcome.into(), position: 2 };
    assert_eq!(repeat, Err(CommitError::KeyUsed(known)));
}

async fn a_used_key_comes_before_every_other_reason(bench: Bench) {
    let (a, slug) = (stream("a"), claim("slug", "x"));
    let command = one(&a, 0).take(&slug, &a).remembered(remember("k", "{}"));
    bench.commit(command.clone()).await.unwrap();
    // The very same commit would also be a conflict and take a taken claim.
    assert!(matches!(bench.commit(command).await, Err(CommitError::KeyUsed(_))));
}

async fn a_repeat_changes_nothing(bench: Bench) {
    let (a, slug) = (stream("a"), claim("slug", "x"));
    bench.commit(one(&a, 0).remembered(remember("k", "{}"))).await.unwrap();
    bench.commit(one(&a, 1).take(&slug, &a).remembered(remember("k", "{}"))).await.unwrap_err();
    assert_eq!(bench.everything().await.len(), 1);
    bench.commit(one(&a, 1).take(&slug, &a)).await.unwrap();
}

async fn a_refused_command_is_not_remembered(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 7).remembered(remember("k", "{}"))).await.unwrap_err();
    bench.commit(one(&a, 0).remembered(remember("k", "{}"))).await.unwrap();
}

async fn a_key_belongs_to_one_caller_and_one_route(bench: Bench) {
    let key = command_key("k");
    let apart = [
        key.clone(),
        CommandKey { principal: "user:bob".into(), ..key.clone() },
        CommandKey { route: "thing.undo".into(), ..key.clone() },
        CommandKey { key: "K".into(), ..key },
        reactor_key("scores", Uuid::nil()),
        reactor_key("timers", Uuid::nil()),
    ];
    for (key, name) in apart.into_iter().zip(0..) {
        bench.commit(one(&stream(name), 0).remembered(Remember { key, ..remember("", "{}") })).await.unwrap();
    }
}

async fn a_key_is_free_again_after_its_time(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0).remembered(for_an_hour(&bench, "first"))).await.unwrap();
    bench.clock.set(noon() + TimeDelta::minutes(59));
    bench.commit(one(&a, 1).remembered(for_an_hour(&bench, "second"))).await.unwrap_err();
    bench.clock.set(noon() + TimeDelta::minutes(60));
    bench.commit(one(&a, 1).remembered(for_an_hour(&bench, "third"))).await.unwrap();
}

async fn a_reused_key_remembers_the_later_command(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0).remembered(for_an_hour(&bench, "first"))).await.unwrap();
    bench.clock.set(noon() + TimeDelta::hours(2));
    bench.commit(one(&a, 1).remembered(for_an_hour(&bench, "second"))).await.unwrap();
    let refusal = bench.commit(one(&a, 2).remembered(for_an_hour(&bench, "third"))).await;
    let known = Remembered { fingerprint: "second".into(), outcome: "second".into(), position: 2 };
    assert_eq!(refusal, Err(CommitError::KeyUsed(known)));
}

async fn a_key_without_an_end_is_never_forgotten(bench: Bench) {
    let a = stream("a");
    bench.commit(one(&a, 0).remembered(remember("k", "{}"))).await.unwrap();
    bench.clock.set(noon() + TimeDelta::days(365_000));
    bench.commit(one(&a, 1).remembered(remember("k", "{}"))).await.unwrap_err();
}

async fn a_command_without_events_is_remembered_at_the_head(bench: Bench) {
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    let command = Commit::default().remembered(remember("k", "{}"));
    let receipt = bench.commit(command.clone()).await.unwrap();
    assert_eq!((receipt.first, receipt.last), (1, 1));
    let known = Remembered { fingerprint: "{}".into(), outcome: "{}".into(), position: 1 };
    assert_eq!(bench.commit(command).await, Err(CommitError::KeyUsed(known)));
}

async fn keys_outlive_a_restart(mut bench: Bench) {
    bench.commit(one(&stream("a"), 0).remembered(remember("k", "{}"))).await.unwrap();
    bench.reopen().await;
    let repeat = bench.commit(one(&stream("a"), 1).remembered(remember("k", "{}"))).await;
    assert!(matches!(repeat, Err(CommitError::KeyUsed(_))));
}

async fn of_many_repeats_at_once_one_lands(bench: Bench) {
    let repeats = (0..16).map(|name| bench.commit(one(&stream(name), 0).remembered(remember("k", "{}"))));
    let outcomes = futures_util::future::join_all(repeats).await;
    let landed = outcomes.iter().filter(|it| it.is_ok()).count();
    assert_eq!(landed, 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|it| matches!(it, Ok(_) | Err(CommitError::KeyUsed(_)))), "{outcomes:?}");
    assert_eq!(bench.everything().await.len(), 1);
}

fn for_an_hour(bench: &Bench, outcome: &str) -> Remember {
    let expires_at = bench.clock.now() + TimeDelta::hours(1);
    Remember { expires_at: Some(expires_at.timestamp_micros()), ..remember("k", outcome) }
}
