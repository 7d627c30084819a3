//! Kill -9 under load, of the server and of PostgreSQL: nothing acknowledged is missing, nothing is doubled.

use std::sync::Arc;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::postgres::Cluster;
use serde_json::Value;

use crate::checker::{Found, check};
use crate::client::{Client, Request};
use crate::load::Load;

at_both_homes! {
    nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed,
}

const CLIENTS: usize = 8;
/// Acknowledged commands before each kill.
const ROUNDS: [usize; 3] = [40, 90, 60];

async fn nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(home: Home) {
    let mut server = Muster::start(&home, &[]).await;
    let mut load = Load::new(&server, CLIENTS).await;
    for acknowledged in ROUNDS {
        let running = load.start(&[&server]);
        running.acknowledged(acknowledged).await;
        server.kill_nine().await;
        load = running.join().await;
        // Before anybody has repaired anything.
        check(&home, &load).await;
        server = Muster::start(&home, &[]).await;
    }
    load.settle(&server).await;
    let found = check(&home, &load).await;
    proven(&home, &load.owner.at(&server), &found).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_postgresql_is_waited_for_and_nothing_acknowledged_is_lost_or_doubled() {
    let cluster = Arc::new(Cluster::start().unwrap());
    let home = Home::on(&cluster).await;
    let server = Muster::start(&home, &[]).await;
    let load = Load::new(&server, CLIENTS).await;
    let owner = load.owner.at(&server);
    let running = load.start(&[&server]);
    running.acknowledged(60).await;
    blocking(&cluster, |it| it.kill_nine().unwrap()).await;
    running.unavailable(CLIENTS).await;
    let query = owner.send(&Request::get("/api/workspace.list")).await.unwrap();
    assert_eq!((query.status, query.code()), (503, "UNAVAILABLE"));
    assert!(query.header("retry-after").is_some(), "{query:?}");
    assert_eq!(owner.send(&Request::get("/health/live")).await.unwrap().status, 200);
    assert_eq!(owner.send(&Request::get("/health/ready")).await.unwrap().status, 503);

    blocking(&cluster, |it| it.start_again().unwrap()).await;
    // Nobody has told the server that its database is back.
    running.acknowledged(60).await;
    let mut load = running.stop().await;
    load.settle(&server).await;
    let found = check(&home, &load).await;
    proven(&home, &owner, &found).await;
    assert_eq!(owner.send(&Request::get("/health/ready")).await.unwrap().status, 200);
}

/// The log proves itself, and the read models are what the log says.
async fn proven(home: &Home, owner: &Client, found: &Found) {
    owner.see("/api/event.list?limit=1", found.head()).await;
    owner.see("/api/workspace.list", found.head()).await;
    home.succeed(&["log", "verify"]).await;
    bounded("every read model has caught up", async {
        while !caught_up(&home.succeed(&["projections", "status", "--json"]).await.stdout) {}
    })
    .await;
    let verified = home.succeed(&["projections", "verify", "--json"]).await;
    let reports: Vec<Value> = serde_json::from_str(&verified.stdout).unwrap();
    assert!(reports.len() >= 4, "{reports:#?}");
    assert!(reports.iter().all(|it| it["position"] == found.head() && it["differencesTotal"] == 0), "{reports:#?}");
}

fn caught_up(status: &str) -> bool {
    let all: Vec<Value> = serde_json::from_str(status).unwrap();
    assert!(!all.is_empty());
    all.iter().all(|it| it["checkpoint"].is_i64() && it["checkpoint"] == it["head"])
}

async fn blocking(cluster: &Arc<Cluster>, work: impl FnOnce(&Cluster) + Send + 'static) {
    let cluster = Arc::clone(cluster);
    tokio::task::spawn_blocking(move || work(&cluster)).await.unwrap();
}
