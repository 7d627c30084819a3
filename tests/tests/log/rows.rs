//! Rows beside the log: accounts and secrets land with the events of their commit, or not at all.

use muster_tests::both_stores;
use muster_tests::commits::{Build, account, one, stream};
use muster_tests::stores::Bench;
use store::{
    Account, Commit, CommitError, Credential, GithubIdentity, NotificationAddresses, RowChange, SignInSession,
};
use uuid::Uuid;

both_stores! {
    an_account_lands_with_its_events,
    an_address_belongs_to_one_account,
    a_refused_address_leaves_no_events,
    a_refused_commit_leaves_no_rows,
    a_commit_of_rows_only_takes_no_position,
    any_text_survives_in_an_account,
    a_suspended_account_may_be_let_in_again,
    a_github_identity_opens_the_account_it_is_linked_to,
    a_github_identity_opens_one_account,
    of_many_that_link_one_github_identity_one_does,
    a_github_identity_is_linked_once_in_a_commit,
    a_forgotten_password_is_gone_and_nothing_else,
    a_person_is_told_where_they_last_said,
    a_deleted_account_takes_everything_along,
    a_session_is_found_by_its_token,
    signing_out_removes_one_session,
    signing_out_everywhere_removes_all_sessions_of_a_person,
    a_new_key_ends_the_old_one_in_the_same_commit,
    a_revoked_agent_has_no_key,
    an_agents_standing_follows_its_key,
    rows_outlive_a_restart,
    a_secret_is_made_once,
    expired_sessions_are_forgotten_and_others_kept,
}

async fn an_account_lands_with_its_events(bench: Bench) {
    let ada = account("ada@example.org");
    bench.commit(one(&stream("a"), 0).row(RowChange::AddAccount(ada.clone()))).await.unwrap();
    assert_eq!(by_email(&bench, "ada@example.org").await, Some(ada.clone()));
    assert_eq!(bench.log().accounts().by_id(ada.user_id).await.unwrap(), Some(ada));
    assert_eq!(by_email(&bench, "bob@example.org").await, None);
    assert_eq!(bench.everything().await.len(), 1);
}

async fn an_address_belongs_to_one_account(bench: Bench) {
    let first = account("ada@example.org");
    bench.commit(add(&first)).await.unwrap();
    assert_eq!(bench.commit(add(&account("ada@example.org"))).await, Err(CommitError::EmailTaken));
    assert_eq!(by_email(&bench, "ada@example.org").await, Some(first));
    bench.commit(add(&account("Ada@example.org"))).await.unwrap();
}

async fn a_refused_address_leaves_no_events(bench: Bench) {
    bench.commit(add(&account("ada@example.org"))).await.unwrap();
    let second = account("ada@example.org");
    let commit =
        one(&stream("a"), 0).row(RowChange::AddSession(session(&second, 1))).row(RowChange::AddAccount(second));
    assert_eq!(bench.commit(commit).await, Err(CommitError::EmailTaken));
    assert_eq!(bench.everything().await, []);
    assert!(bench.log().accounts().session(&[1]).await.unwrap().is_none());
}

async fn a_refused_commit_leaves_no_rows(bench: Bench) {
    let ada = account("ada@example.org");
    bench.commit(one(&stream("a"), 3).row(RowChange::AddAccount(ada.clone()))).await.unwrap_err();
    assert_eq!(by_email(&bench, "ada@example.org").await, None);
    bench.commit(add(&ada)).await.unwrap();
}

