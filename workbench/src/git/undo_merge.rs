//! Takes a merge back while nothing has been built upon it.

use super::{Branch, CommitId, GitError, Repository, SetAside};

/// A merge that is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// What the branch is at.
    pub head: CommitId,
    /// Whether an earlier call had undone it.
    pub already: bool,
    /// Uncommitted content that had to give way to finish what was cut short.
    pub set_aside: Vec<SetAside>,
}

impl Repository {
    /// Puts a branch back to where it was before a merge, if that merge is still its tip.
    pub async fn undo_merge(&self, into: &Branch, merge: &CommitId) -> Result<Undone, GitError> {
        let _turn = self.turn().await;
        if !self.has_commit(merge).await? {
            return Err(GitError::NoSuchCommit(merge.to_string()));
        }
        let parents = self.parents(merge).await?;
        let [before, _, ..] = parents.as_slice() else { return Err(GitError::NotAMerge(merge.clone())) };
        let tip = self.head(into).await?;
        let place = self.checked_out(into).await?;
        let mut set_aside = match &place {
            Some(place) => self.finish_cut_short(into, &place.path).await?,
            None => Vec::new(),
        };
        if tip == *before {
            return Ok(Undone { head: tip, already: true, set_aside });
        }
        if tip != *merge {
            return Err(GitError::NotTheTip { branch: into.to_string(), tip });
        }
        set_aside.extend(self.advance(into, place.as_ref(), (merge, before), "undo a merge").await?);
        Ok(Undone { head: before.clone(), already: false, set_aside })
    }
}
