//! The door for GitHub's webhooks: signatures, sizes, limits.

use api::{HttpSettings, Limits};
use muster_tests::both_served_stores;
use muster_tests::server::{Answer, Client, Server};
use muster_tests::stores::Bench;
use muster_tests::webhooks::{
    REPOSITORY, ROUTE, SECRET, file, listening, payload, send_signed, signature, webhook_settings,
};
use reqwest::Method;
use serde_json::json;

both_served_stores!(
    both_routes_take_what_is_signed,
    the_signature_is_over_the_bytes_as_they_came,
    what_is_not_signed_leaves_nothing,
    without_a_secret_no_webhook_is_taken,
    an_empty_secret_is_none,
    what_is_signed_but_means_nothing_is_received_and_not_processed,
    a_body_may_have_25_mebibytes_and_no_more,
    only_what_fails_the_signature_is_limited,
);

async fn with_shop(server: &Server) -> Client {
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    ada.project_at(&workspace, "shop", REPOSITORY).await;
    ada
}

fn opening(server: &Server) -> Client {
    server.nobody().with("X-GitHub-Event", "issues").with("X-GitHub-Delivery", "one")
}

async fn post(client: &Client, body: &str) -> Answer {
    client.send(Method::POST, ROUTE, Some(body.to_owned())).await
}

async fn both_routes_take_what_is_signed(bench: Bench) {
    let server = listening(bench).await;
    with_shop(&server).await;
    for (route, fixture) in [(ROUTE, "issues.opened"), ("/api/github.webhook", "issues.labeled")] {
        let body = file(fixture);
        let client = server.nobody().with("X-GitHub-Event", "issues");
        let client = client.with("X-Hub-Signature-256", &signature(SECRET, &body));
        let answer = client.send(Method::POST, route, Some(body)).await.ok();
        assert_eq!(answer.body, json!({ "received": true, "processed": true }), "{route}");
    }
}

async fn the_signature_is_over_the_bytes_as_they_came(bench: Bench) {
    let server = listening(bench).await;
    with_shop(&server).await;
    let head = server.head().await;
    let body = file("issues.opened");
    let signed = opening(&server).with("X-Hub-Signature-256", &signature(SECRET, &body));
    let compact = serde_json::from_str::<serde_json::Value>(&body).unwrap().to_string();
    for same_meaning in [compact, format!("{body} "), body.trim_end().to_owned(), body.replace("  ", "\t")] {
        post(&signed, &same_meaning).await.refused(401, "GITHUB_WEBHOOK_SIGNATURE_INVALID");
    }
    assert_eq!(server.head().await, head);
    assert_eq!(post(&signed, &body).await.ok().body["processed"], true);
}

async fn what_is_not_signed_leaves_nothing(bench: Bench) {
    let server = listening(bench).await;
    with_shop(&server).await;
    let (head, body) = (server.head().await, file("issues.opened"));
    let right = signature(SECRET, &body);
    let digits = right.strip_prefix("sha256=").unwrap();
    post(&opening(&server), &body).await.refused(401, "GITHUB_WEBHOOK_SIGNATURE_INVALID");
    for wrong in [
        signature("another secret", &body),
        digits.to_owned(),
        format!("sha1={digits}"),
        format!("sha256={}", &digits[..62]),
        format!("sha256={digits}00"),
        "sha256=".to_owned(),
        "sha256=nothing".to_owned(),
    ] {
        let client = opening(&server).with("X-Hub-Signature-256", &wrong);
        post(&client, &body).await.refused(401, "GITHUB_WEBHOOK_SIGNATURE_INVALID");
    }
    assert_eq!(server.head().await, head, "no event");
    // Nor is the delivery's id used up.
    assert_eq!(post(&opening(&server).with("X-Hub-Signature-256", &right), &body).await.ok().body["processed"], true);
}

async fn without_a_secret_no_webhook_is_taken(bench: Bench) {
    let server = Server::start(bench).await;
    let body = file("issues.opened");
    for client in [opening(&server), opening(&server).with("X-Hub-Signature-256", &signature("", &body))] {
        post(&client, &body).await.refused(404, "GITHUB_WEBHOOK_NOT_CONFIGURED");
    }
}

