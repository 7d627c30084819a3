//! Whose account a person from GitHub gets.

use muster_tests::both_served_stores;
use muster_tests::github::Person;
use muster_tests::server::{PASSWORD, email};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::github_sign_in::{octo, on_the_way_back, signed_in, through, with_github};

both_served_stores!(
    a_verified_address_gets_the_account_that_has_it,
    a_recycled_address_does_not_open_another_persons_account,
    two_callbacks_at_once_open_one_account,
    odd_answers_of_github_make_plain_accounts,
);

async fn a_verified_address_gets_the_account_that_has_it(bench: Bench) {
    let (server, github) = with_github(bench, Person::new(1, "ada", "ADA@Example.com")).await;
    let waiting = server.owner("ada").await;
    let id = waiting.get("/api/auth/session").await.ok().id_of("user");
    waiting.workspace("acme").await;
    let head = server.head().await;
    let (ada, user) = signed_in(&server, through(&server, &github).await).await;
    assert_eq!((&user["id"], &user["name"]), (&json!(id), &json!("ada")));
    assert_eq!(server.head().await, head);
    assert_eq!(ada.get("/api/workspace.list").await.ok().body["workspaces"][0]["slug"], "acme");
    // Nobody had proven that the address was theirs, so whoever opened the account is out.
    waiting.get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
    let log_in = json!({ "email": email("ada"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &log_in).await.refused(401, "AUTH_INVALID_CREDENTIALS");
    let (_, again) = signed_in(&server, through(&server, &github).await).await;
    assert_eq!(again["id"], json!(id));
    ada.get("/api/workspace.list").await.ok();
}

async fn a_recycled_address_does_not_open_another_persons_account(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (first, user) = signed_in(&server, through(&server, &github).await).await;
    let head = server.head().await;
    // Years later GitHub verifies the same address for somebody else.
    github.now_is(Some(Person::new(999_999, "newcomer", &email("octo"))));
    through(&server, &github).await.refused(403, "AUTH_GITHUB_DENIED");
    assert_eq!(server.head().await, head);
    // The first person still has the account, and it is still theirs alone.
    assert_eq!(first.get("/api/auth/session").await.ok().body["user"], user);
}

async fn two_callbacks_at_once_open_one_account(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (one, path_one) = on_the_way_back(&server, &github, &json!({})).await;
    let (two, path_two) = on_the_way_back(&server, &github, &json!({})).await;
    let (first, second) = tokio::join!(one.get(&path_one), two.get(&path_two));
    let (_, first) = signed_in(&server, first).await;
    let (_, second) = signed_in(&server, second).await;
    assert_eq!(first, second);
    assert_eq!(server.head().await, 1);
}

async fn odd_answers_of_github_make_plain_accounts(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    for (at, (name, avatar, shown)) in [
        (json!(null), json!(null), "octo"),
        (json!(" "), json!("javascript:alert(1)"), "octo"),
        (json!("O\u{0}c\nto"), json!("not a url"), "Octo"),
    ]
    .into_iter()
    .enumerate()
    {
        let odd = Person::new(at as i64 + 10, "octo", &email(&format!("octo{at}")));
        let user = json!({ "login": "octo", "name": name, "avatar_url": avatar });
        github.now_is(Some(Person { user, ..odd }));
        let (_, user) = signed_in(&server, through(&server, &github).await).await;
        assert_eq!((&user["name"], &user["avatarUrl"]), (&json!(shown), &Value::Null));
    }
}
