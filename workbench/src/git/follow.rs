//! Takes over what a forge merged: fetches a branch and moves ours forward to it.

use super::{Branch, CommitId, GitError, RemoteAccess, Repository};

impl Repository {
    /// Fast-forwards a branch, and the files of its worktree, to what `origin` has.
    pub async fn follow(&self, branch: &Branch, access: &RemoteAccess) -> Result<CommitId, GitError> {
        let tracking = format!("refs/remotes/origin/{branch}");
        let what = format!("+{}:{tracking}", branch.reference());
        self.remote(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "origin", &what], access).await?;
        let theirs = self.resolve(&tracking).await?.ok_or_else(|| GitError::NoSuchBranch(branch.to_string()))?;
        let _turn = self.turn().await;
        let ours = self.head(branch).await?;
        let place = self.checked_out(branch).await?;
        if let Some(place) = &place {
            self.finish_cut_short(branch, &place.path).await?;
        }
        if self.is_ancestor(&theirs, &ours).await? {
            return Ok(ours);
        }
        if !self.is_ancestor(&ours, &theirs).await? {
            return Err(GitError::RemoteMoved { branch: branch.to_string(), remote: theirs });
        }
        self.advance(branch, place.as_ref(), (&ours, &theirs), "follow the remote").await?;
        Ok(theirs)
    }
}
