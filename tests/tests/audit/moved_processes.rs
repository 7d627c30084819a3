//! Moving, backing up and restoring with the built binary: killed in the middle, beside a server, with its exit codes.

use std::process::Stdio;

use muster_tests::at_both_homes;
use muster_tests::commits::{events, stream};
use muster_tests::muster::{Home, Muster, binary, bounded, wait_until};
use muster_tests::server::sign_up;
use muster_tests::stores::Kind;
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use store::{Access, Clock, Commit, Location, Settings, Stores, StreamAppend};
use tokio::process::Command;

use crate::moves::other;

at_both_homes!(
    a_killed_copy_is_finished_by_the_same_command,
    a_fleet_that_moved_answers_as_before,
    a_backup_taken_beside_a_server_is_a_new_life_that_refuses_old_cursors,
    an_export_goes_through_a_file_or_a_pipe,
    wrong_input_has_its_exit_code_and_changes_nothing,
);

async fn a_killed_copy_is_finished_by_the_same_command(home: Home) {
    let total = fill(&home, 40, 1_000).await;
    let to = Home::new(other(home.kind)).await;
    // Made before, so that somebody can look into it from the beginning.
    drop(Stores::open(settings(&to, Access::Serve)).await.unwrap());
    let (from_name, to_name) = (name(&home), name(&to));
    let args = ["log", "copy", "--json", "--from", &from_name, "--to", &to_name];
    let started = Command::new(binary()).args(args).env_clear().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut copy = started.unwrap();
    // Looks without a pool of its own: a muster that is connected would be taken for a server.
    wait_until("some of it has come", async || position(&to).await > 0).await;
    bounded("a killed copy is gone", copy.kill()).await.unwrap();
    let came = position(&to).await;
    assert!(came < total, "the copy was over before it was killed");

    let refused = to.run(&["serve", "--port", "0"]).await;
    assert_eq!(refused.code, Some(3), "{refused:#?}");
    assert!(refused.stderr.contains("unfinished copy"), "{refused:#?}");
    let report: Value = serde_json::from_str(&home.succeed(&args).await.stdout).unwrap();
    assert_eq!((&report["position"], report["copied"].as_i64()), (&json!(total), Some(total - came)), "{report:#}");
    let (there, here) = (home.succeed(&["log", "verify"]).await, to.succeed(&["log", "verify"]).await);
    assert_eq!(there.stdout.lines().last(), here.stdout.lines().last());
    Muster::start(&to, &[]).await.terminate().await;
}

async fn a_fleet_that_moved_answers_as_before(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let owner = Owner::of_a_fleet(&server).await;
    let before = owner.answers(&server).await;
    server.terminate().await;
    let to = Home::new(other(home.kind)).await;
    let (from_name, to_name) = (name(&home), name(&to));
    let copied = home.succeed(&["log", "copy", "--from", &from_name, "--to", &to_name]).await;
    assert!(copied.stdout.contains("Both logs are at position"), "{copied:#?}");
    let server = Muster::start(&to, &[]).await;
    assert_eq!(owner.answers(&server).await, before);
    server.terminate().await;
    // What was served there, from the same events, is what a rebuild makes of them here.
    proven(&to).await;
}

async fn a_backup_taken_beside_a_server_is_a_new_life_that_refuses_old_cursors(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let owner = Owner::of_a_fleet(&server).await;
    let folder = home.folder().parent().unwrap().join("backup");
    let folder = folder.to_str().unwrap();
    let made = home.succeed(&["backup", folder, "--json"]).await;
    let manifest: Value = serde_json::from_str(&made.stdout).unwrap();
    let before = owner.answers(&server).await;
    assert_eq!(owner.stream(&server, "1-1").await, 200);
    server.terminate().await;

    let to = Home::new(other(home.kind)).await;
    let report: Value = serde_json::from_str(&to.succeed(&["restore", folder, "--json"]).await.stdout).unwrap();
    assert_eq!((&report["events"], &report["link"]), (&manifest["position"], &manifest["link"]));
    let server = Muster::start(&to, &[]).await;
    assert_eq!(owner.answers(&server).await, before);
    assert_eq!(owner.stream(&server, "1-1").await, 410);
    assert_eq!(owner.stream(&server, &format!("{}-1", report["epoch"])).await, 200);
    server.terminate().await;
    proven(&to).await;
    let refused = to.run(&["restore", folder]).await;
    assert_eq!(refused.code, Some(3), "{refused:#?}");
}

