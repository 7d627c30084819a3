//! Who waits for whom: turns within this process, git's lock files between processes, and nobody for the dead.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::{GitError, Repository};
use crate::child::Finished;
use crate::processes;

/// Marks every git of ours with the worktrees that it works for.
pub(super) const MARK: &str = "MUSTER_WORKTREES";

type Turns = tokio::sync::Mutex<()>;

static TURNS: LazyLock<Mutex<HashMap<PathBuf, Weak<Turns>>>> = LazyLock::new(Mutex::default);

/// Younger ones are given the benefit of the doubt: their owner may live where we cannot see it.
const YOUNGEST_LEFT_BEHIND: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// How long lock files of others are waited for, all of them together.
pub(super) struct Patience {
    since: Instant,
    most: Duration,
}

impl Patience {
    pub(super) fn begin(most: Duration) -> Self {
        Self { since: Instant::now(), most }
    }

    /// Removes a lock file that nobody holds any more, or gives whoever holds it some time. Then it is worth another
    /// try.
    pub(super) async fn outlast(&self, file: PathBuf) -> Result<(), GitError> {
        if is_left_behind(&file) {
            tracing::warn!(file = %file.display(), "removing a lock file that no process holds");
            return match fs::remove_file(&file) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    Err(GitError::Io { path: file, source })
                }
                _ => Ok(()),
            };
        }
        if self.since.elapsed() >= self.most {
            return Err(GitError::Locked(file));
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
        Ok(())
    }
}

impl Repository {
    /// Ends every git that another process of ours started for these worktrees and that may have outlived it: in the
    /// middle of a rebase it would go on beside us. For whoever has the worktrees to itself, before anything else.
    pub async fn end_left_behind(&self) -> Result<(), GitError> {
        let mark = self.worktrees.as_os_str();
        let found = processes::marked_elsewhere(MARK, mark);
        if found.is_empty() {
            return Ok(());
        }
        tracing::warn!(worktrees = %self.worktrees.display(), ?found, "ending what an earlier server left running");
        match processes::end(|| processes::marked_elsewhere(MARK, mark)).await {
            true => Ok(()),
            false => Err(GitError::Locked(self.worktrees.clone())),
        }
    }
}

/// The turns of a base repository, the same for everybody in this process.
pub(super) fn turns_of(base: &Path) -> Arc<Turns> {
    let key = base.canonicalize().unwrap_or_else(|_| base.to_path_buf());
    let mut all = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(turns) = all.get(&key).and_then(Weak::upgrade) {
        return turns;
    }
    all.retain(|_, it| it.strong_count() > 0);
    let turns = Arc::new(Turns::default());
    all.insert(key, Arc::downgrade(&turns));
    turns
}

/// The lock file for which a command gave up.
pub(super) fn in_the_way(finished: &Finished) -> Option<PathBuf> {
    if finished.succeeded() || !finished.stderr.contains(": File exists") {
        return None;
    }
    let (_, after) = finished.stderr.split_once("Unable to create '")?;
    let (path, _) = after.split_once("': File exists")?;
    path.ends_with(".lock").then(|| PathBuf::from(path))
}

/// Whether a lock file has outlived its owner: it is not new, nobody has it open, and no git runs that could be
/// between writing and renaming it.
fn is_left_behind(file: &Path) -> bool {
    let age = fs::metadata(file).and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
    age.is_some_and(|it| it >= YOUNGEST_LEFT_BEHIND) && !is_held(file)
}

fn is_held(file: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    processes.flatten().any(|process| {
        let process = process.path();
        let is_git = fs::read_to_string(process.join("comm")).is_ok_and(|it| it.starts_with("git"));
        is_git && may_hold(&process, &real)
    })
}

/// A git that works in the same repository, or that has the file open.
fn may_hold(process: &Path, file: &Path) -> bool {
    let works_near = fs::read_link(process.join("cwd")).is_ok_and(|folder| shares_repository(&folder, file));
    works_near
        || fs::read_dir(process.join("fd"))
            .is_ok_and(|open| open.flatten().any(|it| fs::read_link(it.path()).is_ok_and(|it| it == file)))
}

fn shares_repository(folder: &Path, file: &Path) -> bool {
    folder.ancestors().filter_map(super::worktrees::common_git_dir).any(|it| file.starts_with(it))
}
