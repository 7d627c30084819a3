//! Two servers on one PostgreSQL with a bench of the same name: one works, the other stands by and takes over.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use muster_tests::muster::{Home, Muster, bounded, wait_until};
use muster_tests::postgres;
use muster_tests::server::{Client, sign_up};
use muster_tests::stores::Kind;
use serde_json::json;
use tempfile::TempDir;

/// Where agents note who started them: a file for each agent, a line for each start.
struct Yard {
    folder: TempDir,
}

impl Yard {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("muster-yard-").tempdir().unwrap();
        for name in ["notes", "shop"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let git = |args: &[&str]| {
            let shop = folder.path().join("shop");
            assert!(Command::new("git").arg("-C").arg(shop).args(args).status().unwrap().success());
        };
        git(&["init", "--quiet", "--initial-branch", "main"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
        git(&[&who[..], &["commit", "--quiet", "--allow-empty", "-m", "Begin"]].concat());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of a bench whose agents note its name: a folder of its own, the same repository and worktrees.
    fn bench_file(&self, node: &str) -> String {
        let script = format!("echo {node} >> \"$0/$MUSTER_AGENT_ID\"; exec sleep 1000");
        let command = json!(["sh", "-c", script, self.path("notes")]);
        let agents = ["orchestrator", "supervisor", "worker"];
        let agents: String = agents.map(|kind| format!("[agents.{kind}]\ncommand = {command}\n")).concat();
        let (folder, shop, trees) = (self.path(node), self.path("shop"), self.path("trees"));
        let text = format!(
            "folder = {}\n{agents}[projects.\"acme/shop\"]\nrepository = {}\nworktrees = {}\n",
            json!(folder),
            json!(shop),
            json!(trees)
        );
        let file = self.path(&format!("{node}.toml"));
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    /// Who started each agent, start by start.
    fn starts(&self) -> BTreeMap<String, Vec<String>> {
        let read = |path: &Path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
        let notes = fs::read_dir(self.path("notes")).unwrap().flatten().map(|it| it.path());
        notes.map(|it| (it.file_name().unwrap().to_string_lossy().into_owned(), read(&it))).collect()
    }

    /// Waits until so many agents were started, and finds each started once, by whom.
    async fn started(&self, agents: usize) -> Vec<String> {
        wait_until("the agents are started", async || self.starts().values().flatten().count() >= agents).await;
        let starts = self.starts();
        assert!(starts.len() == agents && starts.values().all(|it| it.len() == 1), "{starts:?}");
        starts.into_values().flatten().collect()
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        for node in ["one", "two"] {
            let socket = self.path(node).join("tmux.sock");
            let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
        }
    }
}

async fn said(server: &Muster, what: &str) {
    assert!(bounded(what, server.stderr.line_with(what)).await.is_some(), "{}", server.stderr.so_far());
}

/// Waits until something has happened so many times.
async fn on_record(home: &Home, event_type: &str, times: i64) {
    let mut connection = postgres::connect(home.database_url()).await.unwrap();
    wait_until(event_type, async || {
        let count = sqlx::query_scalar("select count(*) from log.events where event_type = $1").bind(event_type);
        let count: i64 = count.fetch_one(&mut connection).await.unwrap();
        count >= times
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_nodes_with_the_same_bench_one_works_and_the_other_takes_over() {
    let (home, yard) = (Home::new(Kind::Postgres).await, Yard::new());
    let one = Muster::start(&home, &["--bench", &yard.bench_file("one")]).await;
    said(&one, "this node works at the bench").await;
    let two = Muster::start(&home, &["--bench", &yard.bench_file("two")]).await;
    said(&two, "this one stands by").await;
    let owner = Client::of(&two.url(""));
    let owner = owner.with("Cookie", &owner.post("/api/auth/signup", &sign_up("ada")).await.ok().cookie());
    let project = owner.project(&owner.workspace("acme").await, "shop").await;
    let epic =
        |title: &str| json!({ "projectId": project, "title": title, "description": "Sell things", "design": "# Shop" });
    // An orchestrator and a supervisor, asked for at the node that stands by.
    owner.post("/api/epic.create", &epic("A shop")).await.ok();
    assert_eq!(yard.started(2).await, ["one", "one"]);
    // What is not on record when its node dies is done again by the next.
    on_record(&home, "AgentLaunched", 2).await;
    one.kill_nine().await;
    said(&two, "this node works at the bench").await;
    owner.post("/api/epic.create", &epic("Another")).await.ok();
    let mut starts = yard.started(3).await;
    starts.sort();
    assert_eq!(starts, ["one", "one", "two"]);
    // Who comes back finds its place taken, and gets it when the other is stopped.
    let one = Muster::start(&home, &["--bench", &yard.bench_file("one")]).await;
    said(&one, "this one stands by").await;
    two.terminate().await;
    said(&one, "this node works at the bench").await;
    one.terminate().await;
}

/// Whether the terminal of an agent is open on a node.
fn is_open(yard: &Yard, node: &str, session: &str) -> bool {
    let socket = yard.path(node).join("tmux.sock");
    let target = format!("={session}");
    Command::new("tmux").arg("-S").arg(socket).args(["has-session", "-t", &target]).output().unwrap().status.success()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_its_post_while_another_node_had_the_bench_is_stopped_by_the_node_it_runs_on() {
    let (home, yard) = (Home::new(Kind::Postgres).await, Yard::new());
    let one = Muster::start(&home, &["--bench", &yard.bench_file("one")]).await;
    said(&one, "this node works at the bench").await;
    let owner = Client::of(&one.url(""));
    let cookie = owner.post("/api/auth/signup", &sign_up("ada")).await.ok().cookie();
    let owner = owner.with("Cookie", &cookie);
    let workspace = owner.workspace("acme").await;
    let project = owner.project(&workspace, "shop").await;
    let epic = json!({ "projectId": project, "title": "A shop", "description": "Sell things", "design": "# Shop" });
    let epic = owner.post("/api/epic.create", &epic).await.ok().id_of("epic");
    assert_eq!(yard.started(2).await, ["one", "one"]);
    one.terminate().await;
    let two = Muster::start(&home, &["--bench", &yard.bench_file("two")]).await;
    said(&two, "this node works at the bench").await;
    let owner = Client::of(&two.url("")).with("Cookie", &cookie);
    let staff = owner.get(&format!("/api/agent.health?workspaceId={workspace}")).await.ok().body;
    let session = |kind: &str| {
        let found = staff["agents"].as_array().unwrap().iter().find(|it| it["type"] == kind).unwrap();
        found["tmuxSession"].as_str().unwrap().to_owned()
    };
    let (supervisor, orchestrator) = (session("SUPERVISOR"), session("ORCHESTRATOR"));
    // The epic is given up: its supervisor is to be stopped, by a node on which it does not run.
    owner.post("/api/epic.fail", &json!({ "id": epic, "reason": "No shop" })).await.ok();
    assert!(is_open(&yard, "one", &supervisor));
    let one = Muster::start(&home, &["--bench", &yard.bench_file("one")]).await;
    wait_until("it is stopped", async || !is_open(&yard, "one", &supervisor)).await;
    assert!(is_open(&yard, "one", &orchestrator), "whoever is in its post goes on");
    two.terminate().await;
    one.terminate().await;
}
