//! Agents in terminals: one tmux session each, on a socket of our own.
//!
//! Beside the socket lies a folder, `<socket>.d`, with the launcher and what it reads. The server of tmux gets an
//! environment of ours with that folder in it, so that the two commands that tmux hands to a shell are fixed texts
//! with nothing but a checked session name and the mark of a launch in them.

mod alive;
mod kill;
mod launch;
mod output;
mod start;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use alive::Life;
pub use start::{Start, Started};

use crate::child::{Child, ChildError, Finished};

/// Tells the launcher where its files are.
const FOLDER_VARIABLE: &str = "MUSTER_TMUX";
/// Marks everything that a launch starts, with a value that no other launch has.
const MARK: &str = "MUSTER_LAUNCH";
/// What a socket's path may have, less what tmux adds for its lock.
const LONGEST_SOCKET: usize = 100;

/// A tmux server of our own.
#[derive(Debug, Clone)]
pub struct Tmux {
    program: PathBuf,
    socket: PathBuf,
    folder: PathBuf,
    told: Arc<AtomicBool>,
}

/// A session's name: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Session(String);

/// What went wrong with a terminal.
#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    /// It is not installed: agents must be started by somebody else.
    #[error("tmux is not installed")]
    TmuxMissing,
    /// A name that tmux would misread.
    #[error("{0:?} is no name for a session")]
    BadName(String),
    /// A variable that no environment can hold.
    #[error("{0:?} is no name or value for a variable")]
    BadVariable(String),
    /// Nothing to run, or a word that no command line can hold.
    #[error("the command line is empty or holds a zero byte")]
    BadCommand,
    /// The socket's path is longer than the system allows.
    #[error("{0} is too long for a socket")]
    SocketTooLong(PathBuf),
    /// There is no such folder to work in.
    #[error("there is no folder {0}")]
    NoSuchFolder(PathBuf),
    /// There is no such session, and there is no log of one.
    #[error("there is no session {0}")]
    NoSuchSession(String),
    /// Some of its processes would not die.
    #[error("processes of {0} are still alive")]
    StillAlive(String),
    /// Tmux said no.
    #[error("tmux {command} failed: {stderr}")]
    Failed {
        /// The subcommand.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// Tmux could not be run to its end.
    #[error(transparent)]
    Child(ChildError),
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl TmuxError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::StillAlive(_) => true,
            Self::Child(it) => it.is_transient(),
            // The last session's end takes the server with it, perhaps while we were speaking to it.
            Self::Failed { stderr, .. } => is_gone(stderr),
            Self::TmuxMissing
            | Self::BadName(_)
            | Self::BadVariable(_)
            | Self::BadCommand
            | Self::SocketTooLong(_)
            | Self::NoSuchFolder(_)
            | Self::NoSuchSession(_)
            | Self::Io { .. } => false,
        }
    }
}

impl Session {
    /// Takes a name that needs no quotes anywhere.
    pub fn new(name: &str) -> Result<Self, TmuxError> {
        let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        let fine = (1..=64).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(plain);
        if fine { Ok(Self(name.to_owned())) } else { Err(TmuxError::BadName(name.to_owned())) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Exactly this one, and not one whose name begins alike.
    fn target(&self) -> String {
        format!("={}:", self.0)
    }
}

impl Tmux {
    /// Names a socket and makes its folder, for nobody's eyes but ours.
    pub fn new(socket: impl AsRef<Path>) -> Result<Self, TmuxError> {
        Self::with_program("tmux", socket)
    }

    /// The same with a tmux that is elsewhere.
    pub fn with_program(program: impl Into<PathBuf>, socket: impl AsRef<Path>) -> Result<Self, TmuxError> {
        let failed = |path: &Path, source| TmuxError::Io { path: path.to_path_buf(), source };
        let socket = std::path::absolute(socket.as_ref()).map_err(|it| failed(socket.as_ref(), it))?;
        if socket.as_os_str().len() > LONGEST_SOCKET {
            return Err(TmuxError::SocketTooLong(socket));
        }
        let mut name = socket.file_name().unwrap_or_default().to_owned();
        name.push(".d");
        let folder = socket.with_file_name(name);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|it| failed(&folder, it))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(|it| failed(&folder, it))?;
        Ok(Self { program: program.into(), socket, folder, told: Arc::default() })
    }

    /// The version of tmux, or that there is none; the latter is logged once.
    pub async fn is_there(&self) -> Result<String, TmuxError> {
        Ok(self.run(&["-V"]).await?.text())
    }

    /// The sessions there are, also those whose process has ended.
    pub async fn list(&self) -> Result<Vec<Session>, TmuxError> {
        let listed = self.run(&["list-sessions", "-F", "#{session_name}"]).await?;
        if !listed.succeeded() && !is_gone(&listed.stderr) {
            return Err(TmuxError::Failed { command: "list-sessions".to_owned(), stderr: listed.stderr });
        }
        let mut sessions: Vec<Session> = listed.text().lines().filter_map(|it| Session::new(it).ok()).collect();
        sessions.sort();
        Ok(sessions)
    }

    /// However it ends.
    async fn run(&self, args: &[&str]) -> Result<Finished, TmuxError> {
        let child = Child::new(&self.program)
            .args([OsStr::new("-S"), self.socket.as_os_str(), OsStr::new("-f"), OsStr::new("/dev/null")])
            .args(args)
            .env(FOLDER_VARIABLE, &self.folder)
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .timeout(Duration::from_secs(15))
            .run()
            .await;
        child.map_err(|error| match error {
            ChildError::Missing(_) => {
                if !self.told.swap(true, Ordering::Relaxed) {
                    tracing::warn!("tmux is not installed: agents must be started by hand");
                }
                TmuxError::TmuxMissing
            }
            other => TmuxError::Child(other),
        })
    }

    fn file(&self, session: &Session, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", session.0))
    }
}

/// No server, or it went away just now.
fn is_gone(stderr: &str) -> bool {
    ["no server running", "error connecting to", "server exited", "lost server"].iter().any(|it| stderr.contains(it))
}

/// No such session. A server that is about to go because its last one ended looks for a current one first.
fn is_unknown(stderr: &str) -> bool {
    is_gone(stderr) || ["can't find", "no current target"].iter().any(|it| stderr.contains(it))
}
