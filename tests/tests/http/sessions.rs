//! Signing up, in and out.

use chrono::Duration;
use commands::user::SetSuspended;
use commands::{Actor, Context};
use muster_tests::both_served_stores;
use muster_tests::server::{PASSWORD, Server, email, sign_up};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(
    a_person_who_signs_up_is_signed_in,
    the_cookie_is_out_of_reach_of_scripts_and_other_sites,
    an_address_has_one_account_however_it_is_typed,
    a_short_password_is_weak,
    a_person_signs_in_and_out,
    a_wrong_password_and_an_unknown_address_look_alike,
    a_suspended_person_does_not_sign_in,
    a_session_lasts_seven_days,
    a_cookie_that_is_no_session_is_refused,
    without_a_cookie_nobody_is_signed_in,
    guessing_is_slowed_down_and_the_owner_is_not_locked_out,
    a_page_of_another_site_commands_nothing,
);

async fn a_person_who_signs_up_is_signed_in(bench: Bench) {
    let server = Server::start(bench).await;
    let answer = server.nobody().post("/api/auth/signup", &sign_up("ada")).await.ok();
    let user = &answer.body["user"];
    assert_eq!(
        (&user["email"], &user["name"], &user["avatarUrl"]),
        (&json!(email("ada")), &json!("ada"), &Value::Null)
    );
    assert_eq!(answer.body["session"]["userId"], user["id"]);
    assert_eq!(answer.body["session"]["expiresAt"], "2026-03-08T12:00:00Z");
    assert_eq!(answer.position(), server.head().await);
    assert!(!answer.text.contains("password"));
    let client = server.nobody().with("Cookie", &answer.cookie());
    let session = client.get("/api/auth/session").await.ok();
    assert_eq!((&session.body["user"], &session.body["session"]), (user, &answer.body["session"]));
}

async fn the_cookie_is_out_of_reach_of_scripts_and_other_sites(bench: Bench) {
    let server = Server::start(bench).await;
    let answer = server.nobody().post("/api/auth/signup", &sign_up("ada")).await.ok();
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__session=") && cookie.len() > 64, "{cookie}");
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=604800"] {
        assert!(cookie.contains(part), "{part} in {cookie}");
    }
    assert!(!cookie.contains("Secure"), "loopback is reached over plain HTTP");
    let elsewhere = server.nobody().with("Host", "muster.example");
    let answer = elsewhere.post("/api/auth/signup", &sign_up("bob")).await.ok();
    assert!(answer.header("set-cookie").unwrap().contains("; Secure"));
}

async fn an_address_has_one_account_however_it_is_typed(bench: Bench) {
    let server = Server::start(bench).await;
    server.owner("ada").await;
    let again = json!({ "email": "ADA@Example.COM", "password": PASSWORD, "name": "Ada" });
    let head = server.head().await;
    server.nobody().post("/api/auth/signup", &again).await.refused(409, "AUTH_EMAIL_ALREADY_EXISTS");
    assert_eq!(server.head().await, head);
    let log_in = json!({ "email": "ADA@Example.COM", "password": PASSWORD });
    assert_eq!(server.nobody().post("/api/auth/login", &log_in).await.ok().body["user"]["email"], email("ada"));
}

async fn a_short_password_is_weak(bench: Bench) {
    let server = Server::start(bench).await;
    let weak = json!({ "email": email("ada"), "password": "1234567", "name": "Ada" });
    let answer = server.nobody().post("/api/auth/signup", &weak).await.refused(400, "AUTH_WEAK_PASSWORD");
    assert_eq!(answer.bad_fields(), ["password"]);
    assert!(!answer.text.contains("1234567"));
    let worse = json!({ "email": "ada", "password": "1234567", "name": "" });
    let answer = server.nobody().post("/api/auth/signup", &worse).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(answer.bad_fields(), ["email", "name", "password"]);
    assert_eq!(server.head().await, 0);
}

async fn a_person_signs_in_and_out(bench: Bench) {
    let server = Server::start(bench).await;
    server.owner("ada").await;
    let log_in = json!({ "email": email("ada"), "password": PASSWORD });
    let answer = server.nobody().post("/api/auth/login", &log_in).await.ok();
    assert_eq!(answer.body["session"]["userId"], answer.body["user"]["id"]);
    assert_eq!(answer.position(), server.head().await);
    let client = server.nobody().with("Cookie", &answer.cookie());
    client.get("/api/workspace.list").await.ok();
    let out = client.post("/api/auth/logout", &json!({})).await.ok();
    assert_eq!(out.body, json!({ "success": true }));
    assert_eq!(out.cookie(), "__session=");
    client.get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
    assert_eq!(client.post("/api/auth/logout", &json!({})).await.ok().body, json!({ "success": true }));
}

