//! The built `muster` binary as a child process: started, watched, told to stop, killed.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::postgres::{self, Cluster};
use crate::stores::Kind;

/// Nothing that a test waits for may take longer.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long after one another somebody looks who waits: at first, and at most.
const LOOKS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(50));

/// Makes a test of each rule on each store. A rule is an `async fn(Home)`; its name is a sentence.
#[macro_export]
macro_rules! at_both_homes {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule($crate::muster::Home::new($crate::stores::Kind::Sqlite).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                super::$rule($crate::muster::Home::new($crate::stores::Kind::Postgres).await).await;
            })+
        }
    };
}

/// Where servers of one test keep their data, and the way to run `muster` on it.
pub struct Home {
    /// Which store this is.
    pub kind: Kind,
    folder: PathBuf,
    database_url: Option<String>,
    /// Programs that start the binary for us: `strace ..`, `prlimit ..`.
    under: Vec<String>,
    variables: Vec<(String, OsString)>,
    _kept: TempDir,
}

/// A running server; killed when it is dropped.
pub struct Muster {
    /// Host and port.
    pub address: String,
    /// What it has printed.
    pub stdout: Lines,
    /// What it has logged.
    pub stderr: Lines,
    child: Child,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
    /// All that it printed.
    pub stdout: String,
    /// All that it complained of.
    pub stderr: String,
}

/// The lines of a stream, as they come.
#[derive(Clone)]
pub struct Lines(watch::Receiver<Vec<String>>);

impl Home {
    /// An empty place on one of the stores.
    pub async fn new(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => Self::with(None),
            Kind::Postgres => Self::on(postgres::shared()).await,
        }
    }

    /// An empty database of the given cluster.
    pub async fn on(cluster: &Cluster) -> Self {
        Self::with(Some(cluster.create_database().await.expect("a database")))
    }

    fn with(database_url: Option<String>) -> Self {
        let kept = tempfile::Builder::new().prefix("muster-home-").tempdir().expect("a folder for the test");
        let kind = if database_url.is_some() { Kind::Postgres } else { Kind::Sqlite };
        Self {
            kind,
            folder: kept.path().join("data"),
            database_url,
            under: Vec::new(),
            variables: Vec::new(),
            _kept: kept,
        }
    }

    /// Lets these programs start the binary.
    pub fn under(mut self, programs: &[&str]) -> Self {
        self.under = programs.iter().map(ToString::to_string).collect();
        self
    }

    /// Sets a variable for every process of this home.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Keeps the data in another folder, on SQLite.
    pub fn in_folder(mut self, folder: PathBuf) -> Self {
        self.folder = folder;
        self
    }

    /// The data folder, on SQLite; the first server makes it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the log, on SQLite.
    pub fn log_file(&self) -> PathBuf {
        self.folder.join("log.db")
    }

    /// The file of the read models, on SQLite.
    pub fn views_file(&self) -> PathBuf {
        self.folder.join("views.db")
    }

    /// The address of the database, on PostgreSQL.
    pub fn database_url(&self) -> &str {
        self.database_url.as_deref().expect("this home is on PostgreSQL")
    }

    /// Ends the leases of a server that was killed, as five seconds would, so that the next one need not wait for them.
    pub async fn end_leases(&self) {
        if let Some(url) = &self.database_url {
            let mut connection = postgres::connect(url).await.expect("a connection");
            sqlx::raw_sql("delete from views.leases").execute(&mut connection).await.expect("leases can be ended");
        }
    }

    /// Runs `muster` with these arguments to its end.
    pub async fn run(&self, args: &[&str]) -> Ended {
        let mut child = self.command(args).spawn().expect("muster can be started");
        let (stdout, stderr) = follow(&mut child);
        bounded(&format!("muster {args:?} ends"), ended(&mut child, stdout, stderr)).await
    }

    /// Runs `muster` with these arguments to its good end.
    pub async fn succeed(&self, args: &[&str]) -> Ended {
        let ended = self.run(args).await;
        assert_eq!(ended.code, Some(0), "muster {args:?}: {ended:#?}");
        ended
    }

    /// Runs a script that calls `muster`, beside the data folder, up to its first command that fails.
    pub async fn script(&self, script: &str, variables: &[(&str, &str)]) -> Ended {
        let binary = binary();
        let folder = binary.parent().expect("the binary is in a folder").as_os_str();
        let mut path = folder.to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = self.surround(Command::new("bash"));
        command.args(["-euo", "pipefail", "-c", script]).env("PATH", path).envs(variables.iter().copied());
        command.current_dir(self._kept.path());
        let mut child = command.spawn().expect("bash can be started");
        let (stdout, stderr) = follow(&mut child);
        bounded("the script ends", ended(&mut child, stdout, stderr)).await
    }

    fn command(&self, args: &[&str]) -> Command {
        let binary = binary();
        let mut words: Vec<&OsStr> = self.under.iter().map(OsStr::new).collect();
        words.push(binary.as_os_str());
        let mut command = self.surround(Command::new(words[0]));
        command.args(&words[1..]).args(args);
        command
    }

    /// Gives a process the settings of this home and nothing else.
    fn surround(&self, mut command: Command) -> Command {
        command
            // Settings of whoever runs the tests are not part of them.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("MUSTER_DATA_DIR", &self.folder)
            .env("MUSTER_RATE_LIMITS", "off")
            .envs(self.database_url.iter().map(|url| ("DATABASE_URL", url)))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

impl Muster {
    /// Starts a server on a free port and waits until it is ready.
    pub async fn start(home: &Home, args: &[&str]) -> Self {
        Self::start_on(home, 0, args).await
    }

    /// Starts a server on a port and waits until it is ready.
    pub async fn start_on(home: &Home, port: u16, args: &[&str]) -> Self {
        let mut server = Self::spawn_on(home, port, args);
        let greeting = bounded("the server says where it is", server.stdout.line_with("/api")).await;
        let address = greeting.as_deref().and_then(|line| line.split_once("http://")?.1.strip_suffix("/api"));
        let Some(address) = address else { panic!("the server did not start: {:#?}", server.ended().await) };
        server.address = address.to_owned();
        server.ready().await;
        server
    }

    /// Starts a server on a port and waits for nothing: it may well die before it is ready.
    pub fn spawn_on(home: &Home, port: u16, args: &[&str]) -> Self {
        let text = port.to_string();
        let mut all = vec!["serve", "--port", &text];
        all.extend(args);
        let mut child = home.command(&all).spawn().expect("muster can be started");
        let (stdout, stderr) = follow(&mut child);
        Self { address: format!("127.0.0.1:{port}"), stdout, stderr, child }
    }

    /// How it ended, if it has.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be looked at")
    }

    /// A URL on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The process id, while it runs.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    /// Ends the server the hard way.
    pub async fn kill_nine(mut self) {
        bounded("a killed server is gone", self.child.kill()).await.expect("the server can be killed");
    }

    /// Asks the server to stop, as an operator's tools do.
    pub fn ask_to_stop(&self) {
        let sent =
            std::process::Command::new("sh").args(["-c", "kill -s TERM \"$0\"", &self.pid().to_string()]).status();
        assert!(sent.expect("a shell").success(), "the server has gone before it was asked to");
    }

    /// Asks the server to stop and waits until it has.
    pub async fn terminate(self) -> Ended {
        self.ask_to_stop();
        self.ended().await
    }

    /// Waits for the server to end by itself.
    pub async fn ended(mut self) -> Ended {
        bounded("the server ends", ended(&mut self.child, self.stdout, self.stderr)).await
    }

    async fn ready(&self) {
        let http = crate::http_client().build().expect("a client");
        wait_until("the server is ready", async || {
            http.get(self.url("/health/ready")).send().await.is_ok_and(|it| it.status().is_success())
        })
        .await;
    }
}

