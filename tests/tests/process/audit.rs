//! `muster audit` on the store itself: beside a running server, after it has stopped, and with bad input.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};
use serde_json::{Value, json};

use crate::client::{Client, Request};

at_both_homes! {
    an_operator_follows_a_task_through_its_history,
    an_operator_asks_why_and_what_followed,
    what_cannot_be_answered_is_said_and_ends_with_a_code,
}

/// A task that was renamed once, made over HTTP.
struct Made {
    task: String,
    /// Where it was made, and where it was renamed.
    created: i64,
    renamed: i64,
}

async fn make(server: &Muster) -> Made {
    let ada = Client::sign_up(server).await;
    let (workspace, _) = ada.new_workspace().await;
    let project = json!({ "workspaceId": workspace, "name": "Shop", "slug": "shop" });
    let project = ada.must(Request::post("/api/project.create", project)).await.id("project");
    let task = json!({ "projectId": project, "title": "Add a basket" });
    let created = ada.must(Request::post("/api/task.create", task)).await;
    let task = created.id("task");
    let renamed = ada.must(Request::put("/api/task.update", json!({ "id": task, "title": "Add a cart" }))).await;
    Made { task, created: created.position(), renamed: renamed.position() }
}

async fn an_operator_follows_a_task_through_its_history(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let Made { task, created, renamed } = make(&server).await;
    // Beside the server, without signing in.
    let shown = home.succeed(&["audit", "history", "task", &task]).await.stdout;
    assert!(shown.starts_with(&format!("task/{task}: 2 events, shown 1 to 2")), "{shown}");
    for expected in ["TaskCreated", "TaskDetailsChanged", "user Robin", "Add a basket", "->  Add a cart"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let paged = home.succeed(&["audit", "history", "task", &task, "--limit", "1", "--json"]).await.stdout;
    let paged: Value = serde_json::from_str(&paged).unwrap();
    assert_eq!((&paged["total"], &paged["hasMore"]), (&json!(2), &json!(true)));
    assert_eq!(paged["events"][0]["type"], "TaskCreated");
    server.terminate().await;

    // And without it.
    let state = async |at: &str| {
        let text = home.succeed(&["audit", "state", "task", &task, "--at", at, "--json"]).await.stdout;
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(state(&created.to_string()).await["state"]["title"], "Add a basket");
    let after = state(&renamed.to_string()).await;
    assert_eq!(after["state"]["title"], "Add a cart");
    assert_eq!(state(after["recordedAt"].as_str().unwrap()).await["state"], after["state"]);
    let shown = home.succeed(&["audit", "state", "task", &task]).await.stdout;
    assert!(shown.contains("stage") && shown.contains("Add a cart"), "{shown}");

    let (from, to) = (created.to_string(), renamed.to_string());
    let shown = home.succeed(&["audit", "diff", "task", &task, "--from", &from, "--to", &to]).await.stdout;
    assert!(shown.contains("title  Add a basket  ->  Add a cart"), "{shown}");
    let nothing = home.succeed(&["audit", "diff", "task", &task, "--from", &to]).await.stdout;
    assert!(nothing.contains("Nothing is different."), "{nothing}");
    let diff = home.succeed(&["audit", "diff", "task", &task, "--from", &from, "--json"]).await.stdout;
    let diff: Value = serde_json::from_str(&diff).unwrap();
    assert_eq!(diff["changes"], json!([{ "field": "title", "before": "Add a basket", "after": "Add a cart" }]));
}

async fn an_operator_asks_why_and_what_followed(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = crate::demo::Tour::read(&server).await;
    let owner = tour.owner(&server).await;
    let body = owner.must(Request::get("/api/event.list?type=trust_score_changed&limit=1")).await.body;
    let judged = body["events"][0]["metadata"]["position"].as_i64().unwrap().to_string();
    let causes = home.succeed(&["audit", "causes", &judged, "--json"]).await.stdout;
    let causes: Value = serde_json::from_str(&causes).unwrap();
    let over_http = owner.must(Request::get(format!("/api/audit.causes?position={judged}"))).await.body;
    assert_eq!(causes, over_http);
    assert_eq!(causes["tree"]["type"], "TrustScoreChanged");
    let measured = &causes["tree"]["children"][0];
    assert_eq!((&measured["type"], &measured["relation"]), (&json!("KpiRecalculated"), &json!("reaction")));
    let cause = measured["children"][0]["position"].as_i64().unwrap().to_string();
    server.terminate().await;

    let shown = home.succeed(&["audit", "effects", &cause]).await.stdout;
    for expected in ["KpiRecalculated", "└─ ", "TrustScoreChanged", "reaction", "Affected:", "scorecard/"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let shown = home.succeed(&["audit", "effects", &cause, "--depth", "1"]).await.stdout;
    assert!(shown.contains("It goes on beyond 1 steps"), "{shown}");
    let alone = home.succeed(&["audit", "causes", "1"]).await.stdout;
    assert!(alone.contains("It came from a request."), "{alone}");
}

async fn what_cannot_be_answered_is_said_and_ends_with_a_code(home: Home) {
    let missing = home.run(&["audit", "causes", "1"]).await;
    assert_eq!(missing.code, Some(3), "{missing:#?}");
    let server = Muster::start(&home, &[]).await;
    let Made { task, .. } = make(&server).await;
    server.terminate().await;
    let nobody = "0198c5a0-0000-7000-8000-000000000001";
    let cases: &[(&[&str], &str)] = &[
        (&["history", "parcel", &task], "possible values"),
        (&["history", "task", "x"], "invalid value"),
        (&["history", "task", nobody], "there is no task"),
        (&["history", "task", &task, "--limit", "0"], "not in"),
        (&["state", "task", &task, "--at", "1"], "did not exist at position 1"),
        (&["state", "task", &task, "--at", "9999"], "beyond the end of the log"),
        (&["state", "task", &task, "--at", "1999-01-01T00:00:00Z"], "before the first event"),
        (&["state", "task", &task, "--at", "2999-01-01T00:00:00Z"], "has not come yet"),
        (&["diff", "task", &task, "--from", "soon"], "neither a position nor a time"),
        (&["diff", "task", &task, "--from", "3", "--to", "2"], "--from (position 3) is after --to (position 2)"),
        (&["effects", "9999"], "beyond the end of the log"),
        (&["effects", "0"], "not in"),
    ];
    for (args, expected) in cases {
        let args: Vec<&str> = ["audit"].iter().chain(*args).copied().collect();
        let ended = home.run(&args).await;
        assert!(
            ended.code == Some(2) && ended.stderr.contains(expected) && ended.stdout.is_empty(),
            "{args:?} {ended:#?}"
        );
    }
}
