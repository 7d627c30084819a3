//! Commands that follow others which are still under way: they share a transaction, and fall with what they follow.

use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::commits::{Build, claim, event, event_with, events, one, remember, stream};
use muster_tests::gate::{Gate, batches};
use muster_tests::stores::{Bench, Kind};
use store::{Commit, CommitError, EventLog, Fate, NewEvent, Receipt, StreamId, Underway};

both_stores! {
    who_follow_one_another_share_a_transaction,
    who_follows_a_refused_command_is_refused_and_writes_nothing,
    a_follower_never_lands_on_what_took_its_leaders_place,
    of_two_that_follow_one_command_one_lands,
    a_follower_that_is_ahead_of_its_leader_leaves_no_hole,
    a_follower_that_the_database_refuses_fails_alone_with_those_behind_it,
    a_leader_that_the_database_refuses_takes_its_followers_along,
    more_followers_than_a_batch_holds_land_in_order,
    followers_larger_than_a_batch_land_in_order,
    followers_and_commands_of_other_kinds_share_a_transaction,
    a_follower_lands_although_its_leaders_caller_went_away,
    only_events_of_one_stream_follow,
    who_follows_what_has_ended_is_decided_by_itself,
}

/// A commit that lands only if another does.
fn after(fate: &Fate, commit: Commit) -> Commit {
    Commit { follows: Some(fate.clone()), ..commit }
}

/// Hands over a leader with so many followers of one event each, all on one stream.
async fn chain<'a>(log: &'a EventLog, of: &StreamId, expected: i64, followers: usize) -> Vec<Underway<'a>> {
    let mut all = vec![log.submit(one(of, expected)).await.unwrap()];
    for n in 1..=followers as i64 {
        let before = all.last().unwrap().fate.clone();
        all.push(log.submit(after(&before, one(of, expected + n))).await.unwrap());
    }
    all
}

async fn ends(all: Vec<Underway<'_>>) -> Vec<Result<Receipt, CommitError>> {
    join_all(all.into_iter().map(Underway::ended)).await
}

async fn who_follow_one_another_share_a_transaction(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    bench.commit(one(&busy, 0)).await.unwrap();
    let (gate, before) = (Gate::shut(&bench).await.unwrap(), batches(bench.stores()).await);
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let all = chain(&log, &busy, 1, 9).await;
    gate.open().await.unwrap();
    plug.ended().await.unwrap();
    let ends = ends(all).await;
    assert!(batches(bench.stores()).await - before <= 2, "the plug and what waited behind it");
    let stored = bench.stream(&busy).await;
    let told: Vec<i64> =
        ends.into_iter().map(|it| it.unwrap()).map(|it| (it.first == it.last).then_some(it.first).unwrap()).collect();
    assert_eq!(stored.iter().skip(1).map(|it| it.position).collect::<Vec<_>>(), told);
    assert!(stored.iter().zip(1..).all(|(event, sequence)| event.sequence == sequence));
    assert_eq!(log.verify(|_| {}).await.unwrap().finding, None);
}

async fn who_follows_a_refused_command_is_refused_and_writes_nothing(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    bench.commit(Commit::default().append(&busy, 0, events(3))).await.unwrap();
    let gate = Gate::shut(&bench).await.unwrap();
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let all = chain(&log, &busy, 2, 3).await;
    gate.open().await.unwrap();
    plug.ended().await.unwrap();
    let late = CommitError::Conflict { stream: busy.clone(), expected: 2, actual: 3 };
    let unfounded = || Err(CommitError::Unfounded);
    assert_eq!(ends(all).await, [Err(late), unfounded(), unfounded(), unfounded()]);
    assert_eq!(bench.stream(&busy).await.len(), 3);
    bench.commit(one(&busy, 3)).await.unwrap();
}

async fn a_follower_never_lands_on_what_took_its_leaders_place(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    bench.commit(one(&busy, 0)).await.unwrap();
    let gate = Gate::shut(&bench).await.unwrap();
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let first = log.submit(one(&busy, 1)).await.unwrap();
    // The follower expects the sequence that the other one leaves.
    let all = chain(&log, &busy, 1, 1).await;
    gate.open().await.unwrap();
    plug.ended().await.unwrap();
    first.ended().await.unwrap();
    let late = CommitError::Conflict { stream: busy.clone(), expected: 1, actual: 2 };
    assert_eq!(ends(all).await, [Err(late), Err(CommitError::Unfounded)]);
    assert_eq!(bench.stream(&busy).await.len(), 2);
}

