//! Pull requests that are records of the caller: an address, and a real merge in the base repository.

use super::{ForgeError, Opened, Pull, PullState, PullStatus};
use crate::git::{Branch, Merge, MergeOutcome, Repository, Trailer};

const ADDRESS: &str = "muster://pull/";

/// The forge of a repository that has none. It keeps nothing: words and reviews are the caller's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl Local {
    pub(super) async fn open(&self, repository: &Repository, pull: &Pull<'_>) -> Result<Opened, ForgeError> {
        let url = format!("{ADDRESS}{}", pull.id);
        if !is_ours(&url) {
            return Err(ForgeError::BadId(pull.id.to_owned()));
        }
        // As a forge would, it refuses what it does not have.
        repository.head(pull.from).await?;
        repository.head(pull.into).await?;
        Ok(Opened { url, existed: false })
    }

    pub(super) fn update(&self, url: &str) -> Result<(), ForgeError> {
        check(url)
    }

    pub(super) async fn status(
        &self,
        repository: &Repository,
        url: &str,
        into: &Branch,
        trailer: &Trailer,
    ) -> Result<PullStatus, ForgeError> {
        check(url)?;
        let merge_commit = repository.find_merge(into, trailer).await?;
        let state = if merge_commit.is_some() { PullState::Merged } else { PullState::Open };
        Ok(PullStatus { state, review: None, merge_commit })
    }

    pub(super) async fn merge(
        &self,
        repository: &Repository,
        url: &str,
        merge: &Merge<'_>,
    ) -> Result<MergeOutcome, ForgeError> {
        check(url)?;
        Ok(repository.merge(merge).await?)
    }
}

fn check(url: &str) -> Result<(), ForgeError> {
    if is_ours(url) { Ok(()) } else { Err(ForgeError::NotOurs(url.to_owned())) }
}

fn is_ours(url: &str) -> bool {
    let fits = |id: &str| !id.is_empty() && id.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it));
    url.strip_prefix(ADDRESS).is_some_and(fits)
}
