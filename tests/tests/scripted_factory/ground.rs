//! Where the factory stands: a repository, a bench file, scripts as agents, and a server that is killed and started again.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use muster_tests::muster::{Home, Muster, wait_until};
use muster_tests::server::{Client, sign_up};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Seconds of silence before an agent is asked; as many more before it is judged.
const HEALTH_INTERVAL: &str = "3.0";

/// A repository, a bench on it, and the owner of the workspace.
pub(crate) struct Ground {
    pub(crate) home: Home,
    port: u16,
    server: Option<Muster>,
    owner: Client,
    folder: TempDir,
}

impl Ground {
    pub(crate) async fn new(home: Home) -> Self {
        let folder = tempfile::Builder::new().prefix("muster-floor-").tempdir().unwrap();
        // Free now; agents are told of it, and the server comes back to it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ground = Self { home, port, server: None, owner: Client::of(&format!("http://127.0.0.1:{port}")), folder };
        ground.make_repository();
        ground.write_bench_file();
        let mut ground = ground;
        ground.start().await;
        let signed_up = ground.owner.post("/api/auth/signup", &sign_up("ada")).await.ok();
        ground.owner = ground.owner.with("Cookie", &signed_up.cookie());
        ground
    }

    fn make_repository(&self) {
        fs::create_dir_all(self.repository()).unwrap();
        fs::create_dir_all(self.notes()).unwrap();
        self.git(&["init", "--quiet", "--initial-branch", "main"]);
        fs::write(self.repository().join("README.md"), "A shop\n").unwrap();
        fs::write(self.repository().join("shared.txt"), "nobody\n").unwrap();
        self.git(&["add", "--all"]);
        self.git(&["-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "--quiet", "-m", "Begin"]);
    }

    fn write_bench_file(&self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/factory/agent.py");
        let command = json!(["python3", script, self.notes()]);
        let (folder, repository) = (json!(self.folder.path().join("bench")), json!(self.repository()));
        let worktrees = json!(self.folder.path().join("trees"));
        let text = format!(
            "folder = {folder}\nhealth_interval_seconds = {HEALTH_INTERVAL}\n\
             [agents.orchestrator]\ncommand = {command}\n\
             [agents.supervisor]\ncommand = {command}\n\
             [agents.worker]\ncommand = {command}\n\
             [projects.\"acme/shop\"]\nrepository = {repository}\nworktrees = {worktrees}\n"
        );
        fs::write(self.folder.path().join("bench.toml"), text).unwrap();
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    pub(crate) fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    pub(crate) fn owner(&self) -> &Client {
        &self.owner
    }

    /// Starts the server where it was before.
    pub(crate) async fn start(&mut self) {
        let file = self.folder.path().join("bench.toml").display().to_string();
        self.server = Some(Muster::start_on(&self.home, self.port, &["--bench", &file]).await);
    }

    /// Ends the server the hard way and starts it again.
    pub(crate) async fn kill_the_server_and_start_it_again(&mut self) {
        self.server.take().unwrap().kill_nine().await;
        self.start().await;
    }

    /// Asks the server to stop and waits until it has.
    pub(crate) async fn stop(&mut self) {
        let ended = self.server.take().unwrap().terminate().await;
        assert_eq!(ended.code, Some(0), "{ended:#?}");
    }

    /// Git in the base repository; what it says.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(self.repository()).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What agents noted of themselves.
    pub(crate) fn noted(&self) -> Vec<Value> {
        let files = fs::read_dir(self.notes()).unwrap().flatten().map(|it| it.path());
        let notes = files.filter(|it| it.extension().is_some_and(|it| it == "json"));
        notes.map(|it| serde_json::from_str(&fs::read_to_string(it).unwrap()).unwrap()).collect()
    }

    /// The first note that is as wanted.
    pub(crate) async fn note(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut found = None;
        wait_until(what, async || {
            found = self.noted().into_iter().find(&wanted);
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    /// Kills the process of a note, at once.
    pub(crate) fn kill_nine(&self, note: &Value) {
        let killed = Command::new("kill").args(["-9", &note["pid"].to_string()]).status().unwrap();
        assert!(killed.success(), "{note}");
    }

    /// What went on in every terminal, for whoever has to find out why a test failed.
    pub(crate) fn terminals(&self) -> String {
        let Ok(logs) = fs::read_dir(self.folder.path().join("bench/logs")) else { return String::new() };
        let told = |path: PathBuf| {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(15)..].join("\n");
            format!("--- {}\n{last}\n", path.display())
        };
        logs.flatten().map(|it| told(it.path())).collect()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.terminals());
            if let Some(server) = &self.server {
                eprintln!("{}", server.stderr.so_far());
            }
        }
        // Terminals outlive the server; they must not outlive the test.
        let socket = self.folder.path().join("bench/tmux.sock");
        let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
    }
}
