//! Follow GitHub, where a task's issue was closed or its pull request merged.

use chrono::{DateTime, Utc};

use super::{CompletionCause, Task, TaskError, TaskEvent, TaskStatus, complete};

/// Completes a task, unless it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteTaskOnGithub {
    /// What happened on GitHub.
    pub cause: CompletionCause,
    /// When it happened.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: CompleteTaskOnGithub) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    // What is in an epic is completed by its merge there.
    if !live.status.may_become(TaskStatus::Completed) || live.factory.is_some() {
        return Ok(vec![]);
    }
    Ok(vec![complete::completed(live, command.cause, None, vec![], command.now)])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{assigned, blocked, cancelled, completed, created, started};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::task::TaskCommand;

    fn merged() -> CompleteTaskOnGithub {
        CompleteTaskOnGithub { cause: CompletionCause::PullRequestMerged { number: 7 }, now: at(9) }
    }

    #[test]
    fn a_merged_pull_request_or_a_closed_issue_completes_a_task_that_is_not_over() {
        let all = [created(), assigned(), started(), blocked()];
        for (length, cause) in (1..=4).zip([CompletionCause::IssueClosed, merged().cause].into_iter().cycle()) {
            let task: Task = after(&all[..length]);
            let events =
                decide(&task, CompleteTaskOnGithub { cause: cause.clone(), now: at(9) }).expect("a completion");
            assert!(matches!(&events[..], [TaskEvent::TaskCompleted { cause: of, .. }] if *of == cause));
        }
    }

    #[test]
    fn a_task_that_is_over_stays_as_it_is() {
        for end in [completed(), cancelled()] {
            given::<Task>([created(), assigned(), end])
                .when(TaskCommand::CompleteOnGithub(merged()))
                .then_expect_events(vec![]);
        }
    }

    #[test]
    fn a_task_that_is_not_there_is_not_found() {
        given::<Task>([]).when(TaskCommand::CompleteOnGithub(merged())).then_expect_error(TaskError::NotFound);
    }
}
