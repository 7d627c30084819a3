//! Puts a worktree's branch on top of another, or leaves it exactly as it was.

use std::collections::BTreeSet;
use std::path::Path;

use super::lock::{self, Patience};
use super::worktrees::unfinished;
use super::{Branch, CommitId, Folder, GitError, Repository};
use crate::child::Finished;

/// How entries of our rebases in a reflog begin; other than those of moves that are finished file by file.
const OURS: &str = "muster rebase";
/// So many moves back a rebase may have begun.
const MOST_MOVES: &str = "10000";

/// How a rebase ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebaseOutcome {
    /// The branch stands on the other one.
    Done {
        /// What it is at now.
        head: CommitId,
    },
    /// It could not be put there, and is where it was.
    Conflict {
        /// The files of the first commit that did not fit.
        files: Vec<String>,
    },
}

impl Repository {
    /// Rebases what is committed in a worktree. A rebase that was cut short is aborted first.
    pub async fn rebase(&self, folder: &Folder, onto: &Branch) -> Result<RebaseOutcome, GitError> {
        let _turn = self.turn().await;
        let path = self.at_work(folder).await?;
        let onto = self.head(onto).await?;
        match unfinished(&path) {
            Some("rebase") => self.abort_rebase(&path).await?,
            Some(what) => return Err(GitError::Unfinished { folder: path, what }),
            None => {}
        }
        let before = self.git_in(&path, ["rev-parse", "HEAD"]).commit().await?;
        let on_branch = self.git_in(&path, ["symbolic-ref", "--quiet", "HEAD"]).run().await?;
        if !on_branch.succeeded() {
            return Err(GitError::OtherBranch { folder: path, expected: "a branch".to_owned(), found: None });
        }
        self.check_committed(&path).await?;
        if self.is_ancestor(&onto, &before).await? {
            return Ok(RebaseOutcome::Done { head: before });
        }
        let rebased = match self.rebase_past_locks(&path, &onto).await {
            Ok(rebased) => rebased,
            Err(error) => {
                // It took too long and was killed, or a lock stayed: nobody is to find it half done.
                if let Err(left) = self.abort_begun(&path).await {
                    tracing::warn!(worktree = %path.display(), error = %left, "a rebase stays half done until the next");
                }
                return Err(error);
            }
        };
        if rebased.succeeded() {
            return Ok(RebaseOutcome::Done { head: self.git_in(&path, ["rev-parse", "HEAD"]).commit().await? });
        }
        let conflicts = ["diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff"];
        let mut files = self.git_in(&path, conflicts).paths().await?;
        self.abort_begun(&path).await?;
        if files.is_empty() {
            // New files where the other branch has some: git says so and lists them.
            let in_the_way = self.uncommitted(&path).await?;
            return Err(if in_the_way.is_empty() {
                super::command::failed("rebase".to_owned(), rebased)
            } else {
                GitError::Uncommitted { folder: path, files: in_the_way }
            });
        }
        files.sort();
        files.dedup();
        Ok(RebaseOutcome::Conflict { files })
    }

    /// However it ends. A rebase that met a lock file has begun, and what it began is in the way of the next try.
    async fn rebase_past_locks(&self, path: &Path, onto: &CommitId) -> Result<Finished, GitError> {
        let args = [
            "rebase",
            "--quiet",
            "--no-autostash",
            "--no-autosquash",
            "--no-verify",
            "--no-gpg-sign",
            "--no-fork-point",
        ];
        let rebase = self.git_in(path, args).arg("--no-rerere-autoupdate").arg(onto.as_str());
        let rebase = rebase.env("GIT_REFLOG_ACTION", OURS);
        let patience = Patience::begin(self.limits.lock_patience);
        loop {
            let finished = rebase.once().await?;
            let Some(file) = lock::in_the_way(&finished) else { return Ok(finished) };
            patience.outlast(file).await?;
            self.abort_begun(path).await?;
        }
    }

    /// Aborts a rebase that was cut short in a worktree, if there is one: its branch is where it was before.
    pub async fn abort_cut_short_rebase(&self, folder: &Folder) -> Result<bool, GitError> {
        let _turn = self.turn().await;
        let path = self.at_work(folder).await?;
        self.abort_begun(&path).await
    }

