//! Says whether a session is there and whether its command still runs.
//!
//! How a command ended is the launcher's word, not tmux's: while tmux notes a terminal's coming or going for `who`
//! (libutempter), it lets SIGCHLD go unheard, and then it never learns of a death in that moment.

use std::fs;

use super::{Session, Tmux, TmuxError, is_unknown};

/// What there is of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Nothing.
    Absent,
    /// Its command runs.
    Running {
        /// The first process of the session, which waits for the command.
        pid: u32,
    },
    /// Its command has ended; what it said can still be read.
    Ended {
        /// Its exit code, unless a signal ended it.
        status: Option<i32>,
        /// The signal that ended it. As shells have it, a code from 129 to 192 is one.
        signal: Option<i32>,
    },
}

impl Life {
    /// What the launcher says of the launch with this mark; nothing if it speaks of another, or has not finished.
    fn told(by_launcher: &str, mark: &str) -> Option<Self> {
        let (of, code) = by_launcher.strip_suffix('\n')?.split_once(' ')?;
        let code: i32 = code.parse().ok().filter(|_| of == mark)?;
        Some(match code {
            129..=192 => Self::Ended { status: None, signal: Some(code - 128) },
            _ => Self::Ended { status: Some(code), signal: None },
        })
    }

    /// What tmux says of a pane: dead or not, exit code, signal, process. It is dead where the launcher itself was
    /// killed; then tmux may not know how.
    fn seen(by_tmux: &str) -> Self {
        match by_tmux.split('|').collect::<Vec<&str>>().as_slice() {
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
        let Some(seen) = self.ask(session, format).await? else { return Ok(Life::Absent) };
        let read = |kind: &str| fs::read_to_string(self.file(session, kind)).unwrap_or_default();
        Ok(Life::told(&read("ended"), &read("mark")).unwrap_or_else(|| Life::seen(&seen)))
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
    fn how_a_command_ended_is_the_launchers_word() {
        let ended = |status, signal| Some(Life::Ended { status, signal });
        for (told, life) in [
            ("m-1 0\n", ended(Some(0), None)),
            ("m-1 127\n", ended(Some(127), None)),
            ("m-1 137\n", ended(None, Some(9))),
            ("m-1 255\n", ended(Some(255), None)),
            // Half written, or of another launch.
            ("m-1 1", None),
            ("", None),
            ("m-2 0\n", None),
        ] {
            assert_eq!(Life::told(told, "m-1"), life, "{told:?}");
        }
    }

    #[test]
    fn without_the_launchers_word_tmux_is_believed() {
        for (seen, life) in [
            ("0|||41", Life::Running { pid: 41 }),
            ("1||9|41", Life::Ended { status: None, signal: Some(9) }),
            ("1|||41", Life::Ended { status: None, signal: None }),
        ] {
            assert_eq!(Life::seen(seen), life, "{seen}");
        }
    }
}