async fn a_commit_of_rows_only_takes_no_position(bench: Bench) {
    let none = bench.commit(add(&account("ada@example.org"))).await.unwrap();
    assert_eq!((none.first, none.last), (0, 0));
    assert_eq!(bench.commit(one(&stream("a"), 0)).await.unwrap().first, 1);
    let after = bench.commit(add(&account("bob@example.org"))).await.unwrap();
    assert_eq!((after.first, after.last), (1, 1));
    assert_eq!(bench.commit(one(&stream("a"), 1)).await.unwrap().first, 2);
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn any_text_survives_in_an_account(bench: Bench) {
    let odd = Account {
        name: "Zoë 'Ω' \"x\" \\u0000 👩\u{200d}👧 \n\t; drop table accounts".into(),
        avatar_url: Some("https://example.org/?a=1&b=%20".into()),
        password_hash: Some("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into()),
        suspended: true,
        created_at: -1,
        updated_at: i64::MAX,
        ..account("ünï@example.org")
    };
    bench.commit(add(&odd)).await.unwrap();
    assert_eq!(by_email(&bench, &odd.email).await.map(|it| it == odd), Some(true));
}

async fn a_suspended_account_may_be_let_in_again(bench: Bench) {
    let ada = account("ada@example.org");
    bench.commit(add(&ada)).await.unwrap();
    for suspended in [true, false] {
        let change = RowChange::SuspendAccount { user_id: ada.user_id, suspended };
        bench.commit(Commit::of_rows(vec![change])).await.unwrap();
        assert_eq!(by_email(&bench, &ada.email).await.unwrap().suspended, suspended);
    }
}

async fn a_github_identity_opens_the_account_it_is_linked_to(mut bench: Bench) {
    let ada = account("ada@example.org");
    let commit = one(&stream("a"), 0).row(RowChange::AddAccount(ada.clone())).row(link(&ada, i64::MAX));
    bench.commit(commit).await.unwrap();
    // One person may come in as several.
    bench.commit(Commit::of_rows(vec![link(&ada, 2)])).await.unwrap();
    bench.reopen().await;
    for github_id in [i64::MAX, 2] {
        assert_eq!(by_github_id(&bench, github_id).await, Some(ada.clone()));
    }
    assert_eq!(by_github_id(&bench, 3).await, None);
}

async fn a_github_identity_opens_one_account(bench: Bench) {
    let (ada, bob) = (account("ada@example.org"), account("bob@example.org"));
    bench.commit(Commit::of_rows(vec![RowChange::AddAccount(ada.clone()), link(&ada, 1)])).await.unwrap();
    let second = one(&stream("a"), 0).row(RowChange::AddAccount(bob.clone())).row(link(&bob, 1));
    assert_eq!(bench.commit(second).await, Err(CommitError::GithubIdentityTaken));
    assert_eq!(bench.commit(Commit::of_rows(vec![link(&ada, 1)])).await, Err(CommitError::GithubIdentityTaken));
    assert_eq!(bench.everything().await, []);
    assert_eq!(by_email(&bench, &bob.email).await, None);
    assert_eq!(by_github_id(&bench, 1).await, Some(ada.clone()));
    // Where both are taken, the row that comes first says why.
    let both = Commit::of_rows(vec![link(&bob, 1), RowChange::AddAccount(account("ada@example.org"))]);
    assert_eq!(bench.commit(both).await, Err(CommitError::GithubIdentityTaken));
    let both = Commit::of_rows(vec![RowChange::AddAccount(account("ada@example.org")), link(&bob, 1)]);
    assert_eq!(bench.commit(both).await, Err(CommitError::EmailTaken));
}

async fn of_many_that_link_one_github_identity_one_does(bench: Bench) {
    let people: Vec<Account> = (0..20).map(|n| account(&format!("{n}@example.org"))).collect();
    let commits =
        people.iter().map(|it| bench.commit(Commit::of_rows(vec![RowChange::AddAccount(it.clone()), link(it, 1)])));
    let outcomes = futures_util::future::join_all(commits).await;
    let linked: Vec<usize> = (0..20).filter(|at| outcomes[*at].is_ok()).collect();
    assert_eq!(linked.len(), 1, "{outcomes:?}");
    let refused = outcomes.iter().filter(|it| **it == Err(CommitError::GithubIdentityTaken));
    assert_eq!(refused.count(), 19, "{outcomes:?}");
    assert_eq!(by_github_id(&bench, 1).await.as_ref(), Some(&people[linked[0]]));
}

async fn a_github_identity_is_linked_once_in_a_commit(bench: Bench) {
    let ada = account("ada@example.org");
    let twice = bench.commit(Commit::of_rows(vec![link(&ada, 1), link(&ada, 1)])).await;
    assert!(matches!(twice, Err(CommitError::Malformed(_))), "{twice:?}");
}

async fn a_forgotten_password_is_gone_and_nothing_else(bench: Bench) {
    let people = ["ada@example.org", "bob@example.org"]
        .map(|email| Account { password_hash: Some("$argon2id$".into()), ..account(email) });
    bench.commit(Commit::of_rows(people.clone().map(RowChange::AddAccount).to_vec())).await.unwrap();
    let forget = RowChange::ForgetPassword { user_id: people[0].user_id };
    bench.commit(Commit::of_rows(vec![forget])).await.unwrap();
    let [ada, bob] = people;
    assert_eq!(by_email(&bench, &ada.email).await, Some(Account { password_hash: None, ..ada }));
    assert_eq!(by_email(&bench, &bob.email).await, Some(bob));
}

async fn a_person_is_told_where_they_last_said(mut bench: Bench) {
    let (ada, bob) = (account("ada@example.org"), account("bob@example.org"));
    for (n, url) in [Some("https://a.example/'ü'"), Some("https://b.example"), None].into_iter().enumerate() {
        let told = told_at(&ada, url);
        bench.commit(one(&stream("a"), n as i64).row(RowChange::SetNotificationAddresses(told.clone()))).await.unwrap();
        bench.reopen().await;
        assert_eq!(addresses_of(&bench, &ada).await, Some(told));
    }
    assert_eq!(addresses_of(&bench, &bob).await, None);
    let refused = one(&stream("a"), 0).row(RowChange::SetNotificationAddresses(told_at(&bob, None)));
    bench.commit(refused).await.unwrap_err();
    assert_eq!(addresses_of(&bench, &bob).await, None);
    let nul = told_at(&bob, Some("https://a.example/\0"));
    let malformed = bench.commit(Commit::of_rows(vec![RowChange::SetNotificationAddresses(nul)])).await;
    assert!(matches!(malformed, Err(CommitError::Malformed(_))), "{malformed:?}");
}

async fn a_deleted_account_takes_everything_along(bench: Bench) {
    let (ada, bob) = (account("ada@example.org"), account("bob@example.org"));
    for (it, token) in [(&ada, 1), (&bob, 2)] {
        let addresses = RowChange::SetNotificationAddresses(told_at(it, Some("https://a.example")));
        let rows = vec![
            RowChange::AddAccount(it.clone()),
            RowChange::AddSession(session(it, token)),
            link(it, token.into()),
            addresses,
        ];
        bench.commit(Commit::of_rows(rows)).await.unwrap();
    }
    bench.commit(Commit::of_rows(vec![RowChange::DeleteAccount { user_id: ada.user_id }])).await.unwrap();
    for (it, token, is_there) in [(&ada, 1, false), (&bob, 2, true)] {
        assert_eq!(by_email(&bench, &it.email).await.is_some(), is_there);
        assert_eq!(by_github_id(&bench, token.into()).await.is_some(), is_there);
        assert_eq!(bench.log().accounts().session(&[token]).await.unwrap().is_some(), is_there);
        assert_eq!(addresses_of(&bench, it).await.is_some(), is_there);
    }
}

async fn a_session_is_found_by_its_token(bench: Bench) {
    let ada = account("ada@example.org");
    let session = session(&ada, 7);
    let rows = vec![RowChange::AddAccount(ada.clone()), RowChange::AddSession(session.clone())];
    bench.commit(Commit::of_rows(rows)).await.unwrap();
    let known = bench.log().accounts().session(&session.token_hash).await.unwrap().unwrap();
    assert!(known.session == session && known.account == ada);
    assert!(bench.log().accounts().session(&[8]).await.unwrap().is_none());
}

async fn signing_out_removes_one_session(bench: Bench) {
    let (ada, here, there) = two_sessions(&bench).await;
    let out = RowChange::RemoveSession { session_id: here.session_id };
    bench.commit(Commit::of_rows(vec![out])).await.unwrap();
    assert!(bench.log().accounts().session(&here.token_hash).await.unwrap().is_none());
    assert!(bench.log().accounts().session(&there.token_hash).await.unwrap().unwrap().account == ada);
}

async fn signing_out_everywhere_removes_all_sessions_of_a_person(bench: Bench) {
    let (ada, here, there) = two_sessions(&bench).await;
    let bob = account("bob@example.org");
    let other = session(&bob, 3);
    let rows = vec![
        RowChange::AddAccount(bob),
        RowChange::AddSession(other.clone()),
        RowChange::RemoveSessionsOf { user_id: ada.user_id },
    ];
    bench.commit(Commit::of_rows(rows)).await.unwrap();
    assert!(bench.log().accounts().session(&here.token_hash).await.unwrap().is_none());
    assert!(bench.log().accounts().session(&there.token_hash).await.unwrap().is_none());
    assert!(bench.log().accounts().session(&other.token_hash).await.unwrap().is_some());
}

async fn a_new_key_ends_the_old_one_in_the_same_commit(bench: Bench) {
    let agent = Uuid::now_v7();
    let (old, new) = (credential(agent, 1), credential(agent, 2));
    bench.commit(one(&stream("a"), 0).row(RowChange::IssueCredential(old.clone()))).await.unwrap();
    assert_eq!(key_of(&bench, agent).await, Some(old.clone()));
    // A refused commit leaves the old key alone.
    bench.commit(one(&stream("a"), 0).row(RowChange::IssueCredential(new.clone()))).await.unwrap_err();
    assert_eq!(key_of(&bench, agent).await, Some(old));
    bench.commit(one(&stream("a"), 1).row(RowChange::IssueCredential(new.clone()))).await.unwrap();
    assert_eq!(key_of(&bench, agent).await, Some(new));
}

async fn a_revoked_agent_has_no_key(bench: Bench) {
    let (one, other) = (credential(Uuid::now_v7(), 1), credential(Uuid::now_v7(), 2));
    let issued = [&one, &other].map(|it| RowChange::IssueCredential(it.clone()));
    bench.commit(Commit::of_rows(issued.to_vec())).await.unwrap();
    let revoked = RowChange::RevokeCredentials { agent_id: one.agent_id };
    bench.commit(Commit::of_rows(vec![revoked])).await.unwrap();
    assert_eq!(key_of(&bench, one.agent_id).await, None);
    assert_eq!(key_of(&bench, other.agent_id).await, Some(other));
}

async fn an_agents_standing_follows_its_key(bench: Bench) {
    let key = credential(Uuid::now_v7(), 1);
    bench.commit(Commit::of_rows(vec![RowChange::IssueCredential(key.clone())])).await.unwrap();
    let change = RowChange::SetAgentStanding { agent_id: key.agent_id, standing: "probation".into() };
    bench.commit(Commit::of_rows(vec![change])).await.unwrap();
    assert_eq!(key_of(&bench, key.agent_id).await.unwrap().standing, "probation");
}

async fn rows_outlive_a_restart(mut bench: Bench) {
    let ada = account("ada@example.org");
    bench.commit(add(&ada)).await.unwrap();
    bench.reopen().await;
    assert_eq!(by_email(&bench, &ada.email).await, Some(ada));
}

async fn a_secret_is_made_once(mut bench: Bench) {
    let first = bench.log().accounts().secret("pepper", vec![0, 1, 255]).await.unwrap();
    assert_eq!(first, [0, 1, 255]);
    assert_eq!(bench.log().accounts().secret("pepper", vec![9]).await.unwrap(), first);
    assert_eq!(bench.log().accounts().secret("salt", vec![9]).await.unwrap(), [9]);
    bench.reopen().await;
    assert_eq!(bench.log().accounts().secret("pepper", vec![9]).await.unwrap(), first);
}

async fn expired_sessions_are_forgotten_and_others_kept(bench: Bench) {
    let ada = account("ada@example.org");
    let now = bench.clock.now_micros();
    let over = SignInSession { expires_at: now, ..session(&ada, 1) };
    let open = SignInSession { expires_at: now + 1, ..session(&ada, 2) };
    let rows =
        vec![RowChange::AddAccount(ada), RowChange::AddSession(over.clone()), RowChange::AddSession(open.clone())];
    bench.commit(Commit::of_rows(rows)).await.unwrap();
    bench.log().forget_expired().await.unwrap();
    assert!(bench.log().accounts().session(&over.token_hash).await.unwrap().is_none());
    assert!(bench.log().accounts().session(&open.token_hash).await.unwrap().is_some());
}

fn add(account: &Account) -> Commit {
    Commit::of_rows(vec![RowChange::AddAccount(account.clone())])
}

fn link(account: &Account, github_id: i64) -> RowChange {
    let (user_id, login) = (account.user_id, "octo 'cat'".to_owned());
    RowChange::LinkGithub(GithubIdentity { github_id, user_id, login, linked_at: 1 })
}

fn session(account: &Account, token: u8) -> SignInSession {
    SignInSession {
        session_id: Uuid::now_v7(),
        user_id: account.user_id,
        token_hash: vec![token],
        created_at: 1,
        expires_at: 2,
    }
}

fn credential(agent_id: Uuid, key: u8) -> Credential {
    Credential {
        credential_id: Uuid::now_v7(),
        agent_id,
        workspace_id: Uuid::now_v7(),
        project_id: key.is_multiple_of(2).then(Uuid::now_v7),
        standing: "active".into(),
        key_hash: vec![key; 32],
        created_at: 1,
    }
}

fn told_at(account: &Account, url: Option<&str>) -> NotificationAddresses {
    let (user_id, sound_file, webhook_url) = (account.user_id, Some("/bell.wav".into()), url.map(str::to_owned));
    NotificationAddresses { user_id, sound_file, webhook_url, changed_at: 1 }
}

async fn addresses_of(bench: &Bench, account: &Account) -> Option<NotificationAddresses> {
    bench.log().accounts().notification_addresses(account.user_id).await.unwrap()
}

async fn two_sessions(bench: &Bench) -> (Account, SignInSession, SignInSession) {
    let ada = account("ada@example.org");
    let (here, there) = (session(&ada, 1), session(&ada, 2));
    let rows = vec![
        RowChange::AddAccount(ada.clone()),
        RowChange::AddSession(here.clone()),
        RowChange::AddSession(there.clone()),
    ];
    bench.commit(Commit::of_rows(rows)).await.unwrap();
    (ada, here, there)
}

async fn by_email(bench: &Bench, email: &str) -> Option<Account> {
    bench.log().accounts().by_email(email).await.unwrap()
}

async fn by_github_id(bench: &Bench, github_id: i64) -> Option<Account> {
    bench.log().accounts().by_github_id(github_id).await.unwrap()
}

async fn key_of(bench: &Bench, agent: Uuid) -> Option<Credential> {
    bench.log().accounts().credential(agent).await.unwrap()
}
