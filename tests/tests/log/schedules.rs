//! Random schedules of commands, some of them at once, against the model: same outcomes, same log.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use futures_util::future::join_all;
use muster_tests::commits::{Build, account, claim, events, remember, stream};
use muster_tests::model::{Model, Positions, Recorded};
use muster_tests::stores::{Bench, Kind};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use store::{Claim, Commit, CommitError, Guard, Remember, RowChange, StreamId};

#[test]
fn random_schedules_end_on_sqlite_as_in_the_model() {
    run_schedules(Kind::Sqlite, 40);
}

#[test]
fn random_schedules_end_on_postgres_as_in_the_model() {
    run_schedules(Kind::Postgres, 12);
}

/// Small, so that commands meet.
const STREAMS: usize = 3;
const CLAIMS: usize = 4;
const EMAILS: usize = 3;
const KEYS: usize = 2;

/// Commands that are sent at once, and how many seconds pass before them.
#[derive(Debug, Clone)]
struct Group {
    seconds: i64,
    commands: Vec<Planned>,
}

/// A command in terms of where the log stands when it is sent.
#[derive(Debug, Clone)]
struct Planned {
    /// How far off the writer's idea of the stream is, and how many events it has.
    appends: [Option<(i64, usize)>; STREAMS],
    /// Who takes which claim.
    takes: [Option<usize>; CLAIMS],
    releases: [bool; CLAIMS],
    at: Option<(usize, i64)>,
    held: Option<(usize, usize)>,
    empty: Option<usize>,
    email: Option<usize>,
    /// Which key, and for how many seconds it counts.
    key: Option<(usize, Option<i64>)>,
}

fn planned() -> impl Strategy<Value = Planned> {
    let off = || prop_oneof![8 => Just(0), 1 => Just(-1), 1 => Just(1)];
    let append = prop::option::weighted(0.4, (off(), 1..3_usize));
    let take = prop::option::weighted(0.2, 0..STREAMS);
    (
        [append.clone(), append.clone(), append],
        [take.clone(), take.clone(), take.clone(), take],
        [prop::bool::weighted(0.25); CLAIMS],
        prop::option::weighted(0.2, (0..STREAMS, off())),
        prop::option::weighted(0.1, (0..CLAIMS, 0..STREAMS)),
        prop::option::weighted(0.1, 0..2_usize),
        prop::option::weighted(0.1, 0..EMAILS),
        prop::option::weighted(0.35, (0..KEYS, prop::option::weighted(0.8, 1..5_i64))),
    )
        .prop_map(|(appends, takes, releases, at, held, empty, email, key)| Planned {
            appends,
            takes,
            releases,
            at,
            held,
            empty,
            email,
            key,
        })
}

fn schedule() -> impl Strategy<Value = Vec<Group>> {
    let group = (0..3_i64, prop::collection::vec(planned(), 1..5));
    prop::collection::vec(group.prop_map(|(seconds, commands)| Group { seconds, commands }), 1..12)
}

fn run_schedules(kind: Kind, cases: u32) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    // The same schedules every time, so that a failure is one for everybody.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&schedule(), |schedule| runtime.block_on(run(kind, schedule)));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn run(kind: Kind, schedule: Vec<Group>) -> Result<(), TestCaseError> {
    let bench = Bench::open(kind).await;
    // More than one only while the outcomes so far leave the order of commands open.
    let mut models = vec![Model::default()];
    for group in schedule {
        bench.clock.set(bench.clock.now() + TimeDelta::seconds(group.seconds));
        let now = bench.clock.now_micros();
        let commits: Vec<Commit> = group.commands.iter().map(|it| it.commit(&models[0], now)).collect();
        let outcomes = join_all(commits.iter().map(|it| bench.commit(it.clone()))).await;
        let told: Vec<(&Commit, Outcome)> =
            commits.iter().zip(outcomes).map(|(it, outcome)| (it, outcome.map(|it| (it.first, it.last)))).collect();
        let mut after = Vec::new();
        for model in &models {
            collect_orders(model, now, &told, &mut after);
        }
        prop_assert!(!after.is_empty(), "no order of these commands explains their outcomes: {told:#?}");
        models = after;
    }
    let all = bench.everything().await;
    prop_assert!(all.iter().zip(1..).all(|(event, position)| event.position == position));
    let stored: Vec<Recorded> = all
        .into_iter()
        .map(|it| Recorded { stream: it.stream, sequence: it.sequence, event_id: it.event_id })
        .collect();
    let claims = held_claims(&bench).await;
    let explained = models.iter().any(|model| model.events == stored && model.claims == claims);
    prop_assert!(explained, "the log is not what the outcomes say:\n{stored:#?}\n{claims:#?}\n{models:#?}");
    prop_assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
    Ok(())
}

