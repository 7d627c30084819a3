//! Check a pull request with a linter.

use chrono::{DateTime, Utc};

use super::{PullRequest, PullRequestError, PullRequestEvent};

/// Takes note of how a check ended; only linters' count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckPullRequest {
    /// GitHub's id of the check.
    pub check_id: i64,
    /// What the check is called.
    pub check_name: String,
    /// Whether it failed.
    pub failed: bool,
    /// When it ended.
    pub completed_at: DateTime<Utc>,
}

impl CheckPullRequest {
    /// Whether the check is a linter's, which its name tells.
    fn is_lint(&self) -> bool {
        self.check_name.to_lowercase().contains("lint")
    }
}

pub(crate) fn decide(
    pull_request: &PullRequest,
    command: CheckPullRequest,
) -> Result<Vec<PullRequestEvent>, PullRequestError> {
    let known = pull_request.known()?;
    if !command.is_lint() || !known.checks.is_news(&(command.check_id, command.failed)) {
        return Ok(vec![]);
    }
    let CheckPullRequest { check_id, check_name, failed, completed_at } = command;
    Ok(vec![if failed {
        PullRequestEvent::PullRequestLintFailed { check_id, check_name, completed_at }
    } else {
        PullRequestEvent::PullRequestLintPassed { check_id, check_name, completed_at }
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{lint_failed, lint_passed, opened};
    use super::*;
    use crate::examples::{at, given};
    use crate::pull_request::PullRequestCommand;

    fn check(name: &str, failed: bool) -> PullRequestCommand {
        let check_name = name.to_owned();
        PullRequestCommand::Check(CheckPullRequest { check_id: 900, check_name, failed, completed_at: at(2) })
    }

    #[test]
    fn a_linters_result_counts_once() {
        for (failed, event) in [(true, lint_failed()), (false, lint_passed())] {
            given::<PullRequest>([opened()]).when(check("ESLint", failed)).then_expect_events(vec![event.clone()]);
            given::<PullRequest>([opened(), event]).when(check("ESLint", failed)).then_expect_events(vec![]);
        }
    }

    #[test]
    fn a_check_that_is_run_again_may_end_otherwise() {
        given::<PullRequest>([opened(), lint_failed()])
            .when(check("ESLint", false))
            .then_expect_events(vec![lint_passed()]);
    }

    #[test]
    fn other_checks_do_not_count() {
        given::<PullRequest>([opened()]).when(check("unit tests", true)).then_expect_events(vec![]);
    }

    #[test]
    fn a_check_of_a_pull_request_never_heard_of_says_too_little() {
        given::<PullRequest>([]).when(check("lint", true)).then_expect_error(PullRequestError::NotFound);
    }
}
