//! Signing in with GitHub, against a stand-in for it.

use std::sync::Arc;

use api::{App, HttpSettings, Parts};
use chrono::Duration;
use commands::user::SetSuspended;
use commands::{Actor, Context, Executor};
use muster_tests::both_served_stores;
use muster_tests::github::{Broken, CLIENT_SECRET, Person, StandIn, TOKEN};
use muster_tests::server::{Answer, Client, PASSWORD, Server, email, serve, settings};
use muster_tests::stores::{Bench, Kind};
use projections::Engine;
use reactors::Runner;
use serde_json::{Value, json};

both_served_stores!(
    somebody_new_gets_an_account,
    a_person_is_known_by_their_github_number_whatever_else_changes,
    an_address_that_is_not_verified_opens_nothing,
    only_the_browser_that_began_may_end,
    a_sign_in_is_over_after_ten_minutes,
    a_callback_works_once,
    a_code_of_another_sign_in_is_worthless,
    a_person_may_refuse,
    a_github_that_fails_is_named_and_nothing_leaks,
    a_github_that_is_away_is_named,
    without_settings_there_is_no_sign_in_with_github,
    a_suspended_person_does_not_come_in_by_github,
    the_browser_goes_on_where_it_wanted_to_and_never_elsewhere,
    another_node_takes_the_browser_in,
    a_page_of_another_site_begins_no_sign_in,
    both_routes_are_documented,
);

const CALLBACK: &str = "/api/auth/github/callback";

pub(crate) fn octo() -> Person {
    Person::new(583231, "octo", &email("octo"))
}

/// A server that signs people in through a stand-in.
pub(crate) async fn with_github(bench: Bench, person: Person) -> (Server, StandIn) {
    let github = StandIn::start(person).await;
    let server = Server::start_with(bench, settings_with(&github)).await;
    (server, github)
}

fn settings_with(github: &StandIn) -> HttpSettings {
    HttpSettings { github: Some(github.github()), ..settings() }
}

/// A browser on its way back from GitHub: with its flow's cookie, and the path that GitHub sends it to.
pub(crate) async fn on_the_way_back(server: &Server, github: &StandIn, begin: &Value) -> (Client, String) {
    let begun = server.nobody().post("/api/auth/github", begin).await.ok();
    let back = github.visit(begun.body["redirectUrl"].as_str().unwrap()).await;
    let path = format!("{}?{}", back.path(), back.query().unwrap());
    (server.nobody().with("Cookie", &begun.cookie()), path)
}

/// All the way through GitHub.
pub(crate) async fn through(server: &Server, github: &StandIn) -> Answer {
    let (browser, path) = on_the_way_back(server, github, &json!({})).await;
    browser.get(&path).await
}

/// Whoever an answer has signed in.
pub(crate) async fn signed_in(server: &Server, answer: Answer) -> (Client, Value) {
    assert_eq!(answer.status, 303, "{}", answer.text);
    assert!(answer.cookie().starts_with("__session="));
    let client = server.nobody().with("Cookie", &answer.cookie());
    let user = client.get("/api/auth/session").await.ok().body["user"].clone();
    (client, user)
}

fn param(url: &str, name: &str) -> String {
    let url: reqwest::Url = url.parse().unwrap();
    url.query_pairs().find(|(key, _)| key == name).unwrap_or_else(|| panic!("no {name} in {url}")).1.into_owned()
}

async fn somebody_new_gets_an_account(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let begun = server.nobody().post("/api/auth/github", &Value::Null).await.ok();
    let url = begun.body["redirectUrl"].as_str().unwrap();
    assert!(
        param(url, "redirect_uri").starts_with("http://127.0.0.1:") && param(url, "redirect_uri").ends_with(CALLBACK)
    );
    assert!(param(url, "state").len() >= 43 && param(url, "code_challenge").len() == 43);
    let cookie = begun.header("set-cookie").unwrap();
    for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/api/auth/github", "; Max-Age=600"] {
        assert!(cookie.contains(part), "{part} in {cookie}");
    }
    assert_eq!((begun.position(), server.head().await), (0, 0), "nobody has signed up yet");

    let answer = through(&server, &github).await;
    assert_eq!((answer.header("location"), answer.position()), (Some("/"), 1));
    let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap()).collect();
    assert!(cookies[0].contains("; HttpOnly; SameSite=Strict; Max-Age=604800"), "{cookies:?}");
    assert!(cookies[1].starts_with("__github=;") && cookies[1].contains("Max-Age=0"), "{cookies:?}");
    let (client, user) = signed_in(&server, answer).await;
    assert_eq!((&user["email"], &user["name"]), (&json!(email("octo")), &json!("octo the person")));
    assert_eq!(user["avatarUrl"], "https://avatars.example/583231");
    client.workspace("acme").await;

    let events = server.bench.everything().await;
    assert_eq!(events[0].event_type, "UserSignedUp");
    assert!(events[0].metadata.contains(user["id"].as_str().unwrap()), "{}", events[0].metadata);
    assert!(!format!("{events:?}").contains("octo"), "the log knows people by their ids");
    let log_in = json!({ "email": email("octo"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &log_in).await.refused(401, "AUTH_INVALID_CREDENTIALS");
    if server.bench.kind == Kind::Sqlite {
        for file in std::fs::read_dir(server.bench.folder()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for secret in [TOKEN, CLIENT_SECRET, "code-1"] {
                assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()), "{secret} is stored");
            }
        }
    }
}

