//! Erasure: sealed text is nowhere in the log, and after `muster erase` nowhere at all; everything else is as it was.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, binary, wait_until};
use muster_tests::stores::Kind;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::erasure_story::{OTHER, Person, Story, WORD, first, places_of};
use crate::proof_commands::Desk;

at_both_homes! {
    sealed_text_is_not_in_the_log_and_after_an_erasure_nowhere,
    an_erasure_changes_no_count_and_no_proof,
    an_erased_workspace_goes_on,
    an_erasure_that_was_killed_is_finished_by_the_next_run,
    a_server_of_the_past_ends_when_text_is_erased,
    wrong_input_erases_nothing,
    a_deleted_person_is_nowhere_and_what_they_owned_stays,
}

async fn sealed_text_is_not_in_the_log_and_after_an_erasure_nowhere(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    assert_eq!(places_of(&home, WORD.as_bytes(), "log").await, [""; 0], "while the server runs");
    server.terminate().await;
    assert_eq!(places_of(&home, WORD.as_bytes(), "log").await, [""; 0], "after it has ended");
    assert!(!places_of(&home, OTHER.as_bytes(), "log").await.is_empty(), "what is not sealed is found");
    assert!(!places_of(&home, WORD.as_bytes(), "views").await.is_empty(), "read models are not sealed");
    home.succeed(&["projections", "verify"]).await;
    let secret = secret_of(&home, &story.acme).await;
    assert!(!places_of(&home, &secret, "log").await.is_empty(), "the key is found");

    let told = home.succeed(&["erase", "--workspace", "acme", "--yes", "--json"]).await;
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&told["workspaceId"], &told["recordedNow"]), (&json!(story.acme), &json!(true)), "{told:#}");
    assert_eq!(told["rebuilt"].as_array().unwrap().len(), projections::all().len(), "{told:#}");
    assert_eq!(told["dropped"], json!({}));
    for what in [WORD.as_bytes(), &secret] {
        assert_eq!(places_of(&home, what, "").await, [""; 0]);
    }
    assert!(!places_of(&home, OTHER.as_bytes(), "views").await.is_empty());
    home.succeed(&["projections", "verify"]).await;
    home.succeed(&["log", "verify"]).await;
}

async fn an_erasure_changes_no_count_and_no_proof(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    let before = story.counts(&server).await;
    server.terminate().await;
    let desk = Desk::new(&home).await;
    let head = desk.succeed(&home, &["log", "head"]).await.stdout;
    desk.save("head.json", &head);
    let position = story.position.to_string();
    desk.succeed(&home, &["log", "prove", &position, "-o", &desk.path("proof.json")]).await;
    home.succeed(&["audit", "kpi", "--verify"]).await;

    home.succeed(&["erase", "--workspace", &story.acme, "--yes"]).await;
    desk.succeed(&home, &["log", "verify", "--against", &desk.path("head.json")]).await;
    let check = ["log", "check-proof", &desk.path("proof.json"), "--head", &desk.path("head.json")];
    desk.succeed(&home, &check).await;
    desk.succeed(&home, &["log", "prove", &position, "-o", &desk.path("again.json")]).await;
    home.succeed(&["audit", "kpi", "--verify"]).await;
    let server = Muster::start(&home, &[]).await;
    assert_eq!(story.counts(&server).await, before);
}

async fn an_erased_workspace_goes_on(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    server.terminate().await;
    home.succeed(&["erase", "--workspace", "acme", "--yes"]).await;
    let server = Muster::start(&home, &[]).await;
    let Story { owner, acme, other, project, task, session, position, .. } = &story;
    let shown = owner.get(&server, &format!("/api/task.get?id={task}")).await;
    assert_eq!(shown["task"]["title"], "[erased]");
    assert_eq!(shown["task"]["successCriteria"], json!(["[erased]", "[erased]"]));
    assert_eq!(shown["task"]["metadata"], json!({"text": "[erased]"}));
    for path in [
        format!("/api/task.get?id={task}&asOf={position}"),
        format!("/api/event.list?workspaceId={acme}&asOf={position}"),
        format!("/api/audit.history?aggregate=session&id={session}"),
        format!("/api/audit.state?aggregate=task&id={task}"),
        format!("/api/event.list?workspaceId={acme}"),
        format!("/api/wiki.list?workspaceId={acme}"),
    ] {
        let answer = owner.get(&server, &path).await.to_string();
        assert!(answer.contains("[erased]") && !answer.contains(WORD), "{path}: {answer}");
    }
    let workspace = &owner.get(&server, &format!("/api/workspace.get?id={acme}")).await["workspace"];
    assert_eq!((&workspace["name"], &workspace["slug"]), (&json!("[erased]"), &json!("acme")));
    assert!(workspace["textSealedAt"].is_string() && workspace["textErasedAt"].is_string(), "{workspace:#}");
    let next_door = owner.get(&server, &format!("/api/workspace.get?id={other}")).await;
    assert_eq!(next_door["workspace"]["name"], OTHER);

    // An answer that was remembered is forgotten, so the same key is free.
    let body = json!({"projectId": project, "title": "Magenta"});
    let again = owner.with("Idempotency-Key", "one").post(&server, "/api/task.create", body).await;
    assert_ne!(again["task"]["id"], json!(task));
    let renamed = json!({"id": acme, "name": "Magenta Ltd"});
    let (renamed, _) = owner.send(&server, Method::PUT, "/api/workspace.update", Some(renamed)).await;
    assert_eq!(renamed["workspace"]["name"], "Magenta Ltd");
    server.terminate().await;
    assert_eq!(places_of(&home, b"Magenta", "log").await, [""; 0], "sealed again, under a new key");
    assert!(!places_of(&home, b"Magenta", "views").await.is_empty());
}

