//! Open a closed pull request again.

use super::describe::{GithubPullRequest, described_and};
use super::{PullRequest, PullRequestEvent, Standing};

/// Takes note that a closed pull request was opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReopenPullRequest {
    /// As it is now.
    pub now_is: GithubPullRequest,
}

pub(crate) fn decide(pull_request: &PullRequest, command: ReopenPullRequest) -> Vec<PullRequestEvent> {
    let reopened_at = command.now_is.updated_at;
    described_and(pull_request, command.now_is, |known| {
        let is_later = known.closed_at.is_some_and(|closed| closed < reopened_at);
        let is_news = known.standing == Standing::Closed && is_later;
        is_news.then_some(PullRequestEvent::PullRequestReopened { reopened_at })
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{closed, closed_at, github, merged, opened, reopened};
    use super::*;
    use crate::examples::{at, given};
    use crate::pull_request::PullRequestCommand;

    fn reopen() -> PullRequestCommand {
        PullRequestCommand::Reopen(ReopenPullRequest { now_is: GithubPullRequest { updated_at: at(4), ..github() } })
    }

    #[test]
    fn a_closed_pull_request_is_opened_again_once() {
        given::<PullRequest>([opened(), closed()]).when(reopen()).then_expect_events(vec![reopened()]);
        given::<PullRequest>([opened(), closed(), reopened()]).when(reopen()).then_expect_events(vec![]);
    }

    #[test]
    fn an_old_reopening_does_not_open_what_was_closed_since() {
        given::<PullRequest>([opened(), closed(), reopened(), closed_at(5)]).when(reopen()).then_expect_events(vec![]);
    }

    #[test]
    fn what_is_merged_or_open_is_not_opened_again() {
        for history in [vec![opened()], vec![opened(), merged()]] {
            given::<PullRequest>(history).when(reopen()).then_expect_events(vec![]);
        }
    }
}