async fn a_person_is_known_by_their_github_number_whatever_else_changes(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (_, first) = signed_in(&server, through(&server, &github).await).await;
    let head = server.head().await;
    let mut renamed = Person::new(583231, "hubot", &email("hubot"));
    renamed.emails = json!([{ "email": email("hubot"), "primary": true, "verified": false }]);
    github.now_is(Some(renamed));
    let (_, second) = signed_in(&server, through(&server, &github).await).await;
    assert_eq!(second, first);
    assert_eq!(server.head().await, head, "signing in is no event");
    // Whoever takes the old login is somebody else.
    github.now_is(Some(Person::new(7, "octo", &email("other"))));
    let (_, other) = signed_in(&server, through(&server, &github).await).await;
    assert_ne!(other["id"], first["id"]);
}

async fn an_address_that_is_not_verified_opens_nothing(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let ada = server.owner("ada").await;
    let head = server.head().await;
    for emails in [
        json!([{ "email": email("ada"), "primary": true, "verified": false }]),
        json!([{ "email": email("ada"), "primary": false, "verified": true }]),
        json!([{ "email": email("new"), "primary": true, "verified": false }]),
        // A Kelvin sign is a lower-case k to some, and another mailbox to all.
        json!([{ "email": "\u{212a}@example.com", "primary": true, "verified": true }]),
        json!([]),
    ] {
        github.now_is(Some(Person { emails, ..octo() }));
        through(&server, &github).await.refused(403, "AUTH_GITHUB_EMAIL_UNVERIFIED");
    }
    assert_eq!(server.head().await, head);
    ada.get("/api/workspace.list").await.ok();
    let log_in = json!({ "email": email("ada"), "password": PASSWORD });
    server.nobody().post("/api/auth/login", &log_in).await.ok();
}

async fn only_the_browser_that_began_may_end(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    let (other, _) = on_the_way_back(&server, &github, &json!({})).await;
    let code = path.split(['?', '&']).nth(1).unwrap();
    let state = path.split("state=").nth(1).unwrap();
    let refuse = |answer: Answer| drop(answer.refused(400, "AUTH_GITHUB_STATE_INVALID"));
    refuse(server.nobody().get(&path).await);
    refuse(other.get(&path).await);
    refuse(browser.get(&format!("{CALLBACK}?{code}&state=")).await);
    refuse(browser.get(&format!("{CALLBACK}?{code}&state={}", "0".repeat(64))).await);
    refuse(browser.get(&format!("{CALLBACK}?{code}&state={state}0")).await);
    refuse(server.nobody().with("Cookie", "__github=a.9999999999.Lw").get(&path).await);
    let mut longer = browser.clone();
    longer.headers[0].1 = longer.headers[0].1.replacen(".17", ".27", 1);
    assert_ne!(longer.headers, browser.headers);
    refuse(longer.get(&path).await);
    let missing = browser.get(&format!("{CALLBACK}?{code}")).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(missing.bad_fields(), ["state"]);
    let missing = browser.get(&format!("{CALLBACK}?state={state}")).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(missing.bad_fields(), ["code"]);
    assert_eq!((github.requests(), server.head().await), (0, 0));
    signed_in(&server, browser.get(&format!("{path}&iss=https%3A%2F%2Fgithub.com")).await).await;
}

async fn a_sign_in_is_over_after_ten_minutes(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let clock = &server.bench.clock;
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    clock.set(clock.now() + Duration::minutes(10));
    browser.get(&path).await.refused(400, "AUTH_GITHUB_STATE_INVALID");
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    clock.set(clock.now() + Duration::seconds(599));
    signed_in(&server, browser.get(&path).await).await;
}

