//! Reads what a session said, also after its end and after the end of tmux itself.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::start::MOST_LOG_BLOCKS;
use super::{Session, Tmux, TmuxError, is_unknown};

/// Of one answer; the end is what counts.
const MOST_BYTES: usize = 256 << 10;
const MOST_LINES: usize = 10_000;

impl Tmux {
    /// The last lines: as the terminal shows them while there is a session, else from its log.
    pub async fn output(&self, session: &Session, lines: usize) -> Result<String, TmuxError> {
        let lines = lines.clamp(1, MOST_LINES);
        let past = format!("-{lines}");
        let shown = self.run(&["capture-pane", "-p", "-J", "-t", &session.target(), "-S", &past]).await?;
        if shown.succeeded() {
            return Ok(last_lines(&shown.text(), lines));
        }
        if !is_unknown(&shown.stderr) {
            return Err(TmuxError::Failed { command: "capture-pane".to_owned(), stderr: shown.stderr });
        }
        let log = self.file(session, "log");
        match tail(&log) {
            Ok(bytes) => Ok(last_lines(&without_escapes(&String::from_utf8_lossy(&bytes)), lines)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(TmuxError::NoSuchSession(session.as_str().to_owned()))
            }
            Err(source) => Err(TmuxError::Io { path: log, source }),
        }
    }

    /// When a session last said anything; nothing if it never did.
    pub async fn last_output_at(&self, session: &Session) -> Result<Option<SystemTime>, TmuxError> {
        let log = self.file(session, "log");
        let about = match std::fs::metadata(&log) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TmuxError::Io { path: log, source }),
        };
        if about.len() == 0 {
            return Ok(None);
        }
        let written = about.modified().map_err(|source| TmuxError::Io { path: log, source })?;
        if about.len() < MOST_LOG_BLOCKS * 512 {
            return Ok(Some(written));
        }
        // The log is full; tmux knows to the second.
        let seen = self.ask(session, "#{window_activity}").await?.and_then(|it| it.parse().ok());
        Ok(Some(seen.map_or(written, |it| written.max(UNIX_EPOCH + Duration::from_secs(it)))))
    }
}

fn last_lines(text: &str, lines: usize) -> String {
    let text = text.trim_end();
    let all: Vec<&str> = text.lines().collect();
    let mut kept = all[all.len().saturating_sub(lines)..].join("\n");
    if kept.len() > MOST_BYTES {
        let mut cut = kept.len() - MOST_BYTES;
        while !kept.is_char_boundary(cut) {
            cut += 1;
        }
        kept.drain(..cut);
    }
    kept
}

fn tail(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    let begin = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Text as somebody would read it, without colours, titles and moves of the cursor.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // A sequence ends with a letter, a title with a bell or with escape and backslash.
                Some('[') => while letters.next().is_some_and(|it| !('@'..='~').contains(&it)) {},
                Some(']') => while letters.next().is_some_and(|it| it != '\u{7}' && it != '\u{1b}') {},
                Some('(' | ')') => drop(letters.next()),
                _ => {}
            },
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            '\n' | '\t' => plain.push(letter),
            other if other.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_without_the_terminals_own_language() {
        let said = "\u{1b}[1;31mred\u{1b}[0m\r\n\u{1b}]0;title\u{7}next\u{1b}(B\tä\u{7}\r\nhalf\rwhole\n";
        assert_eq!(without_escapes(said), "red\nnext\tä\nhalf\nwhole\n");
    }

    #[test]
    fn only_the_last_lines_and_only_so_many_bytes_are_kept() {
        assert_eq!(last_lines("a\nb\nc\n\n\n", 2), "b\nc");
        assert_eq!(last_lines("", 3), "");
        let long = "ä".repeat(MOST_BYTES);
        assert!(last_lines(&long, 1).len() <= MOST_BYTES);
    }
}
