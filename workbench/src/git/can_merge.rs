//! Tries a merge without touching a branch or a file.

use super::command::{failed, split_paths};
use super::{Branch, CommitId, GitError, Repository};

/// Whether two branches go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mergeability {
    /// They do.
    Clean,
    /// They do not, because of these files.
    Conflict {
        /// Sorted.
        files: Vec<String>,
    },
}

/// What a merge would make.
pub(super) enum Trial {
    Tree(String),
    Conflict(Vec<String>),
}

impl Repository {
    /// Whether `from` could be merged into `into` right now.
    pub async fn can_merge(&self, from: &Branch, into: &Branch) -> Result<Mergeability, GitError> {
        self.can_merge_commit(&self.head(from).await?, into).await
    }

    /// Whether a commit could be merged into a branch right now.
    pub async fn can_merge_commit(&self, theirs: &CommitId, into: &Branch) -> Result<Mergeability, GitError> {
        let ours = self.head(into).await?;
        Ok(match self.try_merge(&ours, theirs).await? {
            Trial::Tree(_) => Mergeability::Clean,
            Trial::Conflict(files) => Mergeability::Conflict { files },
        })
    }

    pub(super) async fn try_merge(&self, ours: &CommitId, theirs: &CommitId) -> Result<Trial, GitError> {
        let args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours.as_str(), theirs.as_str()];
        let finished = self.git(args).run().await?;
        if finished.stderr.contains("unrelated histories") {
            return Err(GitError::Unrelated(ours.to_string(), theirs.to_string()));
        }
        let mut said = split_paths(&finished.stdout).into_iter();
        match (finished.code, said.next()) {
            (Some(0), Some(tree)) => Ok(Trial::Tree(tree)),
            (Some(1), Some(_)) => {
                let mut files: Vec<String> = said.collect();
                files.sort();
                files.dedup();
                Ok(Trial::Conflict(files))
            }
            _ => Err(failed("merge-tree".to_owned(), finished)),
        }
    }
}