async fn an_empty_secret_is_none(bench: Bench) {
    let settings = HttpSettings { github_webhook_secret: Some(String::new()), ..webhook_settings() };
    let server = Server::start_with(bench, settings).await;
    let body = file("issues.opened");
    let client = opening(&server).with("X-Hub-Signature-256", &signature("", &body));
    post(&client, &body).await.refused(404, "GITHUB_WEBHOOK_NOT_CONFIGURED");
}

async fn what_is_signed_but_means_nothing_is_received_and_not_processed(bench: Bench) {
    let server = listening(bench).await;
    with_shop(&server).await;
    let head = server.head().await;
    let (issue, nobody) = (file("issues.opened"), server.nobody());
    let odd = [
        (nobody.with("X-GitHub-Event", "ping"), file("ping")),
        (nobody.with("X-GitHub-Event", "star"), issue.clone()),
        (nobody.clone(), issue.clone()),
        (nobody.with("X-GitHub-Event", "issues"), issue.replace("\"opened\"", "\"pinned\"")),
        (nobody.with("X-GitHub-Event", "issues"), issue.replace("acme/shop", "acme/unknown")),
        (nobody.with("X-GitHub-Event", "issues"), "{ this is no JSON".to_owned()),
        (nobody.with("X-GitHub-Event", "issues"), "payload=%7B%7D".to_owned()),
        (nobody.with("X-GitHub-Event", "push"), "[]".to_owned()),
        (nobody.with("X-GitHub-Event", "push"), "null".to_owned()),
        (nobody.with("X-GitHub-Event", "issues"), String::new()),
    ];
    for (client, body) in odd {
        let answer = send_signed(&client, body.clone()).await.ok();
        assert_eq!(answer.body, json!({ "received": true, "processed": false }), "{body}");
    }
    assert_eq!(server.head().await, head);
}

async fn a_body_may_have_25_mebibytes_and_no_more(bench: Bench) {
    const MOST: usize = 25 * 1024 * 1024;
    let server = listening(bench).await;
    with_shop(&server).await;
    let padded = |length: usize| {
        let bare = payload("issues.opened").with("/padding", "").body.to_string().len();
        let body = payload("issues.opened").with("/padding", "x".repeat(length - bare)).body.to_string();
        assert_eq!(body.len(), length);
        body
    };
    let client = opening(&server);
    send_in_pieces(&server, padded(MOST + 1)).await;
    assert_eq!(send_signed(&client, padded(MOST)).await.ok().body["processed"], true);
}

async fn only_what_fails_the_signature_is_limited(bench: Bench) {
    let limits = Limits::parse("webhook=1,address=1").unwrap();
    let server = Server::start_with(bench, HttpSettings { limits, ..webhook_settings() }).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    ada.project_at(&workspace, "shop", REPOSITORY).await;
    let forged = opening(&server).with("X-Hub-Signature-256", &signature("guessed", "{}"));
    let mut refused = None;
    for _ in 0..1_000 {
        let answer = post(&forged, "{}").await;
        if answer.status == 429 {
            refused = Some(answer.refused(429, "RATE_LIMITED"));
            break;
        }
        answer.refused(401, "GITHUB_WEBHOOK_SIGNATURE_INVALID");
    }
    assert!(refused.unwrap().header("retry-after").is_some());
    for number in 1..=20 {
        server.tell(&payload("issues.opened").numbered(number)).await;
        post(&forged, "{}").await;
    }
}

/// A body whose length is not announced, so that the server must read on until it is too much.
async fn send_in_pieces(server: &Server, body: String) {
    let request = muster_tests::http_client().build().unwrap().post(server.url(ROUTE));
    let request = request.header("X-Hub-Signature-256", signature(SECRET, &body));
    let bytes = body.into_bytes();
    let pieces: Vec<_> = bytes.chunks(1 << 16).map(|it| Ok::<_, std::io::Error>(it.to_vec())).collect();
    let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    let response = request.body(stream).send().await.unwrap();
    assert_eq!(response.status(), 413);
    assert!(response.text().await.unwrap().contains("PAYLOAD_TOO_LARGE"));
}