async fn a_callback_works_once(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    // As somebody new, and as somebody known.
    for head in [1, 1] {
        let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
        signed_in(&server, browser.get(&path).await).await;
        let asked = github.requests();
        let replayed = browser.get(&path).await.refused(400, "AUTH_GITHUB_STATE_INVALID");
        assert!(replayed.header("set-cookie").is_none());
        // Not with a fresh code either.
        let state = path.split("state=").nth(1).unwrap();
        browser.get(&format!("{CALLBACK}?code=fresh&state={state}")).await.refused(400, "AUTH_GITHUB_STATE_INVALID");
        assert_eq!((github.requests(), server.head().await), (asked, head));
    }
}

async fn a_code_of_another_sign_in_is_worthless(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (_, stolen) = on_the_way_back(&server, &github, &json!({})).await;
    let (browser, own) = on_the_way_back(&server, &github, &json!({})).await;
    let (code, state) = (stolen.split(['?', '&']).nth(1).unwrap(), own.split("state=").nth(1).unwrap());
    // The stand-in checks the verifier: this browser's does not fit the other one's code.
    browser.get(&format!("{CALLBACK}?{code}&state={state}")).await.refused(403, "AUTH_GITHUB_DENIED");
    browser.get(&format!("{CALLBACK}?code=made-up&state={state}")).await.refused(403, "AUTH_GITHUB_DENIED");
    assert_eq!((github.exchanges(), server.head().await), (0, 0));
    signed_in(&server, browser.get(&own).await).await;
    assert_eq!(github.exchanges(), 1);
}

async fn a_person_may_refuse(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    github.now_is(None);
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    browser.get(&path).await.refused(403, "AUTH_GITHUB_DENIED");
    let other = path.replace("access_denied", "application_suspended");
    browser.get(&other).await.refused(502, "AUTH_GITHUB_FAILED");
    assert_eq!((github.requests(), server.head().await), (0, 0));
}

async fn a_github_that_fails_is_named_and_nothing_leaks(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    for broken in [Broken::Status, Broken::Garbage, Broken::Endless, Broken::Redirect, Broken::Credentials] {
        github.breaks(broken);
        let answer = browser.get(&path).await.refused(502, "AUTH_GITHUB_FAILED");
        assert!(!answer.text.contains(TOKEN) && !answer.text.contains(CLIENT_SECRET), "{broken:?}: {}", answer.text);
        assert!(answer.header("set-cookie").is_none() && answer.header("location").is_none());
    }
    assert_eq!(server.head().await, 0);
    // It may be tried again when GitHub is back.
    github.breaks(Broken::No);
    signed_in(&server, browser.get(&path).await).await;
    // And what comes after the exchange may fail too.
    github.now_is(Some(Person { user: json!({ "login": null }), ..octo() }));
    through(&server, &github).await.refused(502, "AUTH_GITHUB_FAILED");
}

async fn a_github_that_is_away_is_named(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (browser, path) = on_the_way_back(&server, &github, &json!({})).await;
    drop(github);
    tokio::task::yield_now().await;
    browser.get(&path).await.refused(502, "AUTH_GITHUB_FAILED");
    assert_eq!(server.head().await, 0);
}

async fn without_settings_there_is_no_sign_in_with_github(bench: Bench) {
    let server = Server::start(bench).await;
    let answer = server.nobody().post("/api/auth/github", &json!({})).await.refused(404, "AUTH_GITHUB_NOT_CONFIGURED");
    assert!(answer.header("set-cookie").is_none());
    server.nobody().get(&format!("{CALLBACK}?code=a&state=b")).await.refused(404, "AUTH_GITHUB_NOT_CONFIGURED");
}

async fn a_suspended_person_does_not_come_in_by_github(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (_, user) = signed_in(&server, through(&server, &github).await).await;
    suspend(&server, &user["id"]).await;
    let refused = through(&server, &github).await.refused(403, "AUTH_ACCOUNT_SUSPENDED");
    assert!(refused.header("set-cookie").is_none());
    // Nor by an address that is not linked yet.
    let ada = server.owner("ada").await.get("/api/auth/session").await.ok().id_of("user");
    suspend(&server, &json!(ada)).await;
    github.now_is(Some(Person::new(2, "ada", &email("ada"))));
    through(&server, &github).await.refused(403, "AUTH_ACCOUNT_SUSPENDED");
    assert!(server.bench.log().accounts().by_github_id(2).await.unwrap().is_none());
}

