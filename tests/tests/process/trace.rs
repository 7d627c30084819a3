//! Reads what strace saw, and says which answers were given before their events were on disk.

use std::collections::HashMap;

/// A system call of interest, with the lines of the trace on which it began and ended.
#[derive(Debug, PartialEq)]
struct Call<'a> {
    what: What,
    /// The line as it began, with everything that was written.
    text: &'a str,
    began: usize,
    /// `None` if it failed or never ended.
    succeeded: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// To the log's write-ahead log.
    LogWrite,
    /// Of the log's write-ahead log.
    LogSync,
    /// To a client.
    Answer,
}

/// A command that was acknowledged: what names it in the log, and what names it in the answer.
pub(crate) struct Answered<'a> {
    pub(crate) token: &'a str,
    pub(crate) position: i64,
}

/// The commands whose answer was not preceded by a sync that followed the write of their event.
///
/// Strace sees one event at a time, and no thread goes on from one before strace has written it down, so what stands
/// earlier in the trace and caused something later has happened earlier.
pub(crate) fn answered_too_early<'a>(trace: &str, commands: impl Iterator<Item = Answered<'a>>) -> Vec<&'a str> {
    let calls = calls(trace);
    let first = |what, text: &str| calls.iter().find(|call| call.what == what && call.text.contains(text));
    let is_proven = |command: &Answered<'_>| -> Option<bool> {
        let written = first(What::LogWrite, command.token)?.succeeded?;
        let answered = first(What::Answer, &format!("x-log-position: {}\\r", command.position))?.began;
        let mut syncs = calls.iter().filter(|call| call.what == What::LogSync && call.began > written);
        Some(syncs.any(|sync| sync.succeeded.is_some_and(|synced| synced < answered)))
    };
    commands.filter(|command| is_proven(command) != Some(true)).map(|command| command.token).collect()
}

fn calls(trace: &str) -> Vec<Call<'_>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut under_way: HashMap<&str, usize> = HashMap::new();
    for (line, text) in trace.lines().enumerate() {
        let Some((thread, text)) = text.split_once(char::is_whitespace) else { continue };
        let text = text.trim_start();
        if text.starts_with("<... ") {
            if let Some(call) = under_way.remove(thread) {
                calls[call].succeeded = succeeded(text).then_some(line);
            }
            continue;
        }
        let Some(what) = what(text) else { continue };
        if text.ends_with("<unfinished ...>") {
            under_way.insert(thread, calls.len());
            calls.push(Call { what, text, began: line, succeeded: None });
        } else {
            calls.push(Call { what, text, began: line, succeeded: succeeded(text).then_some(line) });
        }
    }
    calls
}

fn what(text: &str) -> Option<What> {
    let (name, arguments) = text.split_once('(')?;
    // With -yy: `9</home/data/log.db-wal>` or `12<TCP:[127.0.0.1:3001->127.0.0.1:40000]>`.
    let (number, target) = arguments.split_once('<')?;
    number.parse::<u32>().ok()?;
    let is_log = target.split('>').next()?.ends_with("/log.db-wal");
    match name {
        "fsync" | "fdatasync" if is_log => Some(What::LogSync),
        "write" | "pwrite64" | "writev" if is_log => Some(What::LogWrite),
        "write" | "writev" | "sendto" | "sendmsg" if target.starts_with("TCP") => Some(What::Answer),
        _ => None,
    }
}

fn succeeded(text: &str) -> bool {
    text.rsplit_once(") ").is_some_and(|(_, result)| {
        let result = result.trim_start().trim_start_matches("= ");
        !result.starts_with('-') && !result.starts_with('?')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: &str = r#"7 pwrite64(9</d/log.db-wal>, "\0load-1\0", 8, 0) = 8"#;
    const SYNC: &str = "7 fdatasync(9</d/log.db-wal>) = 0";
    const ANSWER: &str =
        r#"8 writev(12<TCP:[127.0.0.1:1->127.0.0.1:2]>, [{iov_base="x-log-position: 3\r\n", iov_len=6}], 1) = 6"#;

    #[test]
    fn a_sync_between_write_and_answer_is_proof() {
        assert!(is_proven(&[WRITE, SYNC, ANSWER]));
        let began = "7 fdatasync(9</d/log.db-wal> <unfinished ...>";
        let other = "6 write(2</dev/null>, \"x\", 1) = 1";
        assert!(is_proven(&[WRITE, began, other, "7 <... fdatasync resumed>) = 0", ANSWER]));
    }

    #[test]
    fn anything_else_is_none() {
        assert!(!is_proven(&[WRITE, ANSWER]));
        assert!(!is_proven(&[WRITE, ANSWER, SYNC]));
        assert!(!is_proven(&[SYNC, WRITE, ANSWER]));
        assert!(!is_proven(&[WRITE, SYNC]));
        assert!(!is_proven(&[SYNC, ANSWER]));
        let other_file = "7 fdatasync(9</d/views.db-wal>) = 0";
        assert!(!is_proven(&[WRITE, other_file, ANSWER]));
        let failed = "7 fdatasync(9</d/log.db-wal>) = -1 EIO (Input/output error)";
        assert!(!is_proven(&[WRITE, failed, ANSWER]));
        let began = "7 fdatasync(9</d/log.db-wal> <unfinished ...>";
        let ended = "7 <... fdatasync resumed>) = 0";
        assert!(!is_proven(&[WRITE, began, ANSWER, ended]));
        assert!(!is_proven(&[began, WRITE, ended, ANSWER]));
    }

    fn is_proven(lines: &[&str]) -> bool {
        let command = Answered { token: "load-1", position: 3 };
        answered_too_early(&lines.join("\n"), [command].into_iter()).is_empty()
    }
}