type Outcome = Result<Positions, CommitError>;

/// Every state that the model can be in after these commands, one after the other in some order, with these outcomes.
fn collect_orders(model: &Model, now: i64, rest: &[(&Commit, Outcome)], after: &mut Vec<Model>) {
    if rest.is_empty() {
        if !after.contains(model) {
            after.push(model.clone());
        }
        return;
    }
    for next in 0..rest.len() {
        let (commit, told) = &rest[next];
        let mut model = model.clone();
        if model.commit(commit, now) == *told {
            let others: Vec<_> =
                rest.iter().enumerate().filter(|(n, _)| *n != next).map(|(_, it)| it.clone()).collect();
            collect_orders(&model, now, &others, after);
        }
    }
}

impl Planned {
    fn commit(&self, model: &Model, now: i64) -> Commit {
        let mut commit = Commit::default();
        for (name, append) in self.appends.iter().enumerate() {
            if let Some((off, count)) = append {
                commit = commit.append(&stream(name), expected(model, name, *off), events(*count));
            }
        }
        for (of, holder) in self.takes.iter().enumerate() {
            if let Some(holder) = holder {
                commit = commit.take(&claims()[of], &stream(holder));
            }
        }
        for (of, _) in self.releases.iter().enumerate().filter(|(_, it)| **it) {
            commit = commit.release(&claims()[of]);
        }
        if let Some((name, off)) = self.at {
            commit = commit.guard(Guard::At { stream: stream(name), sequence: expected(model, name, off) });
        }
        if let Some((of, holder)) = self.held {
            commit = commit.guard(Guard::Held { claim: claims()[of].clone(), holder: stream(holder) });
        }
        if let Some(of) = self.empty {
            commit = commit.guard(Guard::Empty { scope: claims()[of * 2].scope.clone() });
        }
        if let Some(email) = self.email {
            commit = commit.row(RowChange::AddAccount(account(&format!("{email}@example.org"))));
        }
        if let Some((key, seconds)) = self.key {
            let outcome = uuid::Uuid::now_v7().to_string();
            let expires_at = seconds.map(|it| now + it * 1_000_000);
            commit = commit.remembered(Remember { expires_at, ..remember(&key.to_string(), &outcome) });
        }
        commit
    }
}

fn expected(model: &Model, name: usize, off: i64) -> i64 {
    (model.sequence(&stream(name)) + off).max(0)
}

/// Two scopes with two keys each.
fn claims() -> [Claim; CLAIMS] {
    [claim("one", "x"), claim("one", "y"), claim("two", "x"), claim("two", "y")]
}

/// Who holds what, asked of the log by commits that only guard.
async fn held_claims(bench: &Bench) -> BTreeMap<Claim, StreamId> {
    let mut held = BTreeMap::new();
    for claim in claims() {
        for holder in (0..STREAMS).map(stream) {
            let guard = Guard::Held { claim: claim.clone(), holder: holder.clone() };
            if bench.commit(Commit::default().guard(guard)).await.is_ok() {
                held.insert(claim.clone(), holder);
            }
        }
    }
    held
}
