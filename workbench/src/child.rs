//! Runs another program: argv only, a clean environment, a time limit, capped output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// What a child needs of our environment to find programs, keys and scratch space; never our own secrets.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "USER", "TMPDIR", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
const MOST_STDERR: usize = 16 << 10;

/// Why a program could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// It is not installed, or not on the path.
    #[error("{0} is not installed")]
    Missing(String),
    /// It did not end in time and was killed with all its children.
    #[error("{program} did not end within {} s", .after.as_secs())]
    TimedOut {
        /// The program.
        program: String,
        /// How long it was given.
        after: Duration,
    },
    /// It said more than anybody would read.
    #[error("{0} said more than was asked for")]
    TooMuchOutput(String),
    /// The system would not start it or talk to it.
    #[error("{program} could not be run: {source}")]
    Io {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ChildError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::Io { .. } => true,
            Self::Missing(_) | Self::TooMuchOutput(_) => false,
        }
    }
}

/// One run of a program.
pub(crate) struct Child {
    program: OsString,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    timeout: Duration,
    most_stdout: usize,
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Nothing if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// It had more to say, and was stopped there.
    pub(crate) truncated: bool,
}

impl Child {
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        let environment = PASSED_ON
            .iter()
            .filter_map(|name| std::env::var_os(name).map(|value| (OsString::from(name), value)))
            .collect();
        Self {
            program: program.into(),
            args: Vec::new(),
            environment,
            stdin: Vec::new(),
            timeout: Duration::from_secs(60),
            most_stdout: 16 << 20,
        }
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|it| it.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(crate) fn most_stdout(mut self, bytes: usize) -> Self {
        self.most_stdout = bytes;
        self
    }

    pub(crate) async fn run(self) -> Result<Finished, ChildError> {
        let program = self.program.to_string_lossy().into_owned();
        let timeout = self.timeout;
        match tokio::time::timeout(timeout, self.run_unbounded(&program)).await {
            Ok(finished) => finished,
            Err(_) => Err(ChildError::TimedOut { program, after: timeout }),
        }
    }

    async fn run_unbounded(self, program: &str) -> Result<Finished, ChildError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ChildError::Missing(program.to_owned()),
            _ => ChildError::Io { program: program.to_owned(), source },
        };
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(self.environment)
            .stdin(if self.stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let mut group = Group(child.id());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A child that ends without reading everything has said why on stderr.
                let _ = stdin.write_all(&self.stdin).await;
            }
        };
        let hear = async {
            let heard = read_up_to(stdout, self.most_stdout).await;
            if heard.as_ref().is_ok_and(|it| it.1) {
                group.kill();
            }
            heard
        };
        let ((), heard, complaint) = tokio::join!(feed, hear, read_and_drain(stderr));
        let (stdout, truncated) = heard.map_err(failed)?;
        let stderr = complaint.map_err(failed)?;
        let status = child.wait().await.map_err(failed)?;
        group.0 = None;
        Ok(Finished {
            code: status.code(),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).trim().to_owned(),
            truncated,
        })
    }
}

impl Finished {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }
}

/// The process group of a child; whatever is left of it when this goes, goes with it.
struct Group(Option<u32>);

impl Group {
    fn kill(&self) {
        let leader = self.0.and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        if let Some(leader) = leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn read_up_to(stream: Option<impl AsyncRead + Unpin>, most: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        stream.take(limit).read_to_end(&mut bytes).await?;
    }
    let truncated = bytes.len() > most;
    bytes.truncate(most);
    Ok((bytes, truncated))
}

async fn read_and_drain(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let (mut kept, mut chunk) = (Vec::new(), vec![0; 4096]);
    let Some(mut stream) = stream else { return Ok(kept) };
    loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(kept);
        }
        let room = MOST_STDERR.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&chunk[..room]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[tokio::test]
    async fn a_child_that_takes_too_long_dies_with_its_own_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = "sleep 1000 & echo $! >\"$0\"; wait";
        let child = Child::new("sh").args(["-c", script, file.to_str().unwrap()]).timeout(Duration::from_secs(1));
        let error = child.run().await.unwrap_err();
        assert!(matches!(error, ChildError::TimedOut { .. }) && error.is_transient(), "{error}");
        let pid = std::fs::read_to_string(file).unwrap();
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        for _ in 0..1000 {
            if !runs() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the grandchild lives");
    }

    #[tokio::test]
    async fn a_child_that_says_too_much_is_cut_off_and_one_that_complains_is_not() {
        let finished = Child::new("yes").most_stdout(1000).run().await.unwrap();
        assert_eq!((finished.stdout.len(), finished.truncated, finished.code), (1000, true, None));
        let script = "yes | head -c 1000000 >&2; echo done; exit 3";
        let finished = Child::new("sh").args(["-c", script]).run().await.unwrap();
        assert_eq!((finished.text().as_str(), finished.code, finished.truncated), ("done", Some(3), false));
        assert!(finished.stderr.len() <= MOST_STDERR);
    }

    #[tokio::test]
    async fn a_child_gets_its_input_and_nothing_of_our_environment() {
        let input = vec![b'x'; 1 << 20];
        let finished = Child::new("cat").stdin(input.clone()).run().await.unwrap();
        assert_eq!(finished.stdout, input);
        let finished = Child::new("env").env("GIVEN", "1").run().await.unwrap();
        assert!(finished.text().contains("GIVEN=1") && !finished.text().contains("CARGO"), "{}", finished.text());
        let missing = Child::new("no-such-program").run().await.unwrap_err();
        assert!(matches!(missing, ChildError::Missing(_)) && !missing.is_transient());
    }
}