async fn of_two_that_follow_one_command_one_lands(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let gate = Gate::shut(&bench).await.unwrap();
    let leader = log.submit(one(&busy, 0)).await.unwrap();
    let fate = leader.fate.clone();
    let first = log.submit(after(&fate, one(&busy, 1))).await.unwrap();
    let second = log.submit(after(&fate, one(&busy, 1))).await.unwrap();
    gate.open().await.unwrap();
    leader.ended().await.unwrap();
    first.ended().await.unwrap();
    let late = CommitError::Conflict { stream: busy.clone(), expected: 1, actual: 2 };
    assert_eq!(second.ended().await, Err(late));
    assert_eq!(bench.stream(&busy).await.len(), 2);
}

async fn a_follower_that_is_ahead_of_its_leader_leaves_no_hole(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let gate = Gate::shut(&bench).await.unwrap();
    let leader = log.submit(one(&busy, 0)).await.unwrap();
    let ahead = log.submit(after(&leader.fate, one(&busy, 3))).await.unwrap();
    gate.open().await.unwrap();
    leader.ended().await.unwrap();
    assert_eq!(ahead.ended().await, Err(CommitError::Conflict { stream: busy.clone(), expected: 3, actual: 1 }));
    assert_eq!(bench.stream(&busy).await.len(), 1);
}

/// A commit of one event that the database itself refuses.
async fn poison(bench: &Bench, of: &StreamId, expected: i64) -> Commit {
    let trap = match bench.kind {
        // The smallest of all numbers has no absolute value.
        Kind::Sqlite => {
            "create index trap on events (abs(case event_type when 'Poison' then -9223372036854775808 else 0 end))"
        }
        Kind::Postgres => {
            "create function trap() returns trigger language plpgsql as $$ begin raise 'poison'; end $$;
             create trigger trap before insert on events for each row when (new.event_type = 'Poison')
             execute function trap()"
        }
    };
    bench.run_raw(trap).await.unwrap();
    Commit::default().append(of, expected, vec![NewEvent { event_type: "Poison".into(), ..event() }])
}

async fn a_follower_that_the_database_refuses_fails_alone_with_those_behind_it(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let poison = poison(&bench, &busy, 1).await;
    let gate = Gate::shut(&bench).await.unwrap();
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let leader = log.submit(one(&busy, 0)).await.unwrap();
    let bad = log.submit(after(&leader.fate, poison)).await.unwrap();
    let behind = log.submit(after(&bad.fate, one(&busy, 2))).await.unwrap();
    let neighbour = log.submit(one(&stream("neighbour"), 0)).await.unwrap();
    gate.open().await.unwrap();
    for landed in [plug, leader, neighbour] {
        landed.ended().await.unwrap();
    }
    let refused = bad.ended().await;
    assert!(matches!(refused, Err(CommitError::Malformed(_))), "{refused:?}");
    assert_eq!(behind.ended().await, Err(CommitError::Unfounded));
    assert_eq!(bench.stream(&busy).await.len(), 1);
    assert_eq!(log.verify(|_| {}).await.unwrap().finding, None);
}

async fn a_leader_that_the_database_refuses_takes_its_followers_along(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let poison = poison(&bench, &busy, 0).await;
    let gate = Gate::shut(&bench).await.unwrap();
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let bad = log.submit(poison).await.unwrap();
    let behind = log.submit(after(&bad.fate, one(&busy, 1))).await.unwrap();
    gate.open().await.unwrap();
    plug.ended().await.unwrap();
    assert!(matches!(bad.ended().await, Err(CommitError::Malformed(_))));
    assert_eq!(behind.ended().await, Err(CommitError::Unfounded));
    assert_eq!(bench.stream(&busy).await, []);
}

async fn more_followers_than_a_batch_holds_land_in_order(bench: Bench) {
    lands_in_order(&bench, (0..700).map(|n| one(&stream("busy"), n)).collect()).await;
}

