//! Reaches a human: a message on the desktop, a sound, a webhook. Never in anybody's way: bounded, and failures are values.

mod desktop;
mod sound;
mod webhook;

use std::ffi::OsString;
use std::time::Duration;

pub use webhook::{Reach, Webhooks};

use crate::child::{Child, ChildError, Finished};

/// Programs of this machine that show and play.
#[derive(Debug, Clone)]
pub struct Alerts {
    path: Option<OsString>,
    patience: Duration,
}

impl Default for Alerts {
    fn default() -> Self {
        Self { path: None, patience: Duration::from_secs(10) }
    }
}

/// Why an alert did not get through. Where it was to go is never said: that is the person's own.
#[derive(Debug, thiserror::Error)]
pub enum AlertError {
    /// None of the programs that could do it is installed.
    #[error("nothing here can do that; install {0}")]
    Missing(&'static str),
    /// There is no such file.
    #[error("there is no such file")]
    NoSuchFile,
    /// A program was there and failed.
    #[error("{program} failed: {stderr}")]
    Failed {
        /// The program.
        program: String,
        /// What it said.
        stderr: String,
    },
    /// A program could not be run to its end.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// An address that we do not send to, by this rule.
    #[error("the address is not allowed: {0}")]
    NotAllowed(&'static str),
    /// Nobody answered.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// Somebody answered, but not with yes.
    #[error("answered with {0}")]
    Refused(u16),
    /// The settings cannot work.
    #[error("the settings cannot work: {0}")]
    BadSettings(String),
}

impl AlertError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused(status) => *status == 429 || *status >= 500,
            Self::Child(it) => it.is_transient(),
            Self::Missing(_) | Self::NoSuchFile | Self::Failed { .. } | Self::NotAllowed(_) | Self::BadSettings(_) => {
                false
            }
        }
    }
}

impl Alerts {
    /// Programs are looked for where the system looks for them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Programs are looked for in these folders, separated as in `PATH`.
    pub fn with_path(path: impl Into<OsString>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Programs have so long to end.
    pub fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Nothing if it is not installed.
    async fn run(&self, program: &str, args: &[&std::ffi::OsStr]) -> Result<Option<Finished>, ChildError> {
        let path = self.path.clone().or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let Some(found) = std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file()) else {
            return Ok(None);
        };
        let mut child = Child::new(found).args(args).timeout(self.patience);
        // A service may not know where its person's desktop is, but the one who started it by hand does.
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] {
            if let Some(value) = std::env::var_os(name) {
                child = child.env(name, value);
            }
        }
        child.run().await.map(Some).map_err(|error| match error {
            // Where this node keeps its programs is nobody's business.
            ChildError::TimedOut { after, .. } => ChildError::TimedOut { program: program.to_owned(), after },
            other => other,
        })
    }
}
