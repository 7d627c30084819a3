//! A private PostgreSQL cluster that lives exactly as long as the process that started it.
//!
//! A watchdog holds the other end of a pipe. When this process goes away, however it goes, the pipe closes, and the
//! watchdog stops the server and removes its folder.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use uuid::Uuid;

/// The oldest PostgreSQL that Muster supports.
const OLDEST: u32 = 15;
/// How long the server may take to start or to go away.
const PATIENCE: Duration = Duration::from_secs(60);
/// A port that was free a moment ago may be gone; another one is tried this often.
const PORTS_TO_TRY: usize = 5;

/// What a cluster is started with unless the caller says otherwise: as durable as a real one.
const DEFAULTS: [(&str, &str); 4] =
    [("fsync", "on"), ("synchronous_commit", "on"), ("max_connections", "200"), ("log_min_messages", "warning")];

/// Data is thrown away at the end, so the server need not write it out first.
const WATCHDOG: &str = r#"cat >/dev/null; "$0/pg_ctl" stop -D "$1/data" -m immediate -w -t 60; rm -rf "$1""#;

/// A PostgreSQL server of our own on a random port of the loopback interface.
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    run_as: Option<RunAs>,
    port: u16,
    server: Mutex<Option<Child>>,
    watchdog: Mutex<Child>,
}

/// PostgreSQL refuses to run as root, so root becomes this user for it.
#[derive(Clone, Copy)]
struct RunAs {
    uid: u32,
    gid: u32,
}

/// The cluster that all tests of this process share, each with a database of its own. None of them cuts the power, so it
/// need not sync; and it has hundreds of databases, which nobody has to look after.
pub fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    let settings = [("fsync", "off"), ("full_page_writes", "off"), ("autovacuum", "off")];
    SHARED.get_or_init(|| Cluster::start_with(&settings).expect("a private PostgreSQL cluster starts"))
}

/// A connection of the caller's own, past the store.
pub async fn connect(url: &str) -> Result<PgConnection> {
    Ok(PgConnection::connect(url).await?)
}

impl Cluster {
    /// Makes and starts a cluster that syncs like a real one.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Makes and starts a cluster; `settings` are lines of `postgresql.conf`.
    pub fn start_with(settings: &[(&str, &str)]) -> Result<Self> {
        let programs = programs()?;
        let run_as = run_as()?;
        let folder = tempfile::Builder::new().prefix("muster-pg-").tempdir().context("no folder for a cluster")?.keep();
        if let Some(RunAs { uid, gid }) = run_as {
            chown(&folder, Some(uid), Some(gid)).context("cannot hand the cluster's folder over")?;
        }
        // Started first, so that nothing is left behind if making the cluster fails.
        let watchdog = command("sh", &folder, run_as)
            .args([OsStr::new("-c"), OsStr::new(WATCHDOG), programs.as_os_str(), folder.as_os_str()])
            .stdin(Stdio::piped())
            .spawn()
            .context("cannot start the watchdog")?;
        let mut cluster =
            Self { folder, programs, run_as, port: 0, server: Mutex::new(None), watchdog: Mutex::new(watchdog) };
        cluster.make(settings)?;
        for attempt in 1.. {
            cluster.port = free_port()?;
            match cluster.start_again() {
                Err(error) if attempt == PORTS_TO_TRY => return Err(error),
                Err(_) => {}
                Ok(()) => break,
            }
        }
        Ok(cluster)
    }

    /// Where a client finds the given database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// A fresh, empty database; answers its URL.
    pub async fn create_database(&self) -> Result<String> {
        self.create("").await
    }

    /// A fresh database that begins as a copy of another one, which nobody uses any more; answers its URL.
    pub async fn copy_database(&self, original: &str) -> Result<String> {
        // Where nothing is synced, copying files takes less than writing every page into the server's own log.
        self.create(&format!("template {original} strategy file_copy")).await
    }

    async fn create(&self, how: &str) -> Result<String> {
        // Connections belong to the runtime of one test, so none is kept.
        let name = format!("test_{}", Uuid::now_v7().simple());
        let mut connection = connect(&self.url("postgres")).await?;
        sqlx::raw_sql(AssertSqlSafe(format!("create database {name} {how}"))).execute(&mut connection).await?;
        connection.close().await?;
        Ok(self.url(&name))
    }