async fn a_wrong_password_and_an_unknown_address_look_alike(bench: Bench) {
    let server = Server::start(bench).await;
    server.owner("ada").await;
    let head = server.head().await;
    let mut answers = Vec::new();
    for name in ["ada", "nobody"] {
        let log_in = json!({ "email": email(name), "password": "wrong horse battery" });
        let answer = server.nobody().post("/api/auth/login", &log_in).await.refused(401, "AUTH_INVALID_CREDENTIALS");
        assert!(answer.header("set-cookie").is_none());
        answers.push(answer.body["error"]["message"].clone());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(server.head().await, head);
}

async fn a_suspended_person_does_not_sign_in(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = ada.get("/api/auth/session").await.ok().id_of("user");
    let suspend = SetSuspended { user_id: id.parse::<uuid::Uuid>().unwrap().into(), suspended: true };
    let context = Context::new(Actor::System("test"), server.bench.clock.now());
    server.executor.run(&context, &suspend).await.unwrap();
    ada.get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
    let log_in = json!({ "email": email("ada"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &log_in).await.refused(403, "AUTH_ACCOUNT_SUSPENDED");
    let wrong = json!({ "email": email("ada"), "password": "wrong horse battery" });
    server.nobody().post("/api/auth/login", &wrong).await.refused(401, "AUTH_INVALID_CREDENTIALS");
}

async fn a_session_lasts_seven_days(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let clock = &server.bench.clock;
    clock.set(clock.now() + Duration::days(7) - Duration::seconds(1));
    ada.get("/api/workspace.list").await.ok();
    clock.set(clock.now() + Duration::seconds(1));
    ada.get("/api/workspace.list").await.refused(401, "AUTH_SESSION_EXPIRED");
    ada.post("/api/workspace.create", &json!({ "name": "a", "slug": "a" })).await.refused(401, "AUTH_SESSION_EXPIRED");
    assert_eq!(ada.get("/api/auth/session").await.ok().body, json!({ "user": null, "session": null }));
}

async fn a_cookie_that_is_no_session_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    for cookie in ["__session=00ff", "__session=%00", "__session=' or 1=1", "other=1"] {
        let client = server.nobody().with("Cookie", cookie);
        let answer = client.get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
        assert!(answer.header("www-authenticate").is_some());
        assert_eq!(client.get("/api/auth/session").await.ok().body, json!({ "user": null, "session": null }));
    }
}

async fn without_a_cookie_nobody_is_signed_in(bench: Bench) {
    let server = Server::start(bench).await;
    assert_eq!(server.nobody().get("/api/auth/session").await.ok().body, json!({ "user": null, "session": null }));
    server.nobody().get("/api/workspace.list").await.refused(401, "AUTH_INVALID_TOKEN");
}

async fn guessing_is_slowed_down_and_the_owner_is_not_locked_out(bench: Bench) {
    let server = Server::start(bench).await;
    server.owner("ada").await;
    server.owner("bob").await;
    let guess = json!({ "email": email("ada"), "password": "a guess, and another" });
    for _ in 0..5 {
        server.nobody().post("/api/auth/login", &guess).await.refused(401, "AUTH_INVALID_CREDENTIALS");
    }
    let refused = server.nobody().post("/api/auth/login", &guess).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let right = json!({ "email": email("ada"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &right).await.refused(429, "RATE_LIMITED");
    let other = json!({ "email": email("bob"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &other).await.ok();
    let clock = &server.bench.clock;
    clock.set(clock.now() + Duration::seconds(1));
    server.nobody().post("/api/auth/login", &right).await.ok();
    server.nobody().post("/api/auth/login", &guess).await.refused(401, "AUTH_INVALID_CREDENTIALS");
}

async fn a_page_of_another_site_commands_nothing(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let head = server.head().await;
    let body = json!({ "name": "Acme", "slug": "acme" });
    for (name, value) in [("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")] {
        let page = ada.with(name, value);
        page.post("/api/workspace.create", &body).await.refused(403, "CROSS_SITE_REQUEST");
        page.post("/api/auth/logout", &json!({})).await.refused(403, "CROSS_SITE_REQUEST");
        page.post("/api/auth/login", &json!({})).await.refused(403, "CROSS_SITE_REQUEST");
        page.get("/api/workspace.list").await.ok();
    }
    assert_eq!(server.head().await, head);
    ada.with("Sec-Fetch-Site", "same-origin").post("/api/workspace.create", &body).await.ok();
}
