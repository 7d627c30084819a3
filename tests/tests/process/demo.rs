//! `serve --demo`: a login and a key that work, four weeks to look at, told once.

use chrono::{DateTime, TimeDelta, Utc};
use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use serde_json::{Value, json};

use crate::checker::Found;
use crate::client::{Answer, Client, Request};

at_both_homes! {
    the_demo_prints_a_login_and_a_key_that_work,
    the_demo_has_a_probation_and_a_recovery,
    the_demo_is_told_once,
}

/// What a visitor reads on the terminal.
pub(crate) struct Tour {
    pub(crate) email: String,
    password: String,
    agent: String,
    key: String,
}

impl Tour {
    pub(crate) async fn read(server: &Muster) -> Self {
        let line = async |text| bounded(text, server.stdout.line_with(text)).await.unwrap();
        let sign_in = line("Sign in as").await;
        let agent = line("X-Agent-Key").await;
        let after = |text: &str, mark: &str, end: &[char]| {
            let rest = text.split_once(mark).unwrap_or_else(|| panic!("no {mark:?} in {text:?}")).1;
            rest.split(end).next().unwrap().to_owned()
        };
        Self {
            email: after(&sign_in, "Sign in as ", &[' ']),
            password: after(&sign_in, "the password ", &[':', ' ']),
            agent: after(&agent, "X-Agent-ID: ", &['\'']),
            key: after(&agent, "X-Agent-Key: ", &['\'']),
        }
    }

    pub(crate) async fn log_in(&self, client: &Client) -> Answer {
        let body = json!({"email": self.email, "password": self.password});
        client.send(&Request::post("/api/auth/login", body)).await.unwrap()
    }

    /// The owner of the demo fleet, signed in.
    pub(crate) async fn owner(&self, server: &Muster) -> Client {
        let client = Client::stranger(server);
        let answer = self.log_in(&client).await;
        assert_eq!(answer.status, 200, "{answer:#?}");
        client
    }
}

async fn the_demo_prints_a_login_and_a_key_that_work(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&server).await;
    let owner = tour.owner(&server).await;
    let workspaces = owner.must(Request::get("/api/workspace.list")).await.body;
    assert_eq!(workspaces["workspaces"].as_array().unwrap().len(), 1, "{workspaces:#}");

    let ask = Request::get(format!("/api/agent.get?id={}", tour.agent)).by_agent(&tour.agent, &tour.key);
    let agent = Client::stranger(&server).must(ask).await;
    assert_eq!(agent.id("agent"), tour.agent);

    let events = owner.must(Request::get("/api/event.list?limit=100")).await.body;
    let events = events["events"].as_array().unwrap();
    assert!(events.len() >= 20, "{}", events.len());
    let ages: Vec<TimeDelta> = events.iter().map(|it| Utc::now() - time(&it["timestamp"])).collect();
    assert!(ages.is_sorted(), "newest first: {ages:?}");
    assert!(ages[0] > TimeDelta::zero() && ages[0] < TimeDelta::days(3), "{ages:?}");
    let total = owner.must(Request::get("/api/event.list?limit=1")).await.body["total"].as_i64().unwrap();
    let last = owner.must(Request::get(format!("/api/event.list?limit=1&offset={}", total - 1))).await.body;
    let oldest = Utc::now() - time(&last["events"][0]["timestamp"]);
    assert!(oldest > TimeDelta::days(26) && oldest < TimeDelta::days(30), "{oldest}");
    // It was recorded then, as far as anybody can tell.
    assert!(events.iter().all(|it| time(&it["createdAt"]) - time(&it["timestamp"]) < TimeDelta::hours(1)));
}

async fn the_demo_has_a_probation_and_a_recovery(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let owner = Tour::read(&server).await.owner(&server).await;
    let changes = owner.must(Request::get("/api/event.list?type=trust_score_changed&limit=100")).await.body;
    let statuses: Vec<&str> =
        changes["events"].as_array().unwrap().iter().filter_map(|it| it["content"]["newStatus"].as_str()).collect();
    assert_eq!(statuses, ["active", "probation"], "newest first");
    // Every read model is what the log says.
    assert_eq!(server.terminate().await.code, Some(0));
    home.succeed(&["projections", "verify"]).await;
    home.succeed(&["log", "verify"]).await;
}

async fn the_demo_is_told_once(home: Home) {
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&server).await;
    assert_eq!(server.terminate().await.code, Some(0));
    let before = Found::read(&home).await;
    before.check_order();
    let server = Muster::start(&home, &["--demo"]).await;
    tour.owner(&server).await;
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0));
    assert!(!ended.stdout.contains("X-Agent-Key"), "{}", ended.stdout);
    assert_eq!(Found::read(&home).await.head(), before.head());
    home.succeed(&["log", "verify"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_person_cannot_sign_in_until_reinstated() {
    let home = Home::new(Kind::Sqlite).await;
    let server = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&server).await;
    let owner = tour.owner(&server).await;
    server.terminate().await;
    home.succeed(&["admin", "suspend-user", &tour.email]).await;

    let server = Muster::start(&home, &[]).await;
    let refusal = tour.log_in(&Client::stranger(&server)).await;
    assert_eq!((refusal.status, refusal.code()), (403, "AUTH_ACCOUNT_SUSPENDED"), "{refusal:#?}");
    let cookie = owner.at(&server).send(&Request::get("/api/workspace.list")).await.unwrap();
    assert_eq!(cookie.status, 401, "{cookie:#?}");
    server.terminate().await;

    home.succeed(&["admin", "reinstate-user", &tour.email]).await;
    let server = Muster::start(&home, &[]).await;
    tour.owner(&server).await;
}

/// On PostgreSQL an operator need not stop anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_suspended_while_a_server_runs_is_signed_out() {
    let home = Home::new(Kind::Postgres).await;
    let server = Muster::start(&home, &[]).await;
    let owner = Client::sign_up(&server).await;
    owner.must(Request::get("/api/workspace.list")).await;
    home.succeed(&["admin", "suspend-user", &owner.email.to_uppercase()]).await;
    let ask = Request::get("/api/workspace.list");
    bounded("the cookie is refused", async { while owner.send(&ask).await.unwrap().status != 401 {} }).await;
    let unknown = home.run(&["admin", "suspend-user", "nobody@muster.example"]).await;
    assert_ne!(unknown.code, Some(0));
    assert!(unknown.stderr.contains("nobody@muster.example"), "{unknown:#?}");
}

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}
