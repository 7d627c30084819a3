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

impl Life {
    /// What tmux says of a pane: dead or not, exit code, signal, process.
    fn read(said: &str) -> Self {
        match said.split('|').collect::<Vec<&str>>().as_slice() {
            ["1", status, signal, _] => Self::Ended { status: status.parse().ok(), signal: signal.parse().ok() },
            [_, _, _, pid] => Self::Running { pid: pid.parse().unwrap_or(0) },
            _ => Self::Absent,
        }
    }
}

impl Tmux {
    /// Looks at a session.
    pub async fn alive(&self, session: &Session) -> Result<Life, TmuxError> {
        let format = "#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_pid}";
        Ok(self.ask(session, format).await?.map_or(Life::Absent, |said| Life::read(&said)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_command_ended_is_read_from_what_tmux_says() {
        for (said, life) in [
            ("0|||41", Life::Running { pid: 41 }),
            ("1|0||41", Life::Ended { status: Some(0), signal: None }),
            ("1|127||41", Life::Ended { status: Some(127), signal: None }),
            ("1||9|41", Life::Ended { status: None, signal: Some(9) }),
            // tmux has not heard.
            ("1|||41", Life::Ended { status: None, signal: None }),
        ] {
            assert_eq!(Life::read(said), life, "{said}");
        }
    }
}
