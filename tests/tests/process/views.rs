//! Read models can be thrown away, are found out when they lie, and are mended from the log.

use std::fs;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};
use muster_tests::stores::Kind;
use serde_json::Value;

use crate::checker::Found;
use crate::client::Client;
use crate::demo::Tour;
use crate::raw;

at_both_homes! {
    read_models_that_were_thrown_away_come_back_as_they_were,
    a_wrong_row_is_named_and_mended_by_a_rebuild_when_that_is_accepted,
}

async fn read_models_that_were_thrown_away_come_back_as_they_were(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&server).await;
    let head = Found::read(&home).await.head();
    let before = answers(&tour.owner(&server).await, head).await;
    assert!(before.iter().all(|it| it.to_string().len() > 100), "{before:#?}");
    server.terminate().await;
    throw_away(&home).await;
    let server = Muster::start(&home, &[]).await;
    assert_eq!(answers(&tour.owner(&server).await, head).await, before);
    home.succeed(&["projections", "verify"]).await;
}

async fn a_wrong_row_is_named_and_mended_by_a_rebuild_when_that_is_accepted(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&server).await;
    let head = Found::read(&home).await.head();
    let before = answers(&tour.owner(&server).await, head).await;
    server.terminate().await;
    home.succeed(&["projections", "verify"]).await;

    let served = "select 'agents__v' || version || '_' || build from projections where name = 'agents' and serving = 1";
    let table = raw::ask_views(&home, served).await;
    let id = raw::ask_views(&home, &format!("select id from {table} where doc like '%\"Ada\"%'")).await;
    let lie = format!("update {table} set doc = replace(doc, '\"Ada\"', '\"Mallory\"') where id = '{id}'");
    raw::run_on_views(&home, &lie).await;

    let found = home.run(&["projections", "verify"]).await;
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(found.stdout.contains(&format!("agents {id}")), "{found:#?}");
    assert!(found.stdout.contains("Mallory") && found.stdout.contains("Ada"), "{found:#?}");
    let found = home.run(&["projections", "verify", "agents", "--json"]).await;
    assert_eq!(found.code, Some(1), "{found:#?}");
    let reports: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(reports[0]["differences"][0]["key"], id.as_str(), "{reports:#}");
    // Another read model is not to blame.
    home.succeed(&["projections", "verify", "workspaces"]).await;

    // Nobody knows why the row is as it is, so it is kept until somebody says otherwise.
    let kept = home.run(&["projections", "rebuild"]).await;
    assert_eq!(kept.code, Some(1), "{kept:#?}");
    assert!(kept.stdout.contains(&id) && kept.stdout.contains("Mallory"), "{kept:#?}");
    assert!(kept.stderr.contains("--accept-differences"), "{kept:#?}");
    assert_eq!(home.run(&["projections", "verify", "agents"]).await.code, Some(1));
    // It says what it mends, and then there is nothing more to say.
    let mended = home.succeed(&["projections", "rebuild", "agents", "--accept-differences"]).await;
    assert!(mended.stdout.contains(&id) && mended.stdout.contains("served now"), "{mended:#?}");
    home.succeed(&["projections", "verify"]).await;
    home.succeed(&["projections", "rebuild"]).await;
    let status = home.succeed(&["projections", "status", "--json"]).await;
    let status: Vec<Value> = serde_json::from_str(&status.stdout).unwrap();
    let all = projections::all();
    let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
    assert_eq!(status.iter().map(|it| &it["name"]).collect::<Vec<_>>(), names);
    assert!(status.iter().all(|it| it["state"] == "running" && it["checkpoint"] == head), "{status:#?}");

    let server = Muster::start(&home, &[]).await;
    assert_eq!(answers(&tour.owner(&server).await, head).await, before);
}

#[tokio::test]
async fn a_read_model_that_nobody_knows_is_refused_by_name() {
    let home = Home::new(Kind::Sqlite).await;
    Muster::start(&home, &[]).await.terminate().await;
    for command in ["status", "verify", "rebuild"] {
        let refused = home.run(&["projections", command, "weather"]).await;
        assert_ne!(refused.code, Some(0));
        assert!(refused.stderr.contains("weather") && refused.stderr.contains("timeline"), "{refused:#?}");
    }
}

/// What an owner sees of everything there is.
async fn answers(owner: &Client, head: i64) -> Vec<Value> {
    let workspaces = owner.see("/api/workspace.list?includeDeleted=true", head).await;
    let workspace = workspaces["workspaces"][0]["id"].as_str().unwrap().to_owned();
    let mut answers = vec![workspaces];
    for path in [
        format!("/api/project.list?workspaceId={workspace}&includeInactive=true&includeDeleted=true"),
        format!("/api/agent.list?workspaceId={workspace}"),
        "/api/event.list?limit=100".to_owned(),
        "/api/event.list?limit=5&offset=10".to_owned(),
    ] {
        answers.push(owner.see(&path, head).await);
    }
    answers
}

async fn throw_away(home: &Home) {
    match home.kind {
        Kind::Sqlite => {
            fs::remove_file(home.views_file()).unwrap();
            for rest in ["views.db-wal", "views.db-shm"] {
                let _ = fs::remove_file(home.folder().join(rest));
            }
        }
        Kind::Postgres => raw::run_on_views(home, "drop schema views cascade").await,
    }
}
