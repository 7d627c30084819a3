//! A disk that is full: the server stops before it acknowledges what it cannot keep, and goes on where there is space.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use crate::checker::Found;
use crate::client::{Client, PASSWORD, Request};

/// The log could not be written.
const IO_ERROR: Option<i32> = Some(74);
const CLIENTS: usize = 4;

/// A limit on file sizes fails a write as a full disk does, and needs no privileges.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_may_not_grow_stops_the_server_and_nothing_acknowledged_is_lost() {
    // The signal that comes with the error would end the server before it could say anything. Read models are made
    // within the limit: it is the log that is to reach it.
    let limited = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh", "prlimit", "--fsize=2000000"];
    let home = Home::new(Kind::Sqlite).await.under(&limited);
    let server = Muster::start(&home, &[]).await;
    let people = sign_up_until_it_ends(&server).await;
    stopped_for_want_of_space(server, &home).await;
    went_on_with_space(&home.under(&[]), &people).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_stops_the_server_and_nothing_acknowledged_is_lost() {
    let Some(disk) = SmallDisk::mount("2m").await else { return };
    let home = Home::new(Kind::Sqlite).await;
    let home = disk.holding(home);
    let server = Muster::start(&home, &[]).await;
    let people = sign_up_until_it_ends(&server).await;
    stopped_for_want_of_space(server, &home).await;
    // To a bigger disk, as an operator would.
    let bigger = Home::new(Kind::Sqlite).await;
    disk.copy_out(&home, bigger.folder());
    went_on_with_space(&bigger, &people).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_without_space_is_named_at_the_start() {
    for size in ["32k", "128k", "256k"] {
        let Some(disk) = SmallDisk::mount(size).await else { return };
        let home = disk.holding(Home::new(Kind::Sqlite).await);
        let refused = home.run(&["serve", "--port", "0"]).await;
        assert_eq!(refused.code, Some(3), "{refused:#?}");
        assert!(refused.stderr.contains(&home.folder().display().to_string()), "{refused:#?}");
        assert!(refused.stderr.contains("disk"), "{refused:#?}");
    }
}

/// Signing up writes to the log and to no read model, so it is the log that runs out of space.
async fn sign_up_until_it_ends(server: &Muster) -> BTreeSet<(String, String)> {
    let known = Arc::new(Mutex::new(BTreeSet::new()));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (known, address) = (Arc::clone(&known), Client::stranger(server));
        clients.spawn(async move {
            loop {
                let client = address.somebody_else();
                let body = json!({"email": client.email, "password": PASSWORD, "name": "Robin"});
                let Ok(answer) = client.send(&Request::post("/api/auth/signup", body)).await else { return };
                assert!(answer.is_good() || answer.status == 503, "{answer:#?}");
                if answer.is_good() {
                    known.lock().unwrap().insert((client.email.clone(), answer.id("user")));
                }
            }
        });
    }
    let all = bounded("the server runs out of space", async {
        while let Some(client) = clients.join_next().await {
            client.unwrap();
        }
        known.lock().unwrap().clone()
    });
    all.await
}

async fn stopped_for_want_of_space(server: Muster, home: &Home) {
    let ended = server.ended().await;
    assert_eq!(ended.code, IO_ERROR, "{ended:#?}");
    assert!(ended.stderr.contains("the log cannot be written"), "{ended:#?}");
    assert!(ended.stderr.contains(&home.log_file().display().to_string()), "{ended:#?}");
}

async fn went_on_with_space(home: &Home, people: &BTreeSet<(String, String)>) {
    assert!(people.len() > 3, "{people:?}");
    let server = Muster::start(home, &[]).await;
    let found = Found::read(home).await;
    found.check_order();
    for (email, id) in people {
        let times = found.events.iter().filter(|it| it.event_type == "UserSignedUp" && it.payload.contains(id)).count();
        assert_eq!(times, 1, "{email}");
    }
    // Those who were told that they have an account can sign in to it.
    for (email, _) in people.iter().take(3).chain(people.last()) {
        let body = json!({"email": email, "password": PASSWORD});
        Client::stranger(&server).must(Request::post("/api/auth/login", body)).await;
    }
    Client::sign_up(&server).await.new_workspace().await;
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["projections", "verify"]).await;
}

/// A small disk in memory, in a mount namespace that goes away with its keeper.
struct SmallDisk {
    keeper: Child,
    point: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where this user may not mount anything; the limit on file sizes stands in for it there.
    async fn mount(size: &str) -> Option<Self> {
        let point = tempfile::Builder::new().prefix("muster-disk-").tempdir().unwrap();
        let mount = "mount -t tmpfs -o \"size=$0\" tmpfs \"$1\" && echo mounted && exec cat";
        let mut keeper = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", mount, size])
            .arg(point.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        let mounted = lines.next_line().await.unwrap();
        mounted.map(|_| Self { keeper, point })
    }

    /// Lets everything of a home happen on this disk.
    fn holding(&self, home: Home) -> Home {
        let keeper = self.keeper.id().unwrap().to_string();
        home.in_folder(self.point.path().join("data")).under(&["nsenter", "--mount", "--target", &keeper])
    }

    fn copy_out(&self, home: &Home, to: &Path) {
        let inside = home.folder().strip_prefix("/").unwrap();
        let from = Path::new("/proc").join(self.keeper.id().unwrap().to_string()).join("root").join(inside);
        fs::create_dir(to).unwrap();
        for name in ["log.db", "log.db-wal"] {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}
