//! Notifications over HTTP: how a person wants to be told, and what they were told.

use std::time::Duration;

use commands::tool_call::{CallTool, FailTool};
use commands::{Actor, Context};
use domain::AgentId;
use muster_tests::both_served_stores;
use muster_tests::fleet::new;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(
    settings_are_what_the_node_has_until_a_person_says_otherwise,
    what_is_not_given_stays_and_null_takes_away,
    settings_that_make_no_sense_are_refused,
    what_the_node_does_not_allow_is_set_with_a_warning,
    news_is_listed_for_the_owner_alone,
);

const SETTINGS: &str = "/api/notification.settings";
const UPDATE: &str = "/api/notification.updateSettings";

async fn settings_are_what_the_node_has_until_a_person_says_otherwise(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let told = ada.get(SETTINGS).await.ok().body;
    assert_eq!(
        (&told["pushEnabled"], &told["notifyOnErrors"], &told["quietHoursStart"]),
        (&json!(false), &json!(true), &Value::Null)
    );
    let changed = ada.put(UPDATE, &json!({ "pushEnabled": true })).await.ok().body;
    assert_eq!((&changed["pushEnabled"], ada.get(SETTINGS).await.ok().body), (&json!(true), changed.clone()));
    assert_eq!(bob.get(SETTINGS).await.ok().body["pushEnabled"], false);
    let head = server.head().await;
    ada.put(UPDATE, &json!({ "pushEnabled": true })).await.ok();
    assert_eq!(server.head().await, head, "it was already so");
    let posted = json!({ "webhookUrl": "https://hooks.example/a" });
    ada.put(UPDATE, &posted).await.ok();
    let head = server.head().await;
    assert_eq!(ada.put(UPDATE, &posted).await.ok().body["webhookUrl"], posted["webhookUrl"]);
    assert_eq!(server.head().await, head, "nor is an address that was there already");
    assert!(server.bench.everything().await.iter().all(|it| !it.payload.contains("hooks.example")));
}

async fn what_is_not_given_stays_and_null_takes_away(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let all = json!({
        "webhookEnabled": true, "webhookUrl": "https://hooks.example/a", "soundEnabled": true, "soundFile": "/bell.wav",
        "quietHoursStart": "22:00", "quietHoursEnd": "08:00", "utcOffsetMinutes": 60, "notifyOnTaskComplete": false,
    });
    let set = ada.put(UPDATE, &all).await.ok().body;
    for (field, value) in all.as_object().unwrap() {
        assert_eq!(set[field], *value, "{field}");
    }
    let less = json!({ "quietHoursStart": null, "quietHoursEnd": null, "webhookEnabled": false, "webhookUrl": null });
    let left = ada.put(UPDATE, &less).await.ok().body;
    assert_eq!(
        (&left["quietHoursEnd"], &left["webhookUrl"], &left["soundFile"]),
        (&Value::Null, &Value::Null, &json!("/bell.wav"))
    );
    assert_eq!(left["notifyOnTaskComplete"], false);
}

async fn settings_that_make_no_sense_are_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for (body, field) in [
        (json!({ "quietHoursStart": "22:00" }), "quietHoursStart"),
        (json!({ "quietHoursStart": "25:00", "quietHoursEnd": "08:00" }), "quietHoursStart"),
        (json!({ "webhookUrl": "ftp://a.example" }), "webhookUrl"),
        (json!({ "webhookEnabled": true }), "webhookUrl"),
        (json!({ "soundEnabled": true }), "soundFile"),
        (json!({ "soundFile": "bell.wav" }), "soundFile"),
        (json!({ "utcOffsetMinutes": 900 }), "utcOffsetMinutes"),
    ] {
        let refused = ada.put(UPDATE, &body).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), [field], "{body}");
    }
}

async fn what_the_node_does_not_allow_is_set_with_a_warning(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let on = json!({
        "pushEnabled": true, "soundEnabled": true, "soundFile": "/etc/passwd", "webhookEnabled": true,
        "webhookUrl": "https://169.254.169.254/latest",
    });
    let set = ada.put(UPDATE, &on).await.ok().body;
    for (field, value) in on.as_object().unwrap() {
        assert_eq!(set[field], *value, "{field}");
    }
    let codes: Vec<_> = set["warnings"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect();
    assert_eq!(codes, ["DESKTOP_NOT_ALLOWED", "SOUND_NOT_ALLOWED", "WEBHOOK_NOT_ALLOWED"]);
    let message = "this is set, and not done on this node: the operator of this node allows no messages on its desktop";
    assert_eq!(set["warnings"][0]["message"], message);
    assert_eq!(ada.get(SETTINGS).await.ok().body, set);
    let off = json!({ "pushEnabled": false, "soundEnabled": false, "webhookUrl": "https://hooks.example/a" });
    assert_eq!(ada.put(UPDATE, &off).await.ok().body.get("warnings"), None);
    let inside = json!({ "webhookUrl": "http://127.0.0.1:9/" });
    assert_eq!(ada.put(UPDATE, &inside).await.ok().body["warnings"][0]["code"], "WEBHOOK_NOT_ALLOWED");
}

async fn news_is_listed_for_the_owner_alone(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let workspace = ada.workspace("acme").await;
    let lead = ada.new_agent(&workspace, None, "lead").await;
    let by = AgentId(lead["agent"]["id"].as_str().unwrap().parse().unwrap());
    let context = || Context::new(Actor::Agent(by), server.bench.clock.now());
    for _ in 0..2 {
        let call = CallTool { call_id: new(), by, tool: "mcp__git__rebase".to_owned(), input: json!({}) };
        let call_id = server.executor.run(&context(), &call).await.unwrap().outcome;
        let fail = FailTool { call_id, error: "No".to_owned(), details: None, critical: true, escalates: true };
        let position = server.executor.run(&context(), &fail).await.unwrap().position;
        assert!(server.reactors.wait_for("raise_notifications_on_news", position, Duration::from_secs(20)).await);
    }
    let head = server.head().await.to_string();
    let list = async |path: &str| ada.with("X-Min-Position", &head).get(path).await.ok().body;
    let first = list(&format!("/api/notification.list?workspaceId={workspace}&limit=1")).await;
    let news = &first["notifications"][0];
    assert_eq!((&news["kind"], &news["withheld"]), (&json!("critical_error"), &json!("disabled")));
    let rest = list(&format!("/api/notification.list?limit=1&before={}", first["nextBefore"])).await;
    assert_ne!(rest["notifications"][0]["id"], news["id"]);
    let theirs = bob.with("X-Min-Position", &head).get("/api/notification.list").await.ok().body;
    assert_eq!(theirs["notifications"], json!([]));
    bob.get(&format!("/api/notification.list?workspaceId={workspace}")).await.refused(403, "WORKSPACE_ACCESS_DENIED");
}