impl Ended {
    /// Whether either stream has the text.
    pub fn says(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }
}

impl Lines {
    fn of(stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let (sender, receiver) = watch::channel(Vec::new());
        tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                sender.send_modify(|all| all.push(line));
            }
        });
        Self(receiver)
    }

    /// The first line with this text; `None` if the stream ends without one.
    pub async fn line_with(&self, text: &str) -> Option<String> {
        let mut lines = self.0.clone();
        let find = |all: &[String]| all.iter().find(|line| line.contains(text)).cloned();
        lines.wait_for(|all| find(all).is_some()).await.ok().and_then(|all| find(&all))
    }

    /// What has come so far.
    pub fn so_far(&self) -> String {
        self.0.borrow().join("\n")
    }

    async fn all(&self) -> String {
        let mut lines = self.0.clone();
        while lines.changed().await.is_ok() {}
        self.so_far()
    }
}

/// The binary stands beside the folder of the test executables.
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("a test has an executable");
    let folder = own.ancestors().nth(2).expect("test executables are in target/<profile>/deps");
    let binary = folder.join("muster");
    assert!(binary.exists(), "{} is missing: run `cargo build -p api` or `cargo test --workspace`", binary.display());
    binary
}

/// Waits for something that must happen soon.
pub async fn bounded<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(it) => it,
        Err(_) => panic!("{what}: not within {PATIENCE:?}"),
    }
}

/// Looks again and again, for what nobody tells us of.
pub async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        // Some looks are dear, so who has waited long looks less often.
        tokio::time::sleep((start.elapsed() / 20).clamp(LOOKS.0, LOOKS.1)).await;
    }
}

fn follow(child: &mut Child) -> (Lines, Lines) {
    let stdout = child.stdout.take().expect("standard output is piped");
    let stderr = child.stderr.take().expect("standard error is piped");
    (Lines::of(stdout), Lines::of(stderr))
}

async fn ended(child: &mut Child, stdout: Lines, stderr: Lines) -> Ended {
    let status = child.wait().await.expect("a child can be waited for");
    Ended { code: status.code(), stdout: stdout.all().await, stderr: stderr.all().await }
}
