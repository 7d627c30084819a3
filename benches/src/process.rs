//! The real server as a process of its own: how long it takes to start, and the memory that it has.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use store::Location;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use uuid::Uuid;

/// Nothing that is waited for here may take longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Workspaces that a visit makes and lists.
const VISITS: usize = 100;

/// A running server; killed when it is dropped.
pub(crate) struct Process {
    /// From its start until it said that it is ready.
    pub(crate) ready_after: Duration,
    child: Child,
    base: String,
}

impl Process {
    /// Starts the server on what is at a location, on a free port, and waits until it is ready.
    pub(crate) async fn start(location: &Location) -> Result<Self> {
        let started = Instant::now();
        let mut command = Command::new(binary()?);
        command
            .args(["serve", "--port", "0"])
            // Settings of whoever runs this are not part of it.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("MUSTER_RATE_LIMITS", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        match location {
            Location::Sqlite(folder) => command.env("MUSTER_DATA_DIR", folder),
            Location::Postgres(url) => command.env("DATABASE_URL", url),
        };
        let mut child = command.spawn().context("the server cannot be started")?;
        let stdout = child.stdout.take().context("its output is not piped")?;
        let base = tokio::time::timeout(PATIENCE, greeting(stdout)).await.context("the server is silent")??;
        let http = muster_tests::http_client().build()?;
        while !http.get(format!("{base}/health/ready")).send().await.is_ok_and(|it| it.status().is_success()) {
            ensure!(started.elapsed() < PATIENCE, "the server is not ready in time");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(Self { ready_after: started.elapsed(), child, base })
    }

    /// The same few requests by a new owner, so that what is kept in memory for requests is there.
    pub(crate) async fn visit(&self) -> Result<()> {
        let http = muster_tests::http_client().build()?;
        let name = Uuid::now_v7().simple().to_string();
        let person = json!({"email": format!("{name}@example.com"), "password": "correct horse battery", "name": name});
        let answer = http.post(format!("{}/api/auth/signup", self.base)).json(&person).send().await?;
        let cookie = answer.headers().get("set-cookie").context("no cookie")?.to_str()?.to_owned();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        for n in 0..VISITS {
            let workspace = json!({"name": "Acme", "slug": format!("w{n}-{name}")});
            let made = http.post(format!("{}/api/workspace.create", self.base)).header("cookie", &cookie);
            let made = made.json(&workspace).send().await?;
            ensure!(made.status().is_success(), "workspace.create: {}", made.text().await?);
            let listed = http.get(format!("{}/api/workspace.list", self.base)).header("cookie", &cookie).send().await?;
            let _: Value = serde_json::from_str(&listed.text().await?)?;
        }
        Ok(())
    }

    /// How much memory the server has now.
    pub(crate) fn resident_megabytes(&self) -> Result<f64> {
        let id = self.child.id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).context("no resident size")?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// Ends the server.
    pub(crate) async fn stop(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }
}

async fn greeting(stdout: tokio::process::ChildStdout) -> Result<String> {
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, address)) = line.split_once("http://") {
            // What it says later must have somewhere to go.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok(format!("http://{}", address.trim().trim_end_matches("/api")));
        }
    }
    bail!("the server ended before it said where it is")
}

/// The binary stands beside the one that measures.
fn binary() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let binary = own.parent().context("no folder")?.join("muster");
    ensure!(binary.exists(), "{} is missing: run `cargo build --release -p api`", binary.display());
    Ok(binary)
}