async fn followers_larger_than_a_batch_land_in_order(bench: Bench) {
    let large = |n: i64| {
        let text = format!("{:?}", "x".repeat(600_000));
        Commit::default().append(&stream("busy"), n, vec![event_with(text)])
    };
    lands_in_order(&bench, (0..12).map(large).collect()).await;
}

async fn lands_in_order(bench: &Bench, commits: Vec<Commit>) {
    let (log, ids) = (bench.log(), commits.iter().map(|it| it.appends[0].events[0].event_id).collect::<Vec<_>>());
    let gate = Gate::shut(bench).await.unwrap();
    let mut all: Vec<Underway<'_>> = Vec::new();
    for commit in commits {
        let follows = all.last().map(|it| it.fate.clone());
        all.push(log.submit(Commit { follows, ..commit }).await.unwrap());
    }
    gate.open().await.unwrap();
    assert!(ends(all).await.iter().all(Result::is_ok));
    assert_eq!(bench.stream(&stream("busy")).await.iter().map(|it| it.event_id).collect::<Vec<_>>(), ids);
    assert_eq!(log.verify(|_| {}).await.unwrap().finding, None);
}

async fn followers_and_commands_of_other_kinds_share_a_transaction(bench: Bench) {
    let (log, busy, slug) = (bench.log(), stream("busy"), claim("slug", "x"));
    let (gate, before) = (Gate::shut(&bench).await.unwrap(), batches(bench.stores()).await);
    let plug = log.submit(one(&stream("plug"), 0)).await.unwrap();
    let holder = stream("holder");
    let claims = log.submit(one(&holder, 0).take(&slug, &holder)).await.unwrap();
    let all = chain(&log, &busy, 0, 4).await;
    let keyed = log.submit(one(&stream("keyed"), 0).remembered(remember("key", "{}"))).await.unwrap();
    let too_late = log.submit(one(&stream("other"), 0).take(&slug, &stream("other"))).await.unwrap();
    gate.open().await.unwrap();
    for landed in [plug, claims, keyed].into_iter().chain(all) {
        landed.ended().await.unwrap();
    }
    assert_eq!(too_late.ended().await, Err(CommitError::ClaimTaken { claim: slug, holder }));
    // The plug and what waited behind it; what comes too late for the claim writes nothing.
    assert!(batches(bench.stores()).await - before <= 2);
    assert_eq!(bench.stream(&busy).await.len(), 5);
}

async fn a_follower_lands_although_its_leaders_caller_went_away(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let gate = Gate::shut(&bench).await.unwrap();
    let leader = log.submit(one(&busy, 0)).await.unwrap();
    let follower = log.submit(after(&leader.fate, one(&busy, 1))).await.unwrap();
    drop(leader);
    gate.open().await.unwrap();
    follower.ended().await.unwrap();
    assert_eq!(bench.stream(&busy).await.len(), 2);
}

async fn only_events_of_one_stream_follow(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let leader = log.submit(one(&busy, 0)).await.unwrap();
    let claims = one(&busy, 1).take(&claim("slug", "x"), &busy);
    let refused = log.submit(after(&leader.fate, claims)).await.err();
    assert!(matches!(refused, Some(CommitError::Malformed(_))), "{refused:?}");
    leader.ended().await.unwrap();
}

async fn who_follows_what_has_ended_is_decided_by_itself(bench: Bench) {
    let (log, busy) = (bench.log(), stream("busy"));
    let landed = log.submit(one(&busy, 0)).await.unwrap();
    let fate = landed.fate.clone();
    landed.ended().await.unwrap();
    assert!(fate.lands().await);
    bench.commit(after(&fate, one(&busy, 1))).await.unwrap();
    let late = bench.commit(after(&fate, one(&busy, 1))).await;
    assert_eq!(late, Err(CommitError::Conflict { stream: busy.clone(), expected: 1, actual: 2 }));
    let refused = log.submit(one(&busy, 0)).await.unwrap();
    let fate = refused.fate.clone();
    assert!(refused.ended().await.is_err());
    assert_eq!(bench.commit(after(&fate, one(&busy, 2))).await, Err(CommitError::Unfounded));
}
