//! Moves a branch together with the working tree that has it checked out.
//!
//! The branch moves first, by compare-and-swap; the files follow. A crash in between leaves a branch whose last
//! reflog entry is ours and an index that still holds the commit before: that state is recognised and finished.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::worktrees::Registered;
use super::{Branch, CommitId, GitError, Repository, worktrees};

/// How our entries in a reflog begin.
const OURS: &str = "muster: ";

/// Uncommitted content that had to give way. It is kept in the repository: `git cat-file blob <hash>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The file, from the top of the worktree.
    pub path: String,
    /// Where its content is.
    pub blob: String,
}

impl Repository {
    /// Moves a branch from `old` to `new`, and the files with it. Refuses before anything is changed if uncommitted
    /// work is in the way.
    pub(super) async fn advance(
        &self,
        branch: &Branch,
        place: Option<&Registered>,
        (old, new): (&CommitId, &CommitId),
        why: &str,
    ) -> Result<Vec<SetAside>, GitError> {
        if let Some(place) = place {
            self.check_nothing_in_the_way(&place.path, old, new).await?;
        }
        let why = format!("{OURS}{why}");
        let update = ["update-ref", "-m", &why, &branch.reference(), new.as_str(), old.as_str()];
        let updated = self.git(update).run().await?;
        if !updated.succeeded() {
            let moved = self.find_branch(branch).await?.as_ref() != Some(old);
            return Err(match moved {
                true => GitError::Moved(branch.to_string()),
                false => super::command::failed("update-ref".to_owned(), updated),
            });
        }
        match place {
            Some(place) => self.bring_along(&place.path, old, new).await,
            None => Ok(Vec::new()),
        }
    }

    /// Finishes what a crash cut short after the branch had moved.
    pub(super) async fn finish_cut_short(&self, branch: &Branch, place: &Path) -> Result<Vec<SetAside>, GitError> {
        let args = ["log", "--walk-reflogs", "-n", "2", "--format=%H %gs", &branch.reference(), "--"];
        let entries = self.git(args).text().await?;
        let mut entries = entries.lines().filter_map(|it| it.split_once(' '));
        match (entries.next(), entries.next()) {
            (Some((new, why)), Some((old, _))) if why.starts_with(OURS) => {
                self.bring_along(place, &CommitId::new(old)?, &CommitId::new(new)?).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Ends a merge that somebody began in a worktree, keeping what they had typed.
    pub(super) async fn abort_merge(&self, folder: &Path) -> Result<Vec<SetAside>, GitError> {
        match worktrees::unfinished(folder) {
            None => return Ok(Vec::new()),
            Some("merge") => {}
            Some(what) => return Err(GitError::Unfinished { folder: folder.to_path_buf(), what }),
        }
        let changed = self.uncommitted(folder).await?;
        let aside = self.set_aside(folder, &changed, &BTreeSet::new()).await?;
        if !self.git_in(folder, ["merge", "--abort"]).run().await?.succeeded() {
            // Git would rather not touch what was typed on top of the merge; that is kept by now.
            self.git_in(folder, ["reset", "--quiet", "--hard"]).output().await?;
        }
        Ok(aside)
    }

    async fn check_nothing_in_the_way(&self, folder: &Path, old: &CommitId, new: &CommitId) -> Result<(), GitError> {
        self.refresh(folder).await?;
        let trial = ["read-tree", "-m", "-u", "--dry-run", old.as_str(), new.as_str()];
        if self.git_in(folder, trial).run().await?.succeeded() {
            return Ok(());
        }
        let changed: BTreeSet<String> = self.changed(old, new).await?.into_iter().collect();
        let dirty = self.uncommitted(folder).await?;
        let mut files: Vec<String> = dirty.iter().filter(|it| changed.contains(*it)).cloned().collect();
        if files.is_empty() {
            // A folder where a file should be, or an ignored file.
            files = if dirty.is_empty() { changed.into_iter().collect() } else { dirty };
        }
        Err(GitError::Uncommitted { folder: folder.to_path_buf(), files })
    }

    /// Makes the files of `old` those of `new`, where the branch is at `new` already.
    async fn bring_along(&self, folder: &Path, old: &CommitId, new: &CommitId) -> Result<Vec<SetAside>, GitError> {
        let changed = self.changed(old, new).await?;
        if changed.is_empty() || !self.index_holds(folder, old, &changed).await? {
            return Ok(Vec::new());
        }
        self.refresh(folder).await?;
        let follow = ["read-tree", "-m", "-u", old.as_str(), new.as_str()];
        if self.git_in(folder, follow).run().await?.succeeded() {
            return Ok(Vec::new());
        }
        // Some files were written before the crash, one perhaps by half.
        let mut known = self.blobs(old, &changed).await?;
        known.extend(self.blobs(new, &changed).await?);
        let aside = self.set_aside(folder, &changed, &known).await?;
        let source = format!("--source={new}");
        let restore = ["restore", &source, "--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.git_in(folder, restore).stdin(changed.join("\0")).output().await?;
        Ok(aside)
    }

    async fn refresh(&self, folder: &Path) -> Result<(), GitError> {
        // Ends with 1 where files differ, which is no failure here.
        self.git_in(folder, ["update-index", "-q", "--refresh"]).run().await.map(|_| ())
    }

    async fn changed(&self, old: &CommitId, new: &CommitId) -> Result<Vec<String>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", old.as_str(), new.as_str()];
        self.git(args).paths().await
    }

    /// Whether none of some files is staged other than a commit has it.
    async fn index_holds(&self, folder: &Path, commit: &CommitId, files: &[String]) -> Result<bool, GitError> {
        let args = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", commit.as_str(), "--"];
        let differing: BTreeSet<String> = self.git_in(folder, args).paths().await?.into_iter().collect();
        Ok(!files.iter().any(|it| differing.contains(it)))
    }

    pub(super) async fn blobs(&self, commit: &CommitId, files: &[String]) -> Result<BTreeSet<String>, GitError> {
        let listed = self.git(["ls-tree", "-r", "-z", commit.as_str()]).paths().await?;
        let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let mine = |entry: &String| {
            let (what, path) = entry.split_once('\t')?;
            files.contains(path).then(|| what.split(' ').nth(2).map(str::to_owned))?
        };
        Ok(listed.iter().filter_map(mine).collect())
    }

    /// Keeps the content of files in the repository, except what it holds anyway.
    pub(super) async fn set_aside(
        &self,
        folder: &Path,
        files: &[String],
        known: &BTreeSet<String>,
    ) -> Result<Vec<SetAside>, GitError> {
        let mut aside = Vec::new();
        for path in files {
            let file: PathBuf = folder.join(path);
            if !file.symlink_metadata().is_ok_and(|it| it.is_file()) {
                continue;
            }
            let blob = self.git_in(folder, ["hash-object", "-w", "--"]).arg(path).text().await?;
            if !known.contains(&blob) {
                aside.push(SetAside { path: path.clone(), blob });
            }
        }
        Ok(aside)
    }
}
