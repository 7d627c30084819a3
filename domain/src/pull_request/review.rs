//! Review a pull request on GitHub.

use chrono::{DateTime, Utc};

use super::{PullRequest, PullRequestError, PullRequestEvent};
use crate::github::Login;
use crate::{AgentId, ReviewDecision};

/// Takes note of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewPullRequest {
    /// GitHub's id of the review.
    pub review_id: i64,
    /// Who reviewed it.
    pub reviewer: Login,
    /// The agent who that is.
    pub reviewer_agent_id: Option<AgentId>,
    /// What the reviewer says.
    pub decision: ReviewDecision,
    /// When it was reviewed.
    pub submitted_at: DateTime<Utc>,
}

pub(crate) fn decide(
    pull_request: &PullRequest,
    command: ReviewPullRequest,
) -> Result<Vec<PullRequestEvent>, PullRequestError> {
    let known = pull_request.known()?;
    if !known.reviews.is_news(&command.review_id) {
        return Ok(vec![]);
    }
    Ok(vec![PullRequestEvent::PullRequestReviewed {
        review_id: command.review_id,
        reviewer: command.reviewer,
        reviewer_agent_id: command.reviewer_agent_id,
        decision: command.decision,
        submitted_at: command.submitted_at,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{opened, review, reviewed};
    use super::*;
    use crate::examples::given;
    use crate::pull_request::PullRequestCommand;

    #[test]
    fn a_review_counts_once() {
        let command = || PullRequestCommand::Review(review());
        given::<PullRequest>([opened()]).when(command()).then_expect_events(vec![reviewed()]);
        given::<PullRequest>([opened(), reviewed()]).when(command()).then_expect_events(vec![]);
    }

    #[test]
    fn a_review_of_a_pull_request_never_heard_of_says_too_little() {
        given::<PullRequest>([])
            .when(PullRequestCommand::Review(review()))
            .then_expect_error(PullRequestError::NotFound);
    }
}
