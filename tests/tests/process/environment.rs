//! A bad environment gets a message that says what and where, an exit code that means it, and is not made worse.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use muster_tests::at_both_homes;
use muster_tests::muster::{Ended, Home, Muster};
use muster_tests::stores::Kind;

use crate::checker::Found;
use crate::client::{Client, Request};
use crate::raw;

at_both_homes! {
    a_log_of_a_newer_muster_is_refused_and_left_alone,
}

/// The store cannot be used.
const STORE: Option<i32> = Some(3);
const SERVE: [&str; 3] = ["serve", "--port", "0"];

async fn a_log_of_a_newer_muster_is_refused_and_left_alone(home: Home) {
    some_history(&home).await;
    raw::run(&home, "insert into schema_migrations (version) values (999)").await;
    let before = Found::read(&home).await.head();
    for args in [&SERVE[..], &["log", "verify"], &["projections", "rebuild"]] {
        let refused = home.run(args).await;
        assert_eq!(refused.code, STORE, "{refused:#?}");
        assert!(refused.stderr.contains("999") && refused.stderr.contains("newer"), "{refused:#?}");
        let place =
            if home.kind == Kind::Sqlite { home.log_file().display().to_string() } else { "postgres://".into() };
        assert!(refused.stderr.contains(&place), "{refused:#?}");
    }
    raw::run(&home, "delete from schema_migrations where version = 999").await;
    Muster::start(&home, &[]).await.terminate().await;
    assert_eq!(Found::read(&home).await.head(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_a_folder_is_refused_and_the_first_goes_on() {
    let home = Home::new(Kind::Sqlite).await;
    let first = Muster::start(&home, &[]).await;
    let owner = Client::sign_up(&first).await;
    let second = home.run(&SERVE).await;
    assert_eq!(second.code, STORE, "{second:#?}");
    assert!(complains_of(&second, home.folder()) && second.stderr.contains("in use"), "{second:#?}");
    // What writes is refused too; what only looks is not.
    assert_eq!(home.run(&["projections", "rebuild"]).await.code, STORE);
    assert_eq!(home.run(&["admin", "suspend-user", &owner.email]).await.code, STORE);
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["log", "stats", "--json"]).await;
    home.succeed(&["projections", "status"]).await;
    owner.new_workspace().await;
    assert_eq!(first.terminate().await.code, Some(0));
    Muster::start(&home, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_log_is_refused_by_its_name_and_left_alone() {
    let home = Home::new(Kind::Sqlite).await;
    some_history(&home).await;
    raw::settle(&home);
    let mut file = fs::File::options().write(true).open(home.log_file()).unwrap();
    file.write_all(&[0xAB; 100]).unwrap();
    drop(file);
    let before = fs::read(home.log_file()).unwrap();
    for args in [&SERVE[..], &["log", "verify"], &["log", "stats"], &["projections", "verify"]] {
        let refused = home.run(args).await;
        assert_eq!(refused.code, STORE, "{refused:#?}");
        assert!(complains_of(&refused, &home.log_file()) && refused.stderr.contains("damaged"), "{refused:#?}");
        assert!(fs::read(home.log_file()).unwrap() == before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_written_is_refused_by_its_name_and_left_alone() {
    // Root writes where it likes, unless it gives that up.
    let home = Home::new(Kind::Sqlite).await;
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let plain = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    let home = if is_root { home.under(&plain) } else { home };

    fs::create_dir(home.folder()).unwrap();
    let _empty = ReadOnly::from_now_on(home.folder());
    let refused = home.run(&SERVE).await;
    assert_eq!(refused.code, STORE, "{refused:#?}");
    assert!(complains_of(&refused, home.folder()), "{refused:#?}");
    assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
    drop(_empty);

    some_history(&home).await;
    let before = contents(home.folder());
    let _full = ReadOnly::from_now_on(home.folder());
    let refused = home.run(&SERVE).await;
    assert_eq!(refused.code, STORE, "{refused:#?}");
    assert!(complains_of(&refused, home.folder()), "{refused:#?}");
    assert!(contents(home.folder()) == before);
    drop(_full);
    Muster::start(&home, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_named_without_its_password() {
    let home = Home::new(Kind::Sqlite).await;
    let url = "postgres://ada:s3cret@127.0.0.1:1/none";
    for args in [&["--database-url", url, "serve", "--port", "0"][..], &["log", "verify", "--database-url", url]] {
        let refused = home.run(args).await;
        assert_eq!(refused.code, STORE, "{refused:#?}");
        assert!(refused.stderr.contains("127.0.0.1:1"), "{refused:#?}");
        assert!(!refused.says("s3cret"), "{refused:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_is_taken_is_named() {
    let (one, other) = (Home::new(Kind::Sqlite).await, Home::new(Kind::Sqlite).await);
    let server = Muster::start(&one, &[]).await;
    let port = server.address.rsplit_once(':').unwrap().1;
    let refused = other.run(&["serve", "--port", port]).await;
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    assert!(refused.stderr.contains(&server.address) && refused.stderr.contains("API_PORT"), "{refused:#?}");
}

/// A server that has run, and something in its log.
async fn some_history(home: &Home) {
    let server = Muster::start(home, &[]).await;
    let owner = Client::sign_up(&server).await;
    owner.new_workspace().await;
    owner.must(Request::get("/api/workspace.list")).await;
    assert_eq!(server.terminate().await.code, Some(0));
}

fn complains_of(ended: &Ended, path: &Path) -> bool {
    ended.stderr.contains(&path.display().to_string())
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// A folder and its files that nobody may write, until this is dropped.
struct ReadOnly(PathBuf);

impl ReadOnly {
    fn from_now_on(folder: &Path) -> Self {
        let it = Self(folder.to_path_buf());
        it.set(0o444, 0o555);
        it
    }

    fn set(&self, files: u32, folder: u32) {
        for entry in fs::read_dir(&self.0).unwrap() {
            fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(files)).unwrap();
        }
        fs::set_permissions(&self.0, fs::Permissions::from_mode(folder)).unwrap();
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        self.set(0o644, 0o755);
    }
}
