//! Says whether a session is there and whether its command still runs.

use super::{Session, Tmux, TmuxError, is_unknown};

/// What there is of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Nothing.
    Absent,
    /// Its command runs.
    Running {
        /// The process.
        pid: u32,
    },
    /// Its command has ended; what it said can still be read. tmux sees a terminal closed before it hears how the
    /// command ended, and now and then it never hears: then there is neither code nor signal.
    Ended {
        /// Its exit code, unless a signal ended it.
        status: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
}

impl Tmux {
    /// Looks at a session.
    pub async fn alive(&self, session: &Session) -> Result<Life, TmuxError> {
        let format = "#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_pid}";
        Ok(match self.ask(session, format).await? {
            None => Life::Absent,
            Some(said) => match said.split('|').collect::<Vec<&str>>().as_slice() {
                ["1", status, signal, _] => Life::Ended { status: status.parse().ok(), signal: signal.parse().ok() },
                [_, _, _, pid] => Life::Running { pid: pid.parse().unwrap_or(0) },
                _ => Life::Absent,
            },
        })
    }

    /// Fills a format in with what is true of a session's first pane.
    pub(super) async fn ask(&self, session: &Session, format: &str) -> Result<Option<String>, TmuxError> {
        let listed = self.run(&["list-panes", "-t", &session.target(), "-F", format]).await?;
        if listed.succeeded() {
            return Ok(listed.text().lines().next().map(str::to_owned));
        }
        if is_unknown(&listed.stderr) {
            return Ok(None);
        }
        Err(TmuxError::Failed { command: "list-panes".to_owned(), stderr: listed.stderr })
    }
}