async fn suspend(server: &Server, id: &Value) {
    let user_id = id.as_str().unwrap().parse::<uuid::Uuid>().unwrap().into();
    let context = Context::new(Actor::System("test"), server.bench.clock.now());
    server.executor.run(&context, &SetSuspended { user_id, suspended: true }).await.unwrap();
}

async fn the_browser_goes_on_where_it_wanted_to_and_never_elsewhere(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    for path in ["/", "/docs", "/a/b?c=d&e=%2F%2F#f"] {
        let (browser, back) = on_the_way_back(&server, &github, &json!({ "returnTo": path })).await;
        let answer = browser.get(&back).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some(path)), "{}", answer.text);
    }
    let long = format!("/{}", "a".repeat(512));
    for elsewhere in [
        "",
        "docs",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "/ü",
        "/a\nb",
        &long,
    ] {
        let answer = server.nobody().post("/api/auth/github", &json!({ "returnTo": elsewhere })).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["returnTo"], "{elsewhere:?}");
    }
    let answer = server.nobody().post("/api/auth/github", &json!({ "return": "/" })).await;
    assert_eq!(answer.refused(400, "VALIDATION_ERROR").bad_fields(), ["return"]);
    server.nobody().send(reqwest::Method::POST, "/api/auth/github", None).await.ok();
}

async fn another_node_takes_the_browser_in(bench: Bench) {
    let (server, github) = with_github(bench, octo()).await;
    let (log, views) = (server.bench.log(), server.bench.stores().views.clone());
    let engine = Arc::new(Engine::start(log.clone(), views.clone(), vec![], Default::default()));
    let executor = Arc::new(Executor::new(log.clone()));
    let reactors = Arc::new(Runner::start(vec![], executor.clone(), views.clone(), engine.clone()));
    let parts = Parts { log, views, executor, engine, reactors };
    let other = App::new(parts, settings_with(&github)).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = serve(listener, other);

    // Both are behind one name, as a proxy has it.
    let begun = server.nobody().with("Host", "localhost:3001").post("/api/auth/github", &json!({})).await.ok();
    let back = github.visit(begun.body["redirectUrl"].as_str().unwrap()).await;
    assert_eq!(back.host_str(), Some("localhost"));
    let url = format!("http://{address}{}?{}", back.path(), back.query().unwrap());
    let http = muster_tests::http_client().build().unwrap();
    let get = || http.get(&url).header("Host", "localhost:3001").header("Cookie", begun.cookie()).send();
    assert_eq!(get().await.unwrap().status(), 303);
    assert_eq!(get().await.unwrap().status(), 400);
    let path = format!("{}?{}", back.path(), back.query().unwrap());
    let browser = server.nobody().with("Cookie", &begun.cookie());
    browser.get(&path).await.refused(400, "AUTH_GITHUB_STATE_INVALID");
    serving.abort();
}

async fn a_page_of_another_site_begins_no_sign_in(bench: Bench) {
    let (server, _github) = with_github(bench, octo()).await;
    let page = server.nobody().with("Origin", "https://evil.example");
    page.post("/api/auth/github", &json!({})).await.refused(403, "CROSS_SITE_REQUEST");
}

async fn both_routes_are_documented(bench: Bench) {
    let server = Server::start(bench).await;
    let api = server.nobody().get("/api/openapi.json").await.ok().body;
    let (begin, callback) = (&api["paths"]["/api/auth/github"]["post"], &api["paths"][CALLBACK]["get"]);
    let says = |operation: &Value, status: &str, code: &str| {
        let response = &operation["responses"][status];
        assert!(response["description"].as_str().is_some_and(|it| it.contains(code)), "{status} {code} in {operation}");
    };
    assert_eq!(begin["requestBody"]["required"], Value::Null, "the document says: no input");
    says(begin, "404", "AUTH_GITHUB_NOT_CONFIGURED");
    says(begin, "403", "CROSS_SITE_REQUEST");
    for (status, code) in [
        ("303", "Location"),
        ("400", "AUTH_GITHUB_STATE_INVALID"),
        ("403", "AUTH_GITHUB_DENIED"),
        ("403", "AUTH_GITHUB_EMAIL_UNVERIFIED"),
        ("403", "AUTH_ACCOUNT_SUSPENDED"),
        ("404", "AUTH_GITHUB_NOT_CONFIGURED"),
        ("502", "AUTH_GITHUB_FAILED"),
    ] {
        says(callback, status, code);
    }
    let names = callback["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["required"] == true));
    assert_eq!(names.collect::<Vec<_>>(), [("code", false), ("error", false), ("state", true)]);
}
