//! Makes a worktree, or makes whole what is there of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::worktrees::{Registered, git_dir, same_place};
use super::{Branch, CommitId, Folder, GitError, Repository};

/// A worktree that is ready to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnsuredWorktree {
    /// Where it is.
    pub path: PathBuf,
    /// What its branch is at.
    pub head: CommitId,
    /// What there was of the branch: never [`Found::Half`].
    pub branch: Found,
    /// What there was of the worktree.
    pub worktree: Found,
    /// A folder that stood in the way and that git knew nothing of; it was moved here, whole.
    pub set_aside: Option<PathBuf>,
}

/// What there was before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing: it is new.
    Nothing,
    /// A part: it was repaired.
    Half,
    /// All of it: nothing was done.
    Whole,
}

impl Repository {
    /// Sees to it that `branch` exists (begun at `from` if it is new) and is checked out in `folder`.
    pub async fn ensure_worktree(
        &self,
        branch: &Branch,
        folder: &Folder,
        from: &Branch,
    ) -> Result<EnsuredWorktree, GitError> {
        let _turn = self.turn().await;
        let path = self.path_of(folder);
        let had_branch = self.ensure_branch(branch, from).await?;
        let elsewhere = self.registered().await?.into_iter().find(|it| {
            it.branch.as_deref() == Some(branch.as_str()) && !same_place(&it.path, &path) && it.path.is_dir()
        });
        if let Some(it) = elsewhere {
            return Err(GitError::CheckedOutElsewhere { branch: branch.to_string(), folder: it.path });
        }
        let (mut worktree, set_aside) = match self.registered_at(&path).await? {
            Some(it) => (self.repair(&it, &path).await?, None),
            None => (Found::Nothing, set_aside_unknown(&path)?),
        };
        let kept = worktree == Found::Whole || (worktree == Found::Half && git_dir(&path).is_some());
        if kept {
            if self.end_cut_short_rebase(&path).await? {
                worktree = Found::Half;
            }
            let found = self.registered_at(&path).await?.and_then(|it| it.branch);
            if found.as_deref() != Some(branch.as_str()) {
                return Err(GitError::OtherBranch { folder: path, expected: branch.to_string(), found });
            }
        } else {
            self.add(&path, branch).await?;
        }
        let worktree = if set_aside.is_some() { Found::Half } else { worktree };
        Ok(EnsuredWorktree { head: self.head(branch).await?, path, branch: had_branch, worktree, set_aside })
    }

    async fn ensure_branch(&self, branch: &Branch, from: &Branch) -> Result<Found, GitError> {
        if self.find_branch(branch).await?.is_some() {
            return Ok(Found::Whole);
        }
        let start = self.head(from).await?;
        self.git(["branch", "--no-track", branch.as_str(), start.as_str()]).output().await?;
        Ok(Found::Nothing)
    }

    async fn add(&self, path: &Path, branch: &Branch) -> Result<(), GitError> {
        fs::create_dir_all(&self.worktrees).map_err(|source| GitError::Io { path: self.worktrees.clone(), source })?;
        self.git(["worktree", "add", "--quiet"]).arg(path).arg(branch.as_str()).output().await.map(|_| ())
    }

    /// Makes a registered worktree whole, or clears it away where nobody can have worked in it yet.
    async fn repair(&self, it: &Registered, path: &Path) -> Result<Found, GitError> {
        // Git's own mark on a worktree whose making was cut short.
        let half_made = it.locked.as_deref() == Some("initializing");
        if half_made || !path.exists() {
            tracing::warn!(worktree = %path.display(), half_made, "clearing away what is left of a worktree");
            self.unregister(path).await?;
            return Ok(Found::Half);
        }
        if self.is_whole(path).await? {
            return Ok(Found::Whole);
        }
        // The link back to the repository is broken; the files and the index are not.
        tracing::warn!(worktree = %path.display(), "repairing the link of a worktree");
        let dot_git = path.join(".git");
        if dot_git.is_file() {
            fs::remove_file(&dot_git).map_err(|source| GitError::Io { path: dot_git.clone(), source })?;
        }
        // Without a path: with one, git would also look for a link from there.
        self.git(["worktree", "repair"]).output().await?;
        Ok(Found::Half)
    }

    /// Whether a folder and the repository know of each other.
    pub(super) async fn is_whole(&self, path: &Path) -> Result<bool, GitError> {
        if git_dir(path).is_none() {
            return Ok(false);
        }
        let asked = self.git_in(path, ["rev-parse", "--show-toplevel"]).run().await?;
        Ok(asked.succeeded() && same_place(Path::new(&asked.text()), path))
    }

    /// Removes folder and registration, whatever there is of them.
    pub(super) async fn unregister(&self, path: &Path) -> Result<(), GitError> {
        let removed = self.git(["worktree", "remove", "--force", "--force"]).arg(path).run().await?;
        if removed.succeeded() {
            return Ok(());
        }
        // Git leaves a folder alone that does not link back to it.
        if path.exists() {
            fs::remove_dir_all(path).map_err(|source| GitError::Io { path: path.to_path_buf(), source })?;
        }
        self.git(["worktree", "remove", "--force", "--force"]).arg(path).output().await.map(|_| ())
    }
}

/// Moves a folder away that git knows nothing of; an empty one does no harm.
fn set_aside_unknown(path: &Path) -> Result<Option<PathBuf>, GitError> {
    let failed = |source| GitError::Io { path: path.to_path_buf(), source };
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    if path.is_dir() && fs::read_dir(path).map_err(failed)?.next().is_none() {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..).map(|it| path.with_file_name(format!("{name}.aside-{it}"))).find(|it| !it.exists());
    let Some(aside) = free else { return Ok(None) };
    fs::rename(path, &aside).map_err(failed)?;
    tracing::warn!(folder = %path.display(), aside = %aside.display(), "a folder that git knows nothing of was moved away");
    Ok(Some(aside))
}
