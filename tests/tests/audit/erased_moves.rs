//! Keys go where whole stores go, and nowhere else: a copy and a backup read on, an export and a bundle stay sealed.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use serde_json::{Value, json};

use crate::erasure_story::{Person, Story, WORD, first, places_of};
use crate::moves::other;
use crate::proof_commands::Desk;

at_both_homes! {
    a_copy_and_a_backup_carry_the_key,
    an_imported_log_stays_sealed_and_seals_what_comes,
    a_bundle_is_read_only_with_the_key_that_was_put_into_it,
}

async fn a_copy_and_a_backup_carry_the_key(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    server.terminate().await;
    let backup = home.folder().with_file_name("backup");
    let backup = backup.to_str().unwrap();
    home.succeed(&["backup", backup]).await;
    let to = Home::new(other(home.kind)).await;
    let copy = ["log", "copy", "--from", &name(&home), "--to", &name(&to)].map(str::to_owned);
    let copy: Vec<&str> = copy.iter().map(String::as_str).collect();
    home.succeed(&copy).await;
    let server = Muster::start(&to, &[]).await;
    assert_eq!(title(&story, &server).await, WORD);
    server.terminate().await;

    // Erased where it was, it is erased in the copy that is brought up to date, and in no backup that was taken before.
    home.succeed(&["erase", "--workspace", "acme", "--yes"]).await;
    home.succeed(&copy).await;
    let server = Muster::start(&to, &[]).await;
    assert_eq!(audited(&story, &to).await, "[erased]");
    server.terminate().await;
    let restored = Home::new(home.kind).await;
    restored.succeed(&["restore", backup]).await;
    assert_eq!(audited(&story, &restored).await, WORD);
}

async fn an_imported_log_stays_sealed_and_seals_what_comes(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    server.terminate().await;
    let file = home.folder().with_file_name("log.jsonl");
    let file = file.to_str().unwrap();
    home.succeed(&["log", "export", "-o", file]).await;
    assert!(!std::fs::read_to_string(file).unwrap().contains(WORD));
    let to = Home::new(other(home.kind)).await;
    to.succeed(&["log", "import", file]).await;
    to.succeed(&["log", "verify"]).await;
    assert_eq!(audited(&story, &to).await, "[sealed]");
    Muster::start(&to, &[]).await.terminate().await;
    to.succeed(&["projections", "verify"]).await;
    let keys = "select count(*) from workspace_keys where destroyed_at is null and workspace_id = ";
    for (workspace, has) in [(&story.acme, 1), (&story.other, 0)] {
        let found: Option<i64> = first(&to, &format!("{keys}'{workspace}'")).await;
        assert_eq!(found, Some(has), "what comes is sealed under a key of its own, where it is sealed");
    }
    assert_eq!(places_of(&to, WORD.as_bytes(), "").await, [""; 0]);
}

async fn a_bundle_is_read_only_with_the_key_that_was_put_into_it(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let story = Story::told_to(&server).await;
    server.terminate().await;
    let desk = Desk::new(&home).await;
    let (without, with) = (desk.path("without"), desk.path("with"));
    let export = ["audit", "export", "--workspace", "acme", "-o"];
    desk.succeed(&home, &[&export[..], &[&without]].concat()).await;
    let told = desk.succeed(&home, &[&export[..], &[&with, "--with-key"]].concat()).await;
    assert!(told.says("can read what is sealed"), "{told:#?}");
    let elsewhere = Home::new(Kind::Sqlite).await;
    for (bundle, has_key, shown) in [(&without, Value::Null, "[sealed]"), (&with, json!(true), WORD)] {
        let verified = elsewhere.succeed(&["audit", "verify", bundle, "--json"]).await;
        let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
        assert_eq!(verified["manifest"]["withTextKey"], has_key);
        let served = Muster::start(&elsewhere, &["--bundle", bundle]).await;
        let line = bounded("the token is printed", served.stdout.line_with("__session=")).await.unwrap();
        let reader = Person::with_cookie(line.split_once("Cookie: ").unwrap().1);
        let task = &story.task;
        for path in [format!("/api/task.get?id={task}"), format!("/api/task.get?id={task}&asOf={}", story.position)] {
            assert_eq!(reader.get(&served, &path).await["task"]["title"], shown, "{path}");
        }
        let history = reader.get(&served, &format!("/api/audit.history?aggregate=task&id={task}")).await.to_string();
        assert!(history.contains(shown), "{history}");
        served.terminate().await;
    }
    let bare = desk.run(&home, &["audit", "export", "--workspace", "other", "-o", &desk.path("x"), "--with-key"]).await;
    assert_eq!(bare.code, Some(2), "{bare:#?}");
    assert!(bare.says("under no key"), "{bare:#?}");
}

async fn title(story: &Story, server: &Muster) -> String {
    let task = story.owner.get(server, &format!("/api/task.get?id={}", story.task)).await;
    task["task"]["title"].as_str().unwrap().to_owned()
}

/// The title of the task, as the log of a home says it.
async fn audited(story: &Story, home: &Home) -> String {
    let state = home.succeed(&["audit", "state", "task", &story.task, "--json"]).await;
    let state: Value = serde_json::from_str(&state.stdout).unwrap();
    state["state"]["title"].as_str().unwrap_or_else(|| panic!("{state:#}")).to_owned()
}

fn name(home: &Home) -> String {
    match home.kind {
        Kind::Sqlite => format!("sqlite:{}", home.folder().display()),
        Kind::Postgres => home.database_url().to_owned(),
    }
}
