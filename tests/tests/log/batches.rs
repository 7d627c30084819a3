//! Group commit: commands that share a transaction share nothing else, least of all each other's faults.

use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::commits::{Build, account, claim, event_with, one, remember, stream};
use muster_tests::stores::Bench;
use store::{Account, Commit, CommitError, Credential, Guard, Receipt, RowChange, SignInSession};
use uuid::Uuid;

both_stores! {
    a_refused_command_never_harms_its_neighbours,
    a_row_that_the_database_refuses_fails_its_command_alone,
    json_that_the_database_refuses_fails_its_command_alone,
    of_many_that_want_one_claim_one_gets_it,
    of_many_that_want_one_address_one_gets_it,
    of_many_that_need_a_scope_empty_to_fill_it_one_lands,
    a_guard_and_the_commit_it_guards_against_never_both_land,
    commands_share_transactions,
    a_caller_that_goes_away_leaves_its_neighbours_alone,
}

const MANY: usize = 120;

async fn a_refused_command_never_harms_its_neighbours(bench: Bench) {
    let (taken, holder) = (claim("slug", "taken"), stream("holder"));
    let prepared = one(&holder, 0)
        .take(&taken, &holder)
        .row(RowChange::AddAccount(account("ada@example.org")))
        .remembered(remember("used", "{}"));
    bench.commit(prepared).await.unwrap();
    let commits = (0..MANY).map(|n| {
        let own = stream(n);
        bench.commit(match n % 8 {
            1 => one(&own, 3),
            2 => one(&own, 0).take(&taken, &own),
            3 => one(&own, 0).remembered(remember("used", "{}")),
            4 => one(&own, 0).row(RowChange::AddAccount(account("ada@example.org"))),
            5 => one(&own, 0).guard(Guard::Empty { scope: "slug".into() }),
            6 => one(&own, 0).guard(Guard::Held { claim: taken.clone(), holder: own.clone() }),
            _ => one(&own, 0),
        })
    });
    let outcomes = join_all(commits).await;
    for (n, outcome) in outcomes.iter().enumerate() {
        let as_it_should = match n % 8 {
            1 => matches!(outcome, Err(CommitError::Conflict { expected: 3, actual: 0, .. })),
            2 => matches!(outcome, Err(CommitError::ClaimTaken { holder: by, .. }) if *by == holder),
            3 => matches!(outcome, Err(CommitError::KeyUsed(known)) if known.position == 1),
            4 => *outcome == Err(CommitError::EmailTaken),
            5 => matches!(outcome, Err(CommitError::ScopeNotEmpty { .. })),
            6 => matches!(outcome, Err(CommitError::ClaimNotHeld { .. })),
            _ => outcome.is_ok(),
        };
        assert!(as_it_should, "command {n}: {outcome:?}");
    }
    landed_as_told(&bench, &outcomes, 1).await;
}

async fn a_row_that_the_database_refuses_fails_its_command_alone(bench: Bench) {
    let ada = account("ada@example.org");
    let session = SignInSession {
        session_id: Uuid::now_v7(),
        user_id: ada.user_id,
        token_hash: vec![1],
        created_at: 0,
        expires_at: 0,
    };
    let key = Credential {
        credential_id: Uuid::now_v7(),
        agent_id: Uuid::now_v7(),
        workspace_id: Uuid::now_v7(),
        project_id: None,
        standing: "active".into(),
        key_hash: vec![1],
        created_at: 0,
    };
    let first = [
        RowChange::AddAccount(ada.clone()),
        RowChange::AddSession(session.clone()),
        RowChange::IssueCredential(key.clone()),
    ];
    bench.commit(Commit::of_rows(first.to_vec())).await.unwrap();
    let refused = [
        RowChange::AddAccount(Account { email: "other@example.org".into(), ..ada }),
        RowChange::AddSession(SignInSession { token_hash: vec![2], ..session.clone() }),
        RowChange::AddSession(SignInSession { session_id: Uuid::now_v7(), ..session }),
        RowChange::IssueCredential(key),
        RowChange::AddAccount(Account { name: "a\0b".into(), ..account("nul@example.org") }),
    ];
    neighbours_land(&bench, refused.into_iter().map(|row| one(&stream("bad"), 0).row(row)).collect()).await;
}

async fn json_that_the_database_refuses_fails_its_command_alone(bench: Bench) {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    neighbours_land(&bench, vec![Commit::default().append(&stream("bad"), 0, vec![event_with(deep)])]).await;
}

async fn of_many_that_want_one_claim_one_gets_it(bench: Bench) {
    let slug = claim("slug", "x");
    let outcomes = join_all((0..MANY).map(|n| bench.commit(one(&stream(n), 0).take(&slug, &stream(n))))).await;
    let winner = the_one(&outcomes);
    let refusal = CommitError::ClaimTaken { claim: slug, holder: stream(winner) };
    assert!(outcomes.iter().all(|it| it.is_ok() || *it == Err(refusal.clone())), "{outcomes:?}");
    landed_as_told(&bench, &outcomes, 0).await;
}