    /// The process id of the server, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.lock().expect("no test panics while it starts a server").as_ref().map(Child::id)
    }

    /// Ends the server and every backend the hard way, all at once, and waits until they are gone.
    pub fn kill_nine(&self) -> Result<()> {
        let mut server = self.server.lock().expect("no test panics while it starts a server");
        let mut child = server.take().context("the server is not running")?;
        // Halted first, so that it cannot start another backend between the look and the kill.
        signal("STOP", &[child.id()])?;
        let backends = children_of(child.id())?;
        signal("KILL", &[child.id()])?;
        signal("KILL", &backends)?;
        child.wait()?;
        wait_until("every backend is gone", || Ok(backends.iter().all(|pid| !is_alive(*pid))))
    }

    /// Ends the server in an orderly way; clients are disconnected.
    pub fn stop(&self) -> Result<()> {
        let mut server = self.server.lock().expect("no test panics while it starts a server");
        let mut child = server.take().context("the server is not running")?;
        signal("INT", &[child.id()])?;
        child.wait()?;
        Ok(())
    }

    /// Starts a server that was stopped or killed, on the same port and data, and waits until it accepts connections.
    pub fn start_again(&self) -> Result<()> {
        let mut server = self.server.lock().expect("no test panics while it starts a server");
        ensure!(server.is_none(), "the server is running");
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut child = command(self.programs.join("postgres"), &self.folder, self.run_as)
            .args(["-D", "data", "-p", &self.port.to_string()])
            .stderr(log)
            .spawn()
            .context("cannot start PostgreSQL")?;
        let status = self.folder.join("data/postmaster.pid");
        let own = child.id().to_string();
        wait_until("PostgreSQL accepts connections", || {
            if child.try_wait()?.is_some() {
                bail!("PostgreSQL ended at once: {}", fs::read_to_string(self.folder.join("log"))?);
            }
            let lines = fs::read_to_string(&status).unwrap_or_default();
            Ok(lines.lines().next() == Some(&own) && lines.lines().nth(7).is_some_and(|it| it.trim() == "ready"))
        })?;
        *server = Some(child);
        Ok(())
    }

    /// An orderly stop and a new start.
    pub fn restart(&self) -> Result<()> {
        self.stop()?;
        self.start_again()
    }

    fn make(&self, settings: &[(&str, &str)]) -> Result<()> {
        let made = command(self.programs.join("initdb"), &self.folder, self.run_as)
            .args(["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
            .stderr(Stdio::piped())
            .spawn()?
            .wait_with_output()?;
        ensure!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        let mut conf = fs::File::options().append(true).open(self.folder.join("data/postgresql.conf"))?;
        writeln!(conf, "listen_addresses = '127.0.0.1'")?;
        writeln!(conf, "unix_socket_directories = '{}'", self.folder.display())?;
        // The last line of a name wins.
        for (name, value) in DEFAULTS.iter().chain(settings) {
            writeln!(conf, "{name} = '{value}'")?;
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Ok(watchdog) = self.watchdog.get_mut() {
            drop(watchdog.stdin.take());
            let _ = watchdog.wait();
        }
        if let Ok(Some(server)) = self.server.get_mut() {
            let _ = server.wait();
        }
    }
}

/// A program that outlives a Ctrl-C at the terminal and holds none of our own files open.
fn command(program: impl AsRef<OsStr>, folder: &Path, run_as: Option<RunAs>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(RunAs { uid, gid }) = run_as {
        command.uid(uid).gid(gid);
    }
    command
}

/// The folder of the newest PostgreSQL on this machine.
fn programs() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|it| it.path().join("bin"));
    debian
        .chain(std::env::split_paths(&path))
        // A link in PATH may point into a folder that has the other programs too.
        .filter_map(|folder| fs::canonicalize(folder.join("initdb")).ok())
        .filter_map(|initdb| Some((version(&initdb)?, initdb.parent()?.to_path_buf())))
        .filter(|(version, _)| *version >= OLDEST)
        .max()
        .map(|(_, folder)| folder)
        .with_context(|| format!("PostgreSQL {OLDEST} or newer is needed: see scripts/install-test-needs.sh"))
}

fn version(initdb: &Path) -> Option<u32> {
    let output = Command::new(initdb).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split(|it: char| !it.is_ascii_digit()).find(|it| !it.is_empty())?.parse().ok()
}

fn run_as() -> Result<Option<RunAs>> {
    if id(&["-u"]) != Some(0) {
        return Ok(None);
    }
    ["postgres", "nobody"]
        .iter()
        .find_map(|user| Some(RunAs { uid: id(&["-u", user])?, gid: id(&["-g", user])? }))
        .map(Some)
        .context("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

fn id(args: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(args).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Sends a signal to processes, some of which may be gone already.
fn signal(name: &str, pids: &[u32]) -> Result<()> {
    for pid in pids {
        Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &pid.to_string()])
            .stderr(Stdio::null())
            .status()?;
    }
    Ok(())
}

fn children_of(parent: u32) -> Result<Vec<u32>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse().ok()) else { continue };
        if state(pid).is_some_and(|(_, its_parent)| its_parent == parent) {
            children.push(pid);
        }
    }
    Ok(children)
}

fn is_alive(pid: u32) -> bool {
    // A zombie holds nothing any more; whether somebody collects it is not ours to wait for.
    state(pid).is_some_and(|(state, _)| state != "Z" && state != "X")
}

/// The state letter and the parent of a process.
fn state(pid: u32) -> Option<(String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may itself hold brackets and blanks.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn wait_until(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        ensure!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_killed_server_comes_back_with_its_data() {
        let cluster = Cluster::start().unwrap();
        let url = cluster.create_database().await.unwrap();
        let mut connection = connect(&url).await.unwrap();
        sqlx::query("create table kept (it bigint)").execute(&mut connection).await.unwrap();
        cluster.kill_nine().unwrap();
        assert!(sqlx::query("select it from kept").fetch_all(&mut connection).await.is_err());
        cluster.start_again().unwrap();
        cluster.restart().unwrap();
        let mut connection = connect(&url).await.unwrap();
        assert!(sqlx::query("select it from kept").fetch_all(&mut connection).await.unwrap().is_empty());
    }

    #[test]
    fn nothing_is_left_of_a_cluster_that_is_dropped() {
        let cluster = Cluster::start().unwrap();
        let (folder, pid) = (cluster.folder.clone(), cluster.pid().unwrap());
        drop(cluster);
        assert!(!folder.exists());
        assert!(!is_alive(pid));
    }
}
