//! Where the factory stands: a repository, a bench file, scripts as agents, and a server that is killed and started again.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use muster_tests::muster::{Home, Muster, bounded, wait_until};
use muster_tests::server::{Client, sign_up};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What is waited for through many deaths of the server takes longer than anything else.
const LONG_PATIENCE: Duration = Duration::from_secs(180);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What the operator says of the bench.
pub(crate) struct Setup {
    /// Seconds of silence before an agent is asked; as many more before it is judged.
    health_interval: &'static str,
    /// Where pull requests live, as the bench file has it.
    pub(crate) forge: String,
}

impl Setup {
    /// Nobody is judged before the test is over.
    pub(crate) fn patient() -> Self {
        Self { health_interval: "600.0", ..Self::default() }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self { health_interval: "3.0", forge: json!("local").to_string() }
    }
}

/// A repository, a bench on it, and the owner of the workspace.
pub(crate) struct Ground {
    pub(crate) home: Home,
    port: u16,
    server: Option<Muster>,
    owner: Client,
    folder: TempDir,
    /// How often the server was found dead and started again.
    pub(crate) deaths: usize,
}

impl Ground {
    pub(crate) async fn new(home: Home) -> Self {
        Self::with(home, &Setup::default()).await
    }

    pub(crate) async fn with(home: Home, setup: &Setup) -> Self {
        let folder = tempfile::Builder::new().prefix("muster-floor-").tempdir().unwrap();
        // Free now; agents are told of it, and the server comes back to it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let owner = Client::of(&format!("http://127.0.0.1:{port}"));
        let mut ground = Self { home, port, server: None, owner, folder, deaths: 0 };
        ground.make_repository();
        ground.write_bench_file(setup);
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

    fn write_bench_file(&self, setup: &Setup) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/factory/agent.py");
        let command = json!(["python3", script, self.notes()]);
        let (folder, repository) = (json!(self.folder.path().join("bench")), json!(self.repository()));
        let worktrees = json!(self.folder.path().join("trees"));
        let Setup { health_interval, forge } = setup;
        let text = format!(
            "folder = {folder}\nhealth_interval_seconds = {health_interval}\n\
             [agents.orchestrator]\ncommand = {command}\n\
             [agents.supervisor]\ncommand = {command}\n\
             [agents.worker]\ncommand = {command}\n\
             [projects.\"acme/shop\"]\nrepository = {repository}\nworktrees = {worktrees}\n\
             forge = {forge}\n"
        );
        fs::write(self.folder.path().join("bench.toml"), text).unwrap();
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    pub(crate) fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    /// Where the server listens.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Where something of the bench lies.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server has logged so far.
    pub(crate) fn logged(&self) -> String {
        self.server.as_ref().unwrap().stderr.so_far()
    }

    /// Waits until the server says something.
    pub(crate) async fn said(&self, what: &str) {
        let said = self.server.as_ref().unwrap().stderr.line_with(what);
        assert!(bounded(what, said).await.is_some(), "{}", self.logged());
    }

    pub(crate) fn owner(&self) -> &Client {
        &self.owner
    }

    fn bench_file(&self) -> String {
        self.folder.path().join("bench.toml").display().to_string()
    }

    /// Starts the server where it was before.
    pub(crate) async fn start(&mut self) {
        self.server = Some(Muster::start_on(&self.home, self.port, &["--bench", &self.bench_file()]).await);
    }

    /// Asks again and again until the answer is as wanted; starts the server again whenever it was killed. It must
    /// answer so twice: the first answer may have been its last word.
    pub(crate) async fn see(&mut self, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) {
        let since = Instant::now();
        let (mut last, mut times) = (String::new(), 0);
        while times < 2 {
            if let Some(ended) = self.server.as_mut().and_then(Muster::has_ended) {
                let told = self.server.as_ref().map(|it| it.stderr.so_far()).unwrap_or_default();
                assert_eq!(ended.signal(), Some(9), "the server ended by itself: {told}");
                (self.deaths, times) = (self.deaths + 1, 0);
                self.home.end_leases().await;
                self.server = Some(Muster::spawn_on(&self.home, self.port, &["--bench", &self.bench_file()]));
            }
            if let Ok(answer) = self.owner.try_send(Method::GET, path, None).await {
                times = if answer.status.is_success() && wanted(&answer.body) { times + 1 } else { 0 };
                last = answer.text;
            }
            assert!(
                since.elapsed() < LONG_PATIENCE,
                "{what}: not within {LONG_PATIENCE:?}; the last answer was {last}"
            );
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
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

    /// How often each agent was started.
    pub(crate) fn starts(&self) -> BTreeMap<String, usize> {
        let mut starts = BTreeMap::new();
        for agent in fs::read_to_string(self.notes().join("starts")).unwrap().lines() {
            *starts.entry(agent.to_owned()).or_default() += 1;
        }
        starts
    }

    /// How often each kind of event is in the log.
    pub(crate) async fn events(&self) -> BTreeMap<String, usize> {
        let exported = self.home.succeed(&["log", "export"]).await.stdout;
        let mut counts = BTreeMap::new();
        for line in exported.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            *counts.entry(event["type"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        counts
    }

    /// The log proves itself, and every read model is what the log says.
    pub(crate) async fn is_proven(&self) {
        self.home.succeed(&["log", "verify"]).await;
        let compared = self.home.succeed(&["projections", "verify", "--json"]);
        let rebuilt = bounded("the read models are compared", compared).await;
        let reports: Vec<Value> = serde_json::from_str(&rebuilt.stdout).unwrap();
        assert!(reports.len() >= 10, "{reports:#?}");
        assert!(reports.iter().all(|it| it["differencesTotal"] == 0), "{reports:#?}");
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