async fn an_erasure_that_was_killed_is_finished_by_the_next_run(home: Home) {
    let server = Muster::start(&home, &[]).await;
    Story::told_to(&server).await;
    server.terminate().await;
    let args = ["erase", "--workspace", "acme", "--yes"];
    let mut erasing = tokio::process::Command::new(binary())
        .args(args)
        .env_clear()
        .env("MUSTER_DATA_DIR", home.folder())
        .envs((home.kind == Kind::Postgres).then(|| ("DATABASE_URL", home.database_url().to_owned())))
        .spawn()
        .unwrap();
    // From the moment on at which the key is gone.
    wait_until("the key is destroyed", async || erasures(&home).await > 0).await;
    let _ = erasing.kill().await;
    assert_eq!(erasures(&home).await, 1);

    let told = home.succeed(&[&args[..], &["--json"]].concat()).await;
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    // If the kill came too late, this was an erasure of its own.
    let was_cut_off = told["recordedNow"] == false;
    assert_eq!(erasures(&home).await, if was_cut_off { 1 } else { 2 });
    assert_eq!(places_of(&home, WORD.as_bytes(), "").await, [""; 0]);
    home.succeed(&["projections", "verify"]).await;
    let another: Value = serde_json::from_str(&home.succeed(&[&args[..], &["--json"]].concat()).await.stdout).unwrap();
    assert_eq!(another["recordedNow"], true, "the one before came to its end");
}

async fn a_server_of_the_past_ends_when_text_is_erased(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    server.terminate().await;
    let position = story.position.to_string();
    let past = Muster::start(&home, &["--as-of", &position]).await;
    let path = format!("/api/task.get?id={}", story.task);
    assert_eq!(story.owner.get(&past, &path).await["task"]["title"], WORD);
    home.succeed(&["erase", "--workspace", "acme", "--yes"]).await;
    let ended = past.ended().await;
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.says("text was erased"), "{ended:#?}");
    let past = Muster::start(&home, &["--as-of", &position]).await;
    assert_eq!(story.owner.get(&past, &path).await["task"]["title"], "[erased]");
}

async fn wrong_input_erases_nothing(home: Home) {
    let server = Muster::start(&home, &[]).await;
    Story::told_to(&server).await;
    if home.kind == Kind::Sqlite {
        let beside = home.run(&["erase", "--workspace", "acme", "--yes"]).await;
        assert_eq!(beside.code, Some(3), "{beside:#?}");
    }
    server.terminate().await;
    let nobody = Uuid::now_v7().to_string();
    for (args, says) in [
        (vec!["--workspace", "nowhere", "--yes"], "no workspace with the slug"),
        (vec!["--workspace", &nobody, "--yes"], "never had its text sealed"),
        (vec!["--workspace", "other", "--yes"], "never had its text sealed"),
        (vec!["--workspace", "acme"], "--yes"),
        (vec!["--yes"], "--workspace"),
    ] {
        let ended = home.run(&[&["erase"], &args[..]].concat()).await;
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
    }
    assert_eq!(erasures(&home).await, 0);
}

async fn a_deleted_person_is_nowhere_and_what_they_owned_stays(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    let position = story.position.to_string();
    let other = Person::signs_up(&server, "other@muster.example").await;
    server.terminate().await;
    let asked = home.run(&["admin", "delete-user", "owner@muster.example"]).await;
    assert_eq!(asked.code, Some(2), "{asked:#?}");
    home.succeed(&["admin", "delete-user", "owner@muster.example", "--yes"]).await;
    let again = home.run(&["admin", "delete-user", "owner@muster.example", "--yes"]).await;
    assert_eq!(again.code, Some(4), "{again:#?}");
    assert_eq!(places_of(&home, b"owner@muster.example", "").await, [""; 0]);
    home.succeed(&["log", "verify"]).await;
    let history = home.succeed(&["audit", "history", "task", &story.task, "--json"]).await;
    assert!(history.stdout.contains("TaskCreated"), "{history:#?}");
    home.succeed(&["audit", "causes", &position]).await;
    let server = Muster::start(&home, &[]).await;
    assert_eq!(story.owner.status_of(&server, "/api/workspace.list").await, StatusCode::UNAUTHORIZED);
    assert_eq!(other.get(&server, "/api/workspace.list").await, json!({"workspaces": []}));
    // The address is free for somebody else, who gets nothing of what was there.
    let newcomer = Person::signs_up(&server, "owner@muster.example").await;
    assert_eq!(newcomer.get(&server, "/api/workspace.list").await, json!({"workspaces": []}));
}

async fn secret_of(home: &Home, workspace: &str) -> Vec<u8> {
    let sql = format!("select key from workspace_keys where workspace_id = '{workspace}' and destroyed_at is null");
    first::<Vec<u8>>(home, &sql).await.expect("the workspace seals its text")
}

async fn erasures(home: &Home) -> i64 {
    first(home, "select count(*) from events where event_type = 'WorkspaceTextErased'").await.unwrap()
}
