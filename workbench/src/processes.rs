//! Finds processes that we started, also those of an earlier life, however far they ran.
//!
//! Each carries a mark in its environment, so no process id that was given out again can be mistaken for it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Killed processes are gone within microseconds; this is for a machine under load.
const ROUNDS: usize = 200;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(25);

struct Process {
    id: u32,
    parent: u32,
    session: u32,
    marked: bool,
}

/// Those that have a mark and are not of this process, nor of any that it started.
pub(crate) fn marked_elsewhere(variable: &str, value: &OsStr) -> BTreeSet<u32> {
    let all = all(variable, value);
    let mut own = BTreeSet::from([std::process::id()]);
    loop {
        let more: Vec<u32> =
            all.iter().filter(|it| own.contains(&it.parent) && !own.contains(&it.id)).map(|it| it.id).collect();
        if more.is_empty() {
            return all.iter().filter(|it| it.marked && !own.contains(&it.id)).map(|it| it.id).collect();
        }
        own.extend(more);
    }
}

/// Those that have a mark and their families: children that threw their environment away are found by their parents
/// and by the terminal session they share.
pub(crate) fn families(variable: &str, value: &OsStr) -> BTreeSet<u32> {
    let all = all(variable, value);
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

/// Ends processes at once, again and again, because one may have had a child since we looked; false if some would not
/// die.
pub(crate) async fn end(find: impl Fn() -> BTreeSet<u32>) -> bool {
    for _ in 0..ROUNDS {
        let alive = find();
        if alive.is_empty() {
            return true;
        }
        alive.into_iter().for_each(kill);
        tokio::time::sleep(BETWEEN_ROUNDS).await;
    }
    false
}

fn kill(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, Signal::KILL);
    }
}

fn all(variable: &str, value: &OsStr) -> Vec<Process> {
    let wanted = [variable.as_bytes(), b"=", value.as_bytes()].concat();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| look_at(id, &wanted)).collect()
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
