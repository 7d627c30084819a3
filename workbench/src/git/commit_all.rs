//! Commits what an agent left uncommitted.

use super::{CommitId, Folder, GitError, Repository, worktrees};

impl Repository {
    /// Commits everything in a worktree, if there is anything. A crash between staging and committing changes nothing
    /// about that: what is staged is still to be committed.
    pub async fn commit_all(&self, folder: &Folder, message: &str) -> Result<Option<CommitId>, GitError> {
        let _turn = self.turn().await;
        let path = self.at_work(folder).await?;
        if let Some(what) = worktrees::unfinished(&path) {
            // The files may hold conflict markers.
            return Err(GitError::Unfinished { folder: path, what });
        }
        if !self.git_in(&path, ["symbolic-ref", "--quiet", "HEAD"]).says_yes().await? {
            // A commit that no branch leads to would be lost.
            return Err(GitError::OtherBranch { folder: path, expected: "a branch".to_owned(), found: None });
        }
        self.git_in(&path, ["add", "--all"]).output().await?;
        if self.git_in(&path, ["diff", "--cached", "--quiet", "--no-ext-diff"]).says_yes().await? {
            return Ok(None);
        }
        let commit = ["commit", "--quiet", "--no-verify", "--allow-empty-message", "--cleanup=whitespace", "--file=-"];
        // Without input git would read ours.
        let message = if message.is_empty() { "\n" } else { message };
        self.git_in(&path, commit).stdin(message).output().await?;
        self.git_in(&path, ["rev-parse", "HEAD"]).commit().await.map(Some)
    }
}
