//! Merges a branch into another, once.

use super::can_merge::Trial;
use super::{Branch, CommitId, GitError, Repository, SetAside, Trailer};

/// How often a branch may move under us before we give up.
const ATTEMPTS: usize = 5;

/// What to merge.
#[derive(Debug, Clone, Copy)]
pub struct Merge<'a> {
    /// The branch that is merged.
    pub from: &'a Branch,
    /// The commit of it that was reviewed. Without one it is what the branch is at now.
    pub at: Option<&'a CommitId>,
    /// The branch that gets it. If a worktree, or the base itself, has it checked out, its files follow.
    pub into: &'a Branch,
    /// What the merge commit says, without the trailer.
    pub message: &'a str,
    /// How the merge commit is found again.
    pub trailer: &'a Trailer,
    /// What `into` was at when the caller looked at it; anything else is not merged upon. A forge of its own does not
    /// know of it.
    pub onto: Option<&'a CommitId>,
}

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// `into` holds `from`.
    Merged {
        /// The merge commit; with [`How::NothingNew`] the tip of `into`.
        commit: CommitId,
        /// Where it came from.
        how: How,
        /// Uncommitted content that had to give way to finish or abort what was cut short.
        set_aside: Vec<SetAside>,
    },
    /// They do not go together. Nothing was changed.
    Conflict {
        /// The files that differ in both.
        files: Vec<String>,
    },
}

/// Where a merge commit came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was made by this call.
    Made,
    /// An earlier call made it, as its trailer says.
    FoundByTrailer,
    /// Somebody merged the branch without us.
    FoundByHistory,
    /// The branch has nothing that `into` did not have all along.
    NothingNew,
}

impl Repository {
    /// Merges with a merge commit, always. A repeated call finds the commit that the first one made.
    pub async fn merge(&self, merge: &Merge<'_>) -> Result<MergeOutcome, GitError> {
        let _turn = self.turn().await;
        let theirs = match merge.at {
            Some(at) if self.has_commit(at).await? => at.clone(),
            Some(at) => return Err(GitError::NoSuchCommit(at.to_string())),
            None => self.head(merge.from).await?,
        };
        let mut set_aside = Vec::new();
        for _ in 0..ATTEMPTS {
            let ours = self.head(merge.into).await?;
            if merge.onto.is_some_and(|it| *it != ours) {
                return Err(GitError::Moved(merge.into.to_string()));
            }
            let place = self.checked_out(merge.into).await?;
            if let Some(place) = &place {
                set_aside.extend(self.abort_merge(&place.path).await?);
                set_aside.extend(self.finish_cut_short(merge.into, &place.path).await?);
            }
            if self.is_ancestor(&theirs, &ours).await? {
                let (commit, how) = self.what_brought(&theirs, &ours, merge.trailer).await?;
                return Ok(MergeOutcome::Merged { commit, how, set_aside });
            }
            let tree = match self.try_merge(&ours, &theirs).await? {
                Trial::Tree(tree) => tree,
                Trial::Conflict(files) => return Ok(MergeOutcome::Conflict { files }),
            };
            let args = ["commit-tree", &tree, "-p", ours.as_str(), "-p", theirs.as_str(), "-F", "-"];
            let commit = self.git(args).stdin(merge.trailer.under(merge.message)).commit().await?;
            let why = format!("merge {}", merge.from);
            match self.advance(merge.into, place.as_ref(), (&ours, &commit), &why).await {
                Err(GitError::Moved(_)) => {}
                Err(error) => return Err(error),
                Ok(more) => {
                    set_aside.extend(more);
                    return Ok(MergeOutcome::Merged { commit, how: How::Made, set_aside });
                }
            }
        }
        Err(GitError::Moved(merge.into.to_string()))
    }

    /// The merge of a branch that carries a trailer, if there is one.
    pub async fn find_merge(&self, into: &Branch, trailer: &Trailer) -> Result<Option<CommitId>, GitError> {
        let tip = self.head(into).await?;
        Ok(self.merges_with(&tip, trailer).await?.into_iter().next())
    }

    /// What a merge says that it was for, under a trailer's key; nothing if the commit is no merge or does not say.
    pub async fn merged_for(&self, commit: &CommitId, key: &str) -> Result<Option<String>, GitError> {
        let format = format!("--format=%(trailers:key={key},valueonly=true,separator=%x00)");
        let said = self.git(["log", "--no-walk", "--merges", &format, commit.as_str(), "--"]).text().await?;
        Ok(said.rsplit('\0').next().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned))
    }

    async fn what_brought(
        &self,
        theirs: &CommitId,
        tip: &CommitId,
        trailer: &Trailer,
    ) -> Result<(CommitId, How), GitError> {
        for commit in self.merges_with(tip, trailer).await? {
            if self.is_ancestor(theirs, &commit).await? {
                return Ok((commit, How::FoundByTrailer));
            }
        }
        let range = format!("{theirs}..{tip}");
        let line = self.git(["rev-list", "--first-parent", &range]).text().await?;
        let after = self.git(["rev-list", "--ancestry-path", &range]).text().await?;
        let after: std::collections::BTreeSet<&str> = after.lines().collect();
        if let Some(first) = line.lines().rfind(|it| after.contains(it)) {
            let first = CommitId::new(first)?;
            if let [before, _, ..] = self.parents(&first).await?.as_slice()
                && !self.is_ancestor(theirs, before).await?
            {
                return Ok((first, How::FoundByHistory));
            }
        }
        Ok((tip.clone(), How::NothingNew))
    }

    /// Newest first.
    async fn merges_with(&self, tip: &CommitId, trailer: &Trailer) -> Result<Vec<CommitId>, GitError> {
        let grep = format!("--grep={trailer}");
        let format = format!("--format=%H %(trailers:key={},valueonly=true,separator=%x00)", trailer.key());
        let args = ["log", "--first-parent", "--merges", "--fixed-strings", &grep, &format, tip.as_str(), "--"];
        let found = self.git(args).text().await?;
        let mine = |line: &str| {
            let (commit, values) = line.split_once(' ')?;
            values.split('\0').any(|it| it.trim() == trailer.value()).then(|| commit.to_owned())
        };
        found.lines().filter_map(mine).map(|it| CommitId::new(&it)).collect()
    }
}
