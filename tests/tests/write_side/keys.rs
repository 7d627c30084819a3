//! Idempotency keys: a command under a key is run at most once.

use std::time::Duration;

use commands::{CommandError, Context, Idempotency, Refusal};
use domain::workspace::WorkspaceError;
use domain::{Slug, WorkspaceId};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, create_workspace, new};
use muster_tests::stores::Bench;
use store::CommandKey;

both_stores! {
    a_repeat_is_answered_and_not_run,
    a_key_is_for_one_request,
    keys_of_two_people_are_apart,
    a_key_is_forgotten_after_its_lifetime,
    a_refused_command_leaves_its_key_free,
    a_repeat_that_changes_nothing_is_remembered_too,
    one_key_sent_many_times_at_once_has_one_effect_on_two_nodes,
}

async fn a_repeat_is_answered_and_not_run(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let create = create_workspace(new(), fleet.owner, "acme");
    let first = fleet.executor.run(&keyed(&fleet, "k", b"a"), &create).await.unwrap();
    // The repeat comes with an id of its own, and gets the first one's.
    let again = create_workspace(new(), fleet.owner, "acme");
    let second = fleet.executor.run(&keyed(&fleet, "k", b"a"), &again).await.unwrap();
    assert!(!first.replayed && second.replayed);
    assert_eq!((first.outcome, first.position), (second.outcome, second.position));
    assert_eq!(bench.everything().await.len(), 1);
}

async fn a_key_is_for_one_request(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    fleet.executor.run(&keyed(&fleet, "k", b"a"), &create_workspace(new(), fleet.owner, "acme")).await.unwrap();
    let other = create_workspace(new(), fleet.owner, "other");
    let ended = fleet.executor.run(&keyed(&fleet, "k", b"b"), &other).await;
    assert_eq!(ended, Err(CommandError::KeyReused));
    assert_eq!(bench.everything().await.len(), 1);
}

async fn keys_of_two_people_are_apart(bench: Bench) {
    let (one, two) = (Fleet::on(bench.log()), Fleet::on(bench.log()));
    one.executor.run(&keyed(&one, "k", b"a"), &create_workspace(new(), one.owner, "one")).await.unwrap();
    let done = two.executor.run(&keyed(&two, "k", b"b"), &create_workspace(new(), two.owner, "two")).await.unwrap();
    assert!(!done.replayed);
}

async fn a_key_is_forgotten_after_its_lifetime(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let id: WorkspaceId = new();
    fleet.executor.run(&keyed(&fleet, "k", b"a"), &create_workspace(id, fleet.owner, "acme")).await.unwrap();
    bench.clock.set(bench.clock.now() + chrono::TimeDelta::hours(25));
    let done = fleet.executor.run(&keyed(&fleet, "k", b"b"), &create_workspace(new(), fleet.owner, "other")).await;
    assert!(!done.unwrap().replayed);
}

async fn a_refused_command_leaves_its_key_free(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    fleet.workspace("acme").await.unwrap();
    let taken = create_workspace(new(), fleet.owner, "acme");
    let ended = fleet.executor.run(&keyed(&fleet, "k", b"a"), &taken).await;
    let slug = Slug::parse("acme").unwrap();
    assert_eq!(ended, Err(CommandError::Refused(Refusal::Workspace(WorkspaceError::SlugTaken(slug)))));
    let free = create_workspace(new(), fleet.owner, "free");
    assert!(!fleet.executor.run(&keyed(&fleet, "k", b"b"), &free).await.unwrap().replayed);
}

async fn a_repeat_that_changes_nothing_is_remembered_too(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let id = fleet.workspace("acme").await.unwrap();
    let rename = muster_tests::fleet::rename_workspace(id, fleet.owner, "acme");
    let first = fleet.executor.run(&keyed(&fleet, "k", b"a"), &rename).await.unwrap();
    let second = fleet.executor.run(&keyed(&fleet, "k", b"a"), &rename).await.unwrap();
    assert!(second.replayed);
    assert_eq!(first.position, second.position);
}

async fn one_key_sent_many_times_at_once_has_one_effect_on_two_nodes(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(bench.log());
    let sends = (0..16).map(|n| {
        let node = if n % 2 == 0 { &here } else { &there };
        async move {
            let create = create_workspace(new(), node.owner, "acme");
            node.executor.run(&keyed(node, "k", b"a"), &create).await
        }
    });
    for ended in join_all(sends).await {
        assert!(matches!(ended, Ok(_) | Err(CommandError::InFlight)), "{ended:?}");
    }
    assert_eq!(bench.everything().await.len(), 1);
}

fn keyed(fleet: &Fleet, key: &str, fingerprint: &[u8]) -> Context {
    let key = CommandKey { principal: fleet.owner.to_string(), route: "workspace.create".into(), key: key.into() };
    let lifetime = Some(Duration::from_secs(24 * 60 * 60));
    let idempotency = Some(Idempotency { key, fingerprint: fingerprint.to_vec(), lifetime });
    Context { idempotency, ..fleet.context() }
}