    async fn abort_begun(&self, path: &Path) -> Result<bool, GitError> {
        match unfinished(path) {
            Some("rebase") => self.abort_rebase(path).await.map(|()| true),
            _ => Ok(false),
        }
    }

    /// Ends a rebase of ours that a crash cut short; says whether there was one. What somebody else began stays.
    pub(super) async fn end_cut_short_rebase(&self, path: &Path) -> Result<bool, GitError> {
        if unfinished(path) != Some("rebase") {
            return Ok(false);
        }
        // One that has not left the branch has nothing to lose, whosever it is.
        if !self.git_in(path, ["symbolic-ref", "--quiet", "HEAD"]).run().await?.succeeded() {
            let moves = ["log", "--walk-reflogs", "-n", MOST_MOVES, "--format=%gs", "HEAD", "--"];
            let moves = self.git_in(path, moves).text().await?;
            if !moves.lines().find(|it| it.contains(" (start)")).is_some_and(|it| it.starts_with(OURS)) {
                return Ok(false);
            }
        }
        tracing::warn!(worktree = %path.display(), "ending a rebase that was cut short");
        self.abort_rebase(path).await?;
        Ok(true)
    }

    async fn check_committed(&self, path: &Path) -> Result<(), GitError> {
        let args = ["status", "--porcelain", "-z", "--untracked-files=no", "--no-renames"];
        let changed = self.git_in(path, args).paths().await?;
        if changed.is_empty() {
            return Ok(());
        }
        let files = changed.into_iter().filter_map(|it| it.get(3..).map(str::to_owned)).collect();
        Err(GitError::Uncommitted { folder: path.to_path_buf(), files })
    }

    /// Git was killed between writing files and its index: it takes them for somebody's new ones and will not go back
    /// over them. Their content is kept in the repository and named in the log.
    async fn clear_half_written(&self, path: &Path) -> Result<(), GitError> {
        let notes = super::worktrees::git_dir(path).map(|it| it.join("rebase-merge/orig-head"));
        let Some(before) = notes.and_then(|it| std::fs::read_to_string(it).ok()) else { return Ok(()) };
        let before = CommitId::new(before.trim())?;
        let listed = self.git(["ls-tree", "-r", "-z", "--name-only", before.as_str()]).paths().await?;
        let committed: BTreeSet<String> = listed.into_iter().collect();
        let mut new = self.git_in(path, ["ls-files", "--others", "-z"]).paths().await?;
        new.retain(|it| committed.contains(it));
        let known = self.blobs(&before, &new).await?;
        for kept in self.set_aside(path, &new, &known).await? {
            tracing::warn!(
                file = kept.path,
                blob = kept.blob,
                "a file gave way to the end of a rebase that was cut short"
            );
        }
        for file in new.iter().map(|it| path.join(it)) {
            std::fs::remove_file(&file).map_err(|source| GitError::Io { path: file.clone(), source })?;
        }
        Ok(())
    }

    async fn abort_rebase(&self, path: &Path) -> Result<(), GitError> {
        let aborted = self.git_in(path, ["rebase", "--abort"]).run().await?;
        if aborted.succeeded() {
            return Ok(());
        }
        let on_branch = self.git_in(path, ["symbolic-ref", "--quiet", "HEAD"]).run().await?;
        if !on_branch.succeeded() {
            self.clear_half_written(path).await?;
            return self.git_in(path, ["rebase", "--abort"]).output().await.map(|_| ());
        }
        // Killed before it had left the branch: its notes are incomplete, and there is nothing to go back from.
        tracing::warn!(worktree = %path.display(), "removing the notes of a rebase that had not begun");
        let Some(state) = super::worktrees::git_dir(path) else {
            return Err(super::command::failed("rebase".to_owned(), aborted));
        };
        for notes in ["rebase-merge", "rebase-apply"].map(|it| state.join(it)) {
            if notes.exists() {
                std::fs::remove_dir_all(&notes).map_err(|source| GitError::Io { path: notes.clone(), source })?;
            }
        }
        Ok(())
    }
}
