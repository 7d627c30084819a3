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

/// The tokens whose answer was not preceded by a sync that followed the write of their event.
///
/// Strace sees one event at a time, and no thread goes on from one before strace has written it down, so what stands
/// earlier in the trace and caused something later has happened earlier.
pub(crate) fn answered_too_early<'t>(trace: &str, tokens: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let calls = calls(trace);
    let proven = |token: &String| -> Option<()> {
        let with = |what| calls.iter().find(move |call| call.what == what && call.text.contains(token));
        let written = with(What::LogWrite)?.succeeded?;
        let answered = with(What::Answer)?.began;
        let syncs = calls.iter().filter(|call| call.what == What::LogSync && call.began > written);
        syncs.filter_map(|sync| sync.succeeded).any(|synced| synced < answered).then_some(())
    };
    tokens.into_iter().filter(|token| proven(token).is_none()).cloned().collect()
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
    const ANSWER: &str = r#"8 writev(12<TCP:[127.0.0.1:1->127.0.0.1:2]>, [{iov_base="load-1", iov_len=6}], 1) = 6"#;

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
        answered_too_early(&lines.join("\n"), &["load-1".to_owned()]).is_empty()
    }
}
