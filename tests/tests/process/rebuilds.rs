//! Read models are rebuilt from the command line: after a kill, beside a server, and never over an unexplained row.

use std::process::Stdio;

use domain::workspace::WorkspaceEvent;
use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, binary, bounded, wait_until};
use muster_tests::stores::Kind;
use serde_json::{Value, json};
use store::{Access, Clock, Commit, Location, NewEvent, Settings, Stores, StreamAppend, StreamId};
use tokio::process::Command;
use uuid::Uuid;

use crate::client::Client;
use crate::raw;

at_both_homes! {
    a_killed_rebuild_goes_on_where_it_stopped,
    a_rebuild_refuses_to_race_a_server_and_builds_beside_it_when_asked,
    the_auditor_counts_a_wrong_row_until_it_is_mended,
}

async fn a_killed_rebuild_goes_on_where_it_stopped(home: Home) {
    let server = Muster::start(&home, &["--audit-seconds", "0"]).await;
    let owner = Client::sign_up(&server).await;
    let (workspace, _) = owner.new_workspace().await;
    server.terminate().await;
    let head = lengthen(&home, workspace.parse().unwrap(), 11, 1_000).await;
    let server = Muster::start(&home, &["--audit-seconds", "0"]).await;
    let served = "select cast(min(checkpoint) as text) from projections where serving = 1";
    wait_until("everything is served", async || raw::ask_views(&home, served).await == head.to_string()).await;
    server.terminate().await;

    let mut rebuild = start(&home, &["projections", "rebuild", "--json"]);
    let some = "select cast(coalesce(min(checkpoint), 0) as text) from projections where serving = 0";
    wait_until("some of it is built", async || raw::ask_views(&home, some).await.parse::<i64>().unwrap() > 0).await;
    bounded("a killed rebuild is gone", rebuild.kill()).await.unwrap();
    let left = "select cast(count(*) as text) from projections where serving = 0 and state = 'rebuilding'";
    assert_ne!(raw::ask_views(&home, left).await, "0", "the rebuild was over before it was killed");

    // Served as before; and what was built is taken up, not thrown away.
    home.succeed(&["projections", "verify", "workspaces"]).await;
    let reports = home.succeed(&["projections", "rebuild", "--json"]).await;
    let reports: Vec<Value> = serde_json::from_str(&reports.stdout).unwrap();
    assert!(reports.iter().all(|it| it["tookOver"] == true && it["position"] == head), "{reports:#?}");
    assert!(reports.iter().all(|it| it["compared"]["differencesTotal"] == 0), "{reports:#?}");
    assert!(reports.iter().any(|it| it["resumedFrom"].as_i64().unwrap() > 0), "{reports:#?}");
    home.succeed(&["projections", "verify"]).await;
    assert_eq!(raw::ask_views(&home, "select cast(count(*) as text) from projections where serving = 0").await, "0");
    // On request it begins anew.
    let anew = home.succeed(&["projections", "rebuild", "workspaces", "--from-start", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&anew.stdout).unwrap()[0]["resumedFrom"], 0);
}

async fn a_rebuild_refuses_to_race_a_server_and_builds_beside_it_when_asked(home: Home) {
    let server = Muster::start(&home, &["--demo", "--audit-seconds", "0"]).await;
    let owner = Client::sign_up(&server).await;
    for args in [&["projections", "rebuild"][..], &["projections", "rebuild", "agents", "--accept-differences"]] {
        let refused = home.run(args).await;
        assert_eq!(refused.code, Some(3), "{refused:#?}");
        assert!(refused.stderr.contains("in use") && refused.stderr.contains("--beside"), "{refused:#?}");
    }
    let builds = "select cast(count(*) as text) from projections where serving = 0";
    assert_eq!(raw::ask_views(&home, builds).await, "0");

    let reports = home.succeed(&["projections", "rebuild", "--beside", "--json"]).await;
    let reports: Vec<Value> = serde_json::from_str(&reports.stdout).unwrap();
    assert_eq!(reports.len(), projections::all().len());
    assert!(reports.iter().all(|it| it["tookOver"] == true), "{reports:#?}");
    assert!(reports.iter().all(|it| it["compared"]["differencesTotal"] == 0), "{reports:#?}");
    // The server goes on with what was built beside it.
    let (workspace, position) = owner.new_workspace().await;
    let seen = owner.see("/api/workspace.list", position).await;
    assert!(seen.to_string().contains(&workspace), "{seen:#}");
    server.terminate().await;
    home.succeed(&["projections", "verify"]).await;
}