async fn an_export_goes_through_a_file_or_a_pipe(home: Home) {
    fill(&home, 12, 2).await;
    let file = home.folder().parent().unwrap().join("log.jsonl");
    let file = file.to_str().unwrap();
    home.succeed(&["log", "export", "-o", file]).await;
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(home.succeed(&["log", "export"]).await.stdout.trim_end(), text.trim_end());
    let to = Home::new(other(home.kind)).await;
    let imported = to.succeed(&["log", "import", file]).await;
    assert!(imported.stdout.contains("events were new"), "{imported:#?}");
    let (there, here) = (home.succeed(&["log", "verify"]).await, to.succeed(&["log", "verify"]).await);
    assert_eq!(there.stdout.lines().last(), here.stdout.lines().last());
    // A part of it, from one position to another and by time.
    let part = home.succeed(&["log", "export", "--from", "3", "--to", "5"]).await.stdout;
    let positions: Vec<Value> =
        part.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()["position"].clone()).collect();
    assert!(positions.contains(&json!("3")) && positions.contains(&json!("5")), "{positions:?}");
    let nothing = home.succeed(&["log", "export", "--from", &chrono::Utc::now().to_rfc3339()]).await.stdout;
    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    Muster::start(&to, &[]).await.terminate().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_fleet_holds_its_claims_again_and_reacts_to_nothing_twice() {
    let home = Home::new(Kind::Sqlite).await;
    Muster::start(&home, &["--demo"]).await.terminate().await;
    let file = home.folder().parent().unwrap().join("log.jsonl");
    let file = file.to_str().unwrap();
    home.succeed(&["log", "export", "-o", file]).await;
    let to = Home::new(Kind::Postgres).await;
    to.succeed(&["log", "import", file]).await;
    let claims = claims(&to).await;
    assert!(claims.len() > 5, "{claims:?}");
    assert_eq!(claims, self::claims(&home).await);
    let before = position(&to).await;
    Muster::start(&to, &[]).await.terminate().await;
    assert_eq!(position(&to).await, before);
}

async fn claims(home: &Home) -> Vec<String> {
    let sql = "select scope || ' ' || key || ' ' || holder_type || ' ' || holder_id from claims";
    let mut claims: Vec<String> = match home.kind {
        Kind::Sqlite => {
            let file = rusqlite::Connection::open(home.log_file()).unwrap();
            let mut all = file.prepare(sql).unwrap();
            all.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
        }
        Kind::Postgres => {
            let mut connection = muster_tests::postgres::connect(home.database_url()).await.unwrap();
            let sql = sqlx::AssertSqlSafe(sql.replace("from claims", "from log.claims"));
            sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
        }
    };
    claims.sort();
    claims
}

