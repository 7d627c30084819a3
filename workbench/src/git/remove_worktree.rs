//! Takes a worktree away; its branch stays.

use std::fs;

use super::{Folder, GitError, Repository};

/// What to do with work that was never committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// Leave the worktree where it is.
    Refuse,
    /// Throw it away, and say what it was.
    Discard,
}

/// What was taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedWorktree {
    /// Whether there was anything.
    pub was_there: bool,
    /// Files whose uncommitted content is gone.
    pub discarded: Vec<String>,
}

impl Repository {
    /// Removes folder and registration, or what there is of them.
    pub async fn remove_worktree(&self, folder: &Folder, leftovers: Leftovers) -> Result<RemovedWorktree, GitError> {
        let _turn = self.turn().await;
        let path = self.path_of(folder);
        let registered = self.registered_at(&path).await?.is_some();
        let is_there = path.symlink_metadata().is_ok();
        let discarded = match (registered, is_there) {
            (false, false) => return Ok(RemovedWorktree { was_there: false, discarded: Vec::new() }),
            (true, true) if self.is_whole(&path).await? => self.uncommitted(&path).await?,
            (true, false) => Vec::new(),
            // Nobody can say what in it was committed.
            (_, true) => vec![".".to_owned()],
        };
        if !discarded.is_empty() && leftovers == Leftovers::Refuse {
            return Err(GitError::Uncommitted { folder: path, files: discarded });
        }
        if registered {
            self.unregister(&path).await?;
        } else if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).map_err(|source| GitError::Io { path: path.clone(), source })?;
        } else {
            fs::remove_file(&path).map_err(|source| GitError::Io { path: path.clone(), source })?;
        }
        Ok(RemovedWorktree { was_there: true, discarded })
    }
}
