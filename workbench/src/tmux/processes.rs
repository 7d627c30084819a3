//! Finds every process that a session started, however far it ran.
//!
//! Each carries a mark in its environment that no other launch has, so neither a new session nor a process id that
//! was given out again can be mistaken for it. Children that threw their environment away are found by their parents
//! and by the terminal session they share.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks a launch.
pub(super) const MARK: &str = "MUSTER_LAUNCH";

struct Process {
    id: u32,
    parent: u32,
    session: u32,
    marked: bool,
}

/// Everything that a launch started and that still runs.
pub(super) fn of_launch(mark: &str) -> BTreeSet<u32> {
    let wanted = format!("{MARK}={mark}").into_bytes();
    let all: Vec<Process> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.parse().ok())
        .filter_map(|id| look_at(id, &wanted))
        .collect();
    let mut mine: BTreeSet<u32> = all.iter().filter(|it| it.marked).map(|it| it.id).collect();
    let sessions: BTreeSet<u32> = all.iter().filter(|it| it.marked).map(|it| it.session).collect();
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|it| !mine.contains(&it.id) && (mine.contains(&it.parent) || sessions.contains(&it.session)))
            .map(|it| it.id)
            .collect();
        if more.is_empty() {
            mine.remove(&std::process::id());
            return mine;
        }
        mine.extend(more);
    }
}

/// Ends a process at once.
pub(super) fn kill(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, Signal::KILL);
    }
}

/// Nothing for one that has ended and only waits to be buried.
fn look_at(id: u32, wanted: &[u8]) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in parentheses and may hold some itself.
    let mut fields = stat.get(stat.rfind(')')? + 2..)?.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    let marked = environment.split(|it| *it == 0).any(|it| it == wanted);
    (state != "Z" && state != "X").then_some(Process { id, parent, session, marked })
}