async fn wrong_input_has_its_exit_code_and_changes_nothing(home: Home) {
    fill(&home, 12, 2).await;
    let before = home.succeed(&["log", "verify"]).await.stdout;
    let file = home.folder().parent().unwrap().join("torn.jsonl");
    let name = name(&home);
    let torn = home.succeed(&["log", "export", "--to", "3"]).await.stdout;
    std::fs::write(&file, &torn[..torn.len() / 2]).unwrap();
    let file = file.to_str().unwrap();
    let nowhere = file.replace("torn.jsonl", "nowhere");
    let cases: [(&[&str], i32, &str); 11] = [
        (&["log", "copy", "--from", "data", "--to", &name], 2, "--from must be"),
        (&["log", "copy", "--from", &name], 2, "--to"),
        (&["log", "copy", "--from", &format!("sqlite:{nowhere}"), "--to", &name], 3, "there is no log"),
        (&["log", "copy", "--from", &name, "--to", &name], 3, "onto itself"),
        (&["log", "import", &nowhere], 4, "nowhere"),
        (&["log", "import", file], 1, "line "),
        (&["log", "export", "--from", "0"], 2, "position 0"),
        (&["log", "export", "--from", "9000000"], 2, "beyond the end"),
        (&["log", "export", "--to", "1999-01-01T00:00:00Z"], 2, "before the first event"),
        (&["log", "export", "--from", "9", "--to", "3"], 2, "--to is before --from"),
        (&["restore", &nowhere], 1, "no manifest"),
    ];
    for (args, code, says) in cases {
        let ended = home.run(args).await;
        assert_eq!(ended.code, Some(code), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
    }
    let after = home.succeed(&["log", "verify"]).await.stdout;
    assert_eq!(before.lines().last(), after.lines().last());
    Muster::start(&home, &[]).await.terminate().await;
}

/// Writes so many commits of so many events. Answers how many events that is.
async fn fill(home: &Home, commits: i64, size: i64) -> i64 {
    let stores = Stores::open(settings(home, Access::Serve)).await.unwrap();
    for at in 0..commits {
        let append = StreamAppend { stream: stream("long"), expected: at * size, events: events(size as usize) };
        stores.log.commit(Commit { appends: vec![append], ..Commit::default() }).await.unwrap();
    }
    stores.log.head().await.unwrap().position
}

/// The read models of a home are what its log says.
async fn proven(home: &Home) {
    let verified = home.succeed(&["projections", "verify", "--json"]).await;
    let reports: Vec<Value> = serde_json::from_str(&verified.stdout).unwrap();
    assert!(reports.len() >= 4 && reports.iter().all(|it| it["differencesTotal"] == 0), "{reports:#?}");
}

fn settings(home: &Home, access: Access) -> Settings {
    let location = match home.kind {
        Kind::Sqlite => Location::Sqlite(home.folder().to_path_buf()),
        Kind::Postgres => Location::Postgres(home.database_url().to_owned()),
    };
    Settings { location, clock: Clock::default(), access }
}

/// How a command line names a store.
pub(crate) fn name(home: &Home) -> String {
    match home.kind {
        Kind::Sqlite => format!("sqlite:{}", home.folder().display()),
        Kind::Postgres => home.database_url().to_owned(),
    }
}

async fn position(home: &Home) -> i64 {
    match home.kind {
        Kind::Sqlite => {
            let file = rusqlite::Connection::open(home.log_file()).unwrap();
            file.query_row("select position from head", [], |row| row.get(0)).unwrap()
        }
        Kind::Postgres => {
            let mut connection = muster_tests::postgres::connect(home.database_url()).await.unwrap();
            sqlx::query_scalar("select position from log.head").fetch_one(&mut connection).await.unwrap()
        }
    }
}

/// Somebody with a password and a small fleet.
struct Owner;

impl Owner {
    async fn of_a_fleet(server: &Muster) -> Self {
        let http = muster_tests::http_client().cookie_store(true).build().unwrap();
        let post = async |path: &str, body: Value| -> Value {
            let answer = http.post(server.url(path)).json(&body).send().await.unwrap();
            assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
            answer.json().await.unwrap()
        };
        post("/api/auth/signup", sign_up("ada")).await;
        let made = post("/api/workspace.create", json!({"name": "Acme", "slug": "acme"})).await;
        let workspace = &made["workspace"]["id"];
        for slug in ["shop", "depot", "till"] {
            let body = json!({"workspaceId": workspace, "name": slug, "slug": slug});
            post("/api/project.create", body).await;
        }
        Self
    }

    async fn cookie(&self, server: &Muster) -> String {
        let sign_up = sign_up("ada");
        let body = json!({"email": sign_up["email"], "password": sign_up["password"]});
        let http = muster_tests::http_client().build().unwrap();
        let answer = http.post(server.url("/api/auth/login")).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// What they see.
    async fn answers(&self, server: &Muster) -> Vec<Value> {
        let http = muster_tests::http_client().build().unwrap();
        let cookie = self.cookie(server).await;
        let get = async |path: &str| -> Value {
            let answer = http.get(server.url(path)).header(COOKIE, &cookie).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{path}");
            answer.json().await.unwrap()
        };
        let workspaces = get("/api/workspace.list").await;
        let workspace = workspaces["workspaces"][0]["id"].as_str().unwrap().to_owned();
        let agents = get(&format!("/api/agent.list?workspaceId={workspace}")).await;
        let timeline = get("/api/event.list?limit=100").await;
        let projects = get(&format!("/api/project.list?workspaceId={workspace}")).await;
        vec![workspaces, agents, timeline, projects]
    }

    /// The status that a listener with this cursor gets.
    async fn stream(&self, server: &Muster, cursor: &str) -> u16 {
        let http = muster_tests::http_client().build().unwrap();
        let asked = http.get(server.url("/api/event.stream")).header(COOKIE, self.cookie(server).await);
        asked.header("Last-Event-ID", cursor).send().await.unwrap().status().as_u16()
    }
}
