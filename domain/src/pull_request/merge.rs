//! Merge a pull request.

use chrono::{DateTime, Utc};

use super::describe::{GithubPullRequest, described_and};
use super::{PullRequest, PullRequestEvent, Standing};
use crate::github::Login;

/// Takes note that a pull request was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergePullRequest {
    /// As it is now.
    pub now_is: GithubPullRequest,
    /// Who merged it.
    pub merged_by: Login,
    /// The commit that it became.
    pub merge_commit_sha: Option<String>,
    /// When.
    pub merged_at: DateTime<Utc>,
}

pub(crate) fn decide(pull_request: &PullRequest, command: MergePullRequest) -> Vec<PullRequestEvent> {
    let MergePullRequest { now_is, merged_by, merge_commit_sha, merged_at } = command;
    let (url, repository) = (now_is.url.clone(), now_is.repository.clone());
    described_and(pull_request, now_is, |known| {
        // A late word of its closing may have come first: a merge is a merge all the same.
        let is_news = known.standing != Standing::Merged;
        is_news.then(|| PullRequestEvent::PullRequestMerged {
            number: known.number,
            url,
            repository,
            title: known.title.clone(),
            merged_by,
            merge_commit_sha,
            agent_id: known.agent_id,
            linked_task_id: known.linked_task_id,
            merged_at,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{closed, github, labelled, merge, merged, opened};
    use super::*;
    use crate::examples::{at, given};
    use crate::pull_request::PullRequestCommand;

    #[test]
    fn a_pull_request_is_merged_once() {
        for history in [vec![opened()], vec![opened(), closed()]] {
            given::<PullRequest>(history).when(PullRequestCommand::Merge(merge())).then_expect_events(vec![merged()]);
        }
        given::<PullRequest>([opened(), merged()]).when(PullRequestCommand::Merge(merge())).then_expect_events(vec![]);
    }

    #[test]
    fn a_pull_request_never_heard_of_is_opened_and_merged() {
        given::<PullRequest>([]).when(PullRequestCommand::Merge(merge())).then_expect_events(vec![opened(), merged()]);
    }

    #[test]
    fn the_last_details_come_with_the_merge() {
        let now_is = GithubPullRequest { labels: vec!["bug".to_owned()], updated_at: at(1), ..github() };
        given::<PullRequest>([opened()])
            .when(PullRequestCommand::Merge(MergePullRequest { now_is, ..merge() }))
            .then_expect_events(vec![labelled(), merged()]);
    }
}
