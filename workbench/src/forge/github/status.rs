//! Looks what has become of a pull request.

use std::collections::BTreeMap;

use reqwest::Method;
use serde::Deserialize;

use super::super::{ForgeError, PullState, PullStatus, Review};
use super::Github;
use super::client::Question;
use crate::git::CommitId;

/// Ten pages of a hundred; whoever has reviewed more often has not been read.
const MOST_PAGES: u32 = 10;
const PAGE: usize = 100;

#[derive(Deserialize)]
pub(super) struct Details {
    state: String,
    #[serde(default)]
    merged: bool,
    merge_commit_sha: Option<String>,
}

#[derive(Deserialize)]
struct GivenReview {
    user: Option<Reviewer>,
    state: String,
}

#[derive(Deserialize)]
struct Reviewer {
    login: String,
}

impl Github {
    pub(in super::super) async fn status(&self, url: &str) -> Result<PullStatus, ForgeError> {
        let number = self.number(url)?.to_string();
        let details = self.details(&number).await?;
        let state = match (details.merged, details.state.as_str()) {
            (true, _) => PullState::Merged,
            (false, "open") => PullState::Open,
            (false, _) => PullState::Closed,
        };
        Ok(PullStatus { state, review: Some(self.review(&number).await?), merge_commit: details.merged_as()? })
    }

    pub(super) async fn details(&self, number: &str) -> Result<Details, ForgeError> {
        let question = Question { method: Method::GET, path: &["pulls", number], query: &[], body: None };
        self.ask(&question).await?.expect()
    }

    async fn review(&self, number: &str) -> Result<Review, ForgeError> {
        let mut last_words: BTreeMap<String, Review> = BTreeMap::new();
        for page in 1..=MOST_PAGES {
            let (page, size) = (page.to_string(), PAGE.to_string());
            let query = [("per_page", size.as_str()), ("page", page.as_str())];
            let path = ["pulls", number, "reviews"];
            let question = Question { method: Method::GET, path: &path, query: &query, body: None };
            let given: Vec<GivenReview> = self.ask(&question).await?.expect()?;
            let was_full = given.len() == PAGE;
            for review in given {
                let who = review.user.map(|it| it.login).unwrap_or_default();
                match review.state.as_str() {
                    "APPROVED" => last_words.insert(who, Review::Approved),
                    "CHANGES_REQUESTED" => last_words.insert(who, Review::ChangesRequested),
                    "DISMISSED" => last_words.remove(&who),
                    // A comment decides nothing.
                    _ => None,
                };
            }
            if !was_full {
                break;
            }
        }
        let said = |it: Review| last_words.values().any(|word| *word == it);
        Ok(match (said(Review::ChangesRequested), said(Review::Approved)) {
            (true, _) => Review::ChangesRequested,
            (false, true) => Review::Approved,
            (false, false) => Review::Pending,
        })
    }
}

impl Details {
    /// The merge commit. Before a merge GitHub names a trial there, which means nothing.
    pub(super) fn merged_as(&self) -> Result<Option<CommitId>, ForgeError> {
        match (self.merged, &self.merge_commit_sha) {
            (true, Some(commit)) => Ok(Some(CommitId::new(commit)?)),
            (true, None) => Err(ForgeError::BadAnswer("merged without a commit".to_owned())),
            (false, _) => Ok(None),
        }
    }
}
