//! What a server says of itself: a greeting on standard output, logs on standard error, and never a secret.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, Request};

at_both_homes! {
    a_server_says_where_it_is_and_how_far,
    logs_are_lines_of_json_without_a_secret,
}

async fn a_server_says_where_it_is_and_how_far(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let (_, position) = Client::sign_up(&server).await.new_workspace().await;
    server.terminate().await;
    let server = Muster::start(&home, &[]).await;
    bounded("the greeting ends", server.stdout.line_with("/docs")).await.unwrap();
    let greeting = server.stdout.so_far();
    assert!(greeting.starts_with(&format!("muster 0.1.0 on http://{}/api\n", server.address)), "{greeting}");
    let place = match home.kind {
        Kind::Sqlite => home.folder().display().to_string(),
        Kind::Postgres => "postgres://127.0.0.1".to_owned(),
    };
    assert!(greeting.contains(&place), "{greeting}");
    assert!(greeting.contains(&format!("position {position} in epoch 1")), "{greeting}");
    for read_model in ["workspaces v1", "projects v1", "agents v1", "timeline v2"] {
        assert!(greeting.contains(&format!("{read_model} running at {position} of {position}")), "{greeting}");
    }
}

async fn logs_are_lines_of_json_without_a_secret(home: Home) {
    let server = Muster::start(&home, &["--log-format", "json", "--log-filter", "debug"]).await;
    let stranger = Client::stranger(&server);
    let body = json!({"email": stranger.email, "password": PASSWORD, "name": "Robin"});
    let signed_up = stranger.must(Request::post("/api/auth/signup", body)).await;
    let cookie = signed_up.header("set-cookie").unwrap();
    let cookie = cookie.split(['=', ';']).nth(1).unwrap().to_owned();
    let (workspace, _) = stranger.new_workspace().await;
    let agent = json!({"workspaceId": workspace, "agentLevel": "organization", "agentCode": "dev", "name": "Dev",
                       "roleTitle": "Developer"});
    let created = stranger.must(Request::post("/api/agent.create", agent)).await;
    let key = created.body["credentials"]["apiKey"].as_str().unwrap().to_owned();
    let (id, guess) = (created.id("agent"), "af_agent_guess");
    stranger.must(Request::get(format!("/api/agent.get?id={id}")).by_agent(&id, &key)).await;
    let refused = stranger.send(&Request::get("/api/workspace.list").by_agent(&id, guess)).await.unwrap();
    assert_eq!(refused.status, 401);
    let wrong = json!({"email": stranger.email, "password": "wrong but secret"});
    assert_eq!(stranger.send(&Request::post("/api/auth/login", wrong)).await.unwrap().status, 401);

    let ended = server.terminate().await;
    assert!(ended.stderr.lines().count() > 1, "{ended:#?}");
    for line in ended.stderr.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert!(line["level"].is_string(), "{line}");
    }
    for secret in [PASSWORD, &cookie, &key, guess, "wrong but secret"] {
        assert!(!ended.says(secret), "{secret}: {ended:#?}");
    }
}
