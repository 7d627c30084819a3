//! Close a pull request without a merge.

use chrono::{DateTime, Utc};

use super::describe::{GithubPullRequest, described_and};
use super::{PullRequest, PullRequestEvent, Standing};
use crate::github::Login;

/// Takes note that a pull request was closed without a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosePullRequest {
    /// As it is now.
    pub now_is: GithubPullRequest,
    /// Who closed it.
    pub closed_by: Login,
    /// When.
    pub closed_at: DateTime<Utc>,
}

pub(crate) fn decide(pull_request: &PullRequest, command: ClosePullRequest) -> Vec<PullRequestEvent> {
    let ClosePullRequest { now_is, closed_by, closed_at } = command;
    let (url, repository) = (now_is.url.clone(), now_is.repository.clone());
    described_and(pull_request, now_is, |known| {
        let is_later = known.closed_at.max(known.reopened_at).is_none_or(|last| last < closed_at);
        let is_news = known.standing == Standing::Open && is_later;
        is_news.then(|| PullRequestEvent::PullRequestClosed {
            number: known.number,
            url,
            repository,
            title: known.title.clone(),
            closed_by,
            agent_id: known.agent_id,
            linked_task_id: known.linked_task_id,
            closed_at,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{close, closed, merged, opened, reopened};
    use super::*;
    use crate::examples::given;
    use crate::pull_request::PullRequestCommand;

    #[test]
    fn an_open_pull_request_is_closed_once() {
        let command = || PullRequestCommand::Close(close());
        given::<PullRequest>([opened()]).when(command()).then_expect_events(vec![closed()]);
        given::<PullRequest>([opened(), closed()]).when(command()).then_expect_events(vec![]);
    }

    #[test]
    fn a_pull_request_never_heard_of_is_opened_and_closed() {
        given::<PullRequest>([]).when(PullRequestCommand::Close(close())).then_expect_events(vec![opened(), closed()]);
    }

    #[test]
    fn an_old_closing_does_not_close_what_was_opened_again() {
        given::<PullRequest>([opened(), closed(), reopened()])
            .when(PullRequestCommand::Close(close()))
            .then_expect_events(vec![]);
    }

    #[test]
    fn what_is_merged_is_not_closed() {
        given::<PullRequest>([opened(), merged()]).when(PullRequestCommand::Close(close())).then_expect_events(vec![]);
    }
}