async fn of_many_that_want_one_address_one_gets_it(bench: Bench) {
    let wanted = (0..MANY).map(|n| {
        let row = RowChange::AddAccount(account("ada@example.org"));
        bench.commit(one(&stream(n), 0).row(row))
    });
    let outcomes = join_all(wanted).await;
    the_one(&outcomes);
    assert!(outcomes.iter().all(|it| it.is_ok() || *it == Err(CommitError::EmailTaken)), "{outcomes:?}");
    landed_as_told(&bench, &outcomes, 0).await;
}

async fn of_many_that_need_a_scope_empty_to_fill_it_one_lands(bench: Bench) {
    let fill = (0..MANY).map(|n| {
        let own = claim("scope", &n.to_string());
        bench.commit(one(&stream(n), 0).guard(Guard::Empty { scope: "scope".into() }).take(&own, &stream(n)))
    });
    let outcomes = join_all(fill).await;
    the_one(&outcomes);
    landed_as_told(&bench, &outcomes, 0).await;
}

/// One half relies on a stream that the other half begins: whoever is later must be refused.
async fn a_guard_and_the_commit_it_guards_against_never_both_land(bench: Bench) {
    let pairs = (0..MANY).map(|n| {
        let (left, right) = (stream(format!("left {n}")), stream(format!("right {n}")));
        let unborn = |stream: &store::StreamId| Guard::At { stream: stream.clone(), sequence: 0 };
        let go_left = bench.commit(one(&left, 0).guard(unborn(&right)));
        let go_right = bench.commit(one(&right, 0).guard(unborn(&left)));
        async { tokio::join!(go_left, go_right) }
    });
    for (left, right) in join_all(pairs).await {
        assert!(left.is_ok() != right.is_ok(), "{left:?} {right:?}");
    }
}

async fn commands_share_transactions(bench: Bench) {
    let outcomes = join_all((0..MANY).map(|n| bench.commit(one(&stream(n), 0)))).await;
    landed_as_told(&bench, &outcomes, 0).await;
    let batches = bench.log().stats().await.unwrap().batches;
    assert!(batches < MANY as i64 / 2, "{MANY} commands that came at once took {batches} transactions");
}

async fn a_caller_that_goes_away_leaves_its_neighbours_alone(bench: Bench) {
    let log = bench.log();
    let callers: Vec<_> = (0..MANY)
        .map(|n| {
            let log = log.clone();
            tokio::spawn(async move { log.commit(one(&stream(n), 0)).await })
        })
        .collect();
    callers.iter().step_by(2).for_each(tokio::task::JoinHandle::abort);
    for caller in callers.into_iter().skip(1).step_by(2) {
        caller.await.unwrap().unwrap();
    }
    // Whether a command whose caller went away has landed is open, but it has landed whole or not at all.
    let all = bench.everything().await;
    assert!(all.len() >= MANY / 2);
    assert_eq!(log.verify(|_| {}).await.unwrap().finding, None);
}

/// Sends the bad commits among good ones; the good ones land, the bad ones do not.
async fn neighbours_land(bench: &Bench, bad: Vec<Commit>) {
    for bad in bad {
        let shown = format!("{bad:?}").chars().take(200).collect::<String>();
        let round = Uuid::now_v7();
        let good = |n: usize| bench.commit(one(&stream(format!("{round} {n}")), 0));
        let (before, outcome, after) =
            tokio::join!(join_all((0..20).map(good)), bench.commit(bad), join_all((20..40).map(good)));
        assert!(outcome.is_err(), "{shown} landed");
        // Whoever is told to try again would do so for ever.
        assert!(!matches!(outcome, Err(CommitError::Unavailable(_))), "{outcome:?} for {shown}");
        let lost: Vec<_> = before.iter().chain(&after).filter(|it| it.is_err()).collect();
        assert!(lost.is_empty(), "{} neighbours of {shown} were lost: {:?}", lost.len(), lost[0]);
    }
    assert_eq!(bench.stream(&stream("bad")).await, []);
}

/// Positions have no hole, and each receipt names what is stored there.
async fn landed_as_told(bench: &Bench, outcomes: &[Result<Receipt, CommitError>], before: usize) {
    let all = bench.everything().await;
    assert!(all.iter().zip(1..).all(|(event, position)| event.position == position));
    let landed = outcomes.iter().filter(|it| it.is_ok()).count();
    assert_eq!(all.len(), before + landed);
    for (n, outcome) in outcomes.iter().enumerate() {
        let Ok(receipt) = outcome else { continue };
        assert_eq!(receipt.first, receipt.last);
        let event = &all[receipt.first as usize - 1];
        assert_eq!((&event.stream, event.recorded_at), (&stream(n), receipt.recorded_at));
    }
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

fn the_one(outcomes: &[Result<Receipt, CommitError>]) -> usize {
    let landed: Vec<usize> = outcomes.iter().enumerate().filter(|(_, it)| it.is_ok()).map(|(n, _)| n).collect();
    assert_eq!(landed.len(), 1, "{outcomes:?}");
    landed[0]
}
