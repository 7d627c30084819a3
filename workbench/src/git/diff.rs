//! What a branch adds to another since they parted.

use super::{Branch, CommitId, GitError, Repository};

/// A diff from the merge base, as `git diff base...branch` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The text, up to the limit; cut at the end of a line.
    pub diff: String,
    /// Whether the text was cut. The numbers are always of the whole.
    pub truncated: bool,
    /// Files that differ, binary ones included.
    pub files_changed: u64,
    /// Lines that came.
    pub insertions: u64,
    /// Lines that went.
    pub deletions: u64,
}

impl Repository {
    /// Compares a branch with the point where it left another.
    pub async fn diff(&self, base: &Branch, branch: &Branch) -> Result<Diff, GitError> {
        // By hash, so that the numbers and the text are of the same commits.
        self.diff_of_commit(base, &self.head(branch).await?).await
    }

    /// Compares a commit with the point where it left a branch.
    pub async fn diff_of_commit(&self, base: &Branch, new: &CommitId) -> Result<Diff, GitError> {
        if !self.has_commit(new).await? {
            return Err(GitError::NoSuchCommit(new.to_string()));
        }
        let old = self.head(base).await?;
        let found = self.git(["merge-base", old.as_str(), new.as_str()]).run().await?;
        if found.code == Some(1) {
            return Err(GitError::Unrelated(base.to_string(), new.to_string()));
        }
        let parted = CommitId::new(&found.text())?;
        let common = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"];
        let what = [parted.as_str(), new.as_str(), "--"];
        let counted = self.git(common).arg("--shortstat").args(what).text().await?;
        let text = self.git(common).args(what).most_stdout(self.limits.diff_bytes).output().await?;
        let mut diff = String::from_utf8_lossy(&text.stdout).into_owned();
        if text.truncated {
            diff.truncate(diff.rfind('\n').map_or(0, |it| it + 1));
        }
        Ok(Diff {
            diff,
            truncated: text.truncated,
            files_changed: number_before(&counted, "file"),
            insertions: number_before(&counted, "insertion"),
            deletions: number_before(&counted, "deletion"),
        })
    }
}

/// From ` 3 files changed, 2 insertions(+), 1 deletion(-)`; what is zero is left out there.
fn number_before(counted: &str, word: &str) -> u64 {
    counted
        .split(',')
        .filter_map(|it| it.trim().split_once(' '))
        .find(|(_, what)| what.starts_with(word))
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(0)
}
