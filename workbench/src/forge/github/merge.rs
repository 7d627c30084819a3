//! Merges a pull request on GitHub and brings the result here.

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::super::ForgeError;
use super::Github;
use super::client::Question;
use crate::git::{CommitId, How, Merge, MergeOutcome, Mergeability, Repository};

#[derive(Deserialize)]
struct Merged {
    sha: String,
}

/// How a merge over there ended.
enum There {
    Merged(CommitId, How),
    Refused(ForgeError),
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
            None => {
                let reviewed = match merge.at {
                    Some(at) => at.clone(),
                    None => repository.head(merge.from).await?,
                };
                match self.merge_there(&number, merge, &reviewed).await? {
                    There::Merged(commit, how) => (commit, how),
                    There::Refused(refusal) => return self.why_refused(repository, merge, &reviewed, refusal).await,
                }
            }
        };
        // Also after a crash between the merge there and this.
        repository.follow(merge.into, &self.access(repository).await?).await?;
        Ok(MergeOutcome::Merged { commit, how, set_aside: Vec::new() })
    }

    /// GitHub says no in the same words to a conflict and to everything else; the branches here know.
    async fn why_refused(
        &self,
        repository: &Repository,
        merge: &Merge<'_>,
        reviewed: &CommitId,
        refusal: ForgeError,
    ) -> Result<MergeOutcome, ForgeError> {
        if let Err(error) = repository.follow(merge.into, &self.access(repository).await?).await {
            tracing::warn!(branch = %merge.into, %error, "a refused merge is judged by what is here");
        }
        match repository.can_merge_commit(reviewed, merge.into).await? {
            Mergeability::Conflict { files } => Ok(MergeOutcome::Conflict { files }),
            Mergeability::Clean => Err(refusal),
        }
    }

    async fn merge_there(&self, number: &str, merge: &Merge<'_>, reviewed: &CommitId) -> Result<There, ForgeError> {
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
                Some(commit) => Ok(There::Merged(commit, How::FoundByHistory)),
                None => Ok(There::Refused(answer.refusal())),
            };
        }
        let merged: Merged = answer.expect()?;
        Ok(There::Merged(CommitId::new(&merged.sha)?, How::Made))
    }
}