async fn the_auditor_counts_a_wrong_row_until_it_is_mended(home: Home) {
    let server = Muster::start(&home, &["--demo", "--audit-seconds", "1"]).await;
    let drift = async |count: &str| {
        let wanted = format!("muster_projection_drift{{projection=\"agents\"}} {count}");
        metrics(&server).await.lines().any(|line| line == wanted)
    };
    wait_until("something was audited", async || {
        metrics(&server).await.contains("muster_projection_audited_rows_total{projection=\"agents\"}")
    })
    .await;
    assert!(drift("0").await, "{}", metrics(&server).await);

    let served = "select 'agents__v' || version || '_' || build from projections where name = 'agents' and serving = 1";
    let table = raw::ask_views(&home, served).await;
    let id = raw::ask_views(&home, &format!("select id from {table} where doc like '%\"Ada\"%'")).await;
    let lie = format!("update {table} set doc = replace(doc, '\"Ada\"', '\"Mallory\"') where id = '{id}'");
    raw::run_on_views(&home, &lie).await;
    wait_until("the wrong row is counted", async || drift("1").await).await;
    let said = bounded("it is said which row", server.stderr.line_with("a served row is not what the log says")).await;
    assert!(said.is_some_and(|it| it.contains(&id)), "{}", server.stderr.so_far());

    let mended = home.succeed(&["projections", "rebuild", "agents", "--beside", "--accept-differences"]).await;
    assert!(mended.stdout.contains(&id) && mended.stdout.contains("Mallory"), "{mended:#?}");
    wait_until("the row is right again", async || drift("0").await).await;
    assert!(!metrics(&server).await.lines().any(|it| it.starts_with("muster_projection_drift") && !it.ends_with(" 0")));
}

async fn metrics(server: &Muster) -> String {
    let http = muster_tests::http_client().build().unwrap();
    http.get(server.url("/metrics")).send().await.unwrap().text().await.unwrap()
}

/// Appends so many times so many events to a workspace. Answers where the log stands then.
async fn lengthen(home: &Home, workspace: Uuid, commits: i64, size: i64) -> i64 {
    let location = match home.kind {
        Kind::Sqlite => Location::Sqlite(home.folder().to_path_buf()),
        Kind::Postgres => Location::Postgres(home.database_url().to_owned()),
    };
    let settings = Settings { location, clock: Clock::default(), access: Access::Serve };
    let stores = Stores::open(settings).await.unwrap();
    let stream = StreamId::new(projections::WORKSPACE, workspace);
    for n in 0..commits {
        let events = (0..size).map(|at| renamed(workspace, n * size + at)).collect();
        let append = StreamAppend { stream: stream.clone(), expected: 1 + n * size, events };
        stores.log.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    }
    stores.log.head().await.unwrap().position
}

fn renamed(workspace: Uuid, n: i64) -> NewEvent {
    let event = WorkspaceEvent::WorkspaceDetailsChanged {
        name: Some(format!("Acme {n}")),
        slug: None,
        description: None,
        settings: None,
        changed_at: chrono::Utc::now(),
    };
    NewEvent {
        event_id: Uuid::now_v7(),
        event_type: "WorkspaceDetailsChanged".into(),
        event_version: "1".into(),
        payload: serde_json::to_string(&event).unwrap(),
        metadata: json!({
            "actor_type": "user", "actor_id": workspace, "command_id": format!("c-{n}"), "correlation_id": "r-1",
        })
        .to_string(),
        workspace_id: Some(workspace),
    }
}

fn start(home: &Home, args: &[&str]) -> tokio::process::Child {
    let mut command = Command::new(binary());
    command.args(args).env_clear().stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    match home.kind {
        Kind::Sqlite => command.env("MUSTER_DATA_DIR", home.folder()),
        Kind::Postgres => command.env("DATABASE_URL", home.database_url()),
    };
    command.spawn().unwrap()
}
