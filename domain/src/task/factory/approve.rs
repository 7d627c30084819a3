//! Approve a task's pull request.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Lets the supervisor approve the pull request that it reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproveTask {
    /// Who approves it.
    pub by: AgentId,
    /// The pull request that was reviewed.
    pub pr_url: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: ApproveTask) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.in_epic()?;
    // To name another pull request is as wrong after the approval as before it.
    let is_reviewed = matches!(factory.state, TaskState::PendingReview | TaskState::Approved | TaskState::Completed);
    if is_reviewed && factory.pr_url.as_ref() != Some(&command.pr_url) {
        return Err(TaskError::OtherPullRequest(factory.pr_url.clone()));
    }
    if factory.state == TaskState::Approved {
        return Ok(vec![]);
    }
    factory.may_become(TaskState::Approved)?;
    let ApproveTask { by, pr_url, now } = command;
    Ok(vec![TaskEvent::TaskApproved { by, pr_url, approved_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{PR_URL, approved, history_in};
    use super::*;
    use crate::examples::{at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn approve(pr_url: &str) -> TaskCommand {
        let pr_url = pr_url.to_owned();
        TaskCommand::Factory(FactoryCommand::Approve(ApproveTask { by: id(32), pr_url, now: at(6) }))
    }

    #[test]
    fn what_waits_for_review_is_approved_once() {
        given::<Task>(history_in(TaskState::PendingReview)).when(approve(PR_URL)).then_expect_events(vec![approved()]);
        given::<Task>(history_in(TaskState::Approved)).when(approve(PR_URL)).then_expect_events(vec![]);
    }

    #[test]
    fn only_the_pull_request_that_was_reviewed_is_approved() {
        for state in [TaskState::PendingReview, TaskState::Approved, TaskState::Completed] {
            let refusal = TaskError::OtherPullRequest(Some(PR_URL.to_owned()));
            given::<Task>(history_in(state)).when(approve("local://9")).then_expect_error(refusal);
        }
    }

    #[test]
    fn nothing_is_approved_that_does_not_wait_for_review() {
        use TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending};
        for from in [Pending, InProgress, NeedsRebase, Completed, Failed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: Approved };
            given::<Task>(history_in(from)).when(approve(PR_URL)).then_expect_error(refusal);
        }
    }
}
