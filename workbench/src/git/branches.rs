//! Where branches are and what they hold.

use super::{Branch, CommitId, GitError, Repository};

impl Repository {
    /// The commit a branch is at.
    pub async fn head(&self, branch: &Branch) -> Result<CommitId, GitError> {
        self.find_branch(branch).await?.ok_or_else(|| GitError::NoSuchBranch(branch.to_string()))
    }

    /// Whether a branch holds a commit. A commit that nobody here has seen is in no branch.
    pub async fn contains(&self, branch: &Branch, commit: &CommitId) -> Result<bool, GitError> {
        let head = self.head(branch).await?;
        Ok(self.has_commit(commit).await? && self.is_ancestor(commit, &head).await?)
    }

    pub(super) async fn find_branch(&self, branch: &Branch) -> Result<Option<CommitId>, GitError> {
        self.resolve(&branch.reference()).await
    }

    /// The commit that a full reference leads to.
    pub(super) async fn resolve(&self, reference: &str) -> Result<Option<CommitId>, GitError> {
        let name = format!("{reference}^{{commit}}");
        let found = self.git(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).run().await?;
        match found.code {
            Some(0) => CommitId::new(&found.text()).map(Some),
            Some(1) => Ok(None),
            _ => Err(super::command::failed("rev-parse".to_owned(), found)),
        }
    }

    pub(super) async fn has_commit(&self, commit: &CommitId) -> Result<bool, GitError> {
        Ok(self.resolve(commit.as_str()).await?.is_some())
    }

    pub(super) async fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, GitError> {
        self.git(["merge-base", "--is-ancestor", older.as_str(), newer.as_str()]).says_yes().await
    }

    pub(super) async fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let listed = self.git(["rev-list", "--parents", "-n", "1", commit.as_str()]).text().await?;
        listed.split_whitespace().skip(1).map(CommitId::new).collect()
    }
}
