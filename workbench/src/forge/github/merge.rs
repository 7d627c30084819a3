//! Merges a pull request on GitHub and brings the result here.

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::super::ForgeError;
use super::Github;
use super::client::Question;
use crate::git::{CommitId, How, Merge, MergeOutcome, Repository};

#[derive(Deserialize)]
struct Merged {
    sha: String,
}

impl Github {
    pub(in super::super) async fn merge(
        &self,
        repository: &Repository,
        url: &str,
        merge: &Merge<'_>,
    ) -> Result<MergeOutcome, ForgeError> {
        let number = self.number(url)?.to_string();
        let (commit, how) = match self.details(&number).await?.merged_as()? {
            Some(commit) => (commit, How::FoundByHistory),
            None => self.merge_there(repository, &number, merge).await?,
        };
        // Also after a crash between the merge there and this.
        repository.follow(merge.into, &self.access(repository).await?).await?;
        Ok(MergeOutcome::Merged { commit, how, set_aside: Vec::new() })
    }

    async fn merge_there(
        &self,
        repository: &Repository,
        number: &str,
        merge: &Merge<'_>,
    ) -> Result<(CommitId, How), ForgeError> {
        let reviewed = match merge.at {
            Some(at) => at.clone(),
            None => repository.head(merge.from).await?,
        };
        let message = merge.trailer.under(merge.message);
        let (title, rest) = message.split_once('\n').unwrap_or((&message, ""));
        let body = json!({
            "merge_method": "merge", "sha": reviewed.as_str(), "commit_title": title, "commit_message": rest.trim(),
        });
        let path = ["pulls", number, "merge"];
        let question = Question { method: Method::PUT, path: &path, query: &[], body: Some(body) };
        let answer = self.ask(&question).await?;
        if answer.status == StatusCode::METHOD_NOT_ALLOWED || answer.status == StatusCode::CONFLICT {
            // An attempt whose answer was lost may have done it.
            return match self.details(number).await?.merged_as()? {
                Some(commit) => Ok((commit, How::FoundByHistory)),
                None => Err(answer.refusal()),
            };
        }
        let merged: Merged = answer.expect()?;
        Ok((CommitId::new(&merged.sha)?, How::Made))
    }
}
