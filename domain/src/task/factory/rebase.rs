//! Record that a task was rebased.

use chrono::{DateTime, Utc};
use cqrs_es::Aggregate;

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::AgentId;

/// Records that a task's branch follows the epic's again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebaseTask {
    /// Who rebased it.
    pub by: AgentId,
    /// Where its pull request is now, where a rebase may have moved it.
    pub pr_url: Option<String>,
    /// The commit that it ends with now, where it is known.
    pub head: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: RebaseTask) -> Result<Vec<TaskEvent>, TaskError> {
    let factory = task.live()?.of_worker(command.by)?;
    if factory.state != TaskState::NeedsRebase {
        return Err(TaskError::InvalidFactoryTransition { from: factory.state, to: TaskState::PendingReview });
    }
    let RebaseTask { by: agent_id, pr_url, head, now: rebased_at } = command;
    let pr_url = pr_url.filter(|it| factory.pr_url.as_ref() != Some(it));
    Ok(vec![TaskEvent::TaskRebased { agent_id, pr_url, head, rebased_at }])
}

/// Whether a task waits for review since a rebase, by all that happened to it. One that waits since its submission was
/// not rebased, however much it looks the same.
pub fn waits_since_rebase(history: &[TaskEvent]) -> bool {
    let mut task = Task::default();
    history.iter().for_each(|event| task.apply(event.clone()));
    let waits = task.live().and_then(|it| it.in_epic()).is_ok_and(|it| it.state == TaskState::PendingReview);
    let is_submission =
        |event: &&TaskEvent| matches!(event, TaskEvent::TaskSubmitted { .. } | TaskEvent::TaskRebased { .. });
    waits && matches!(history.iter().rev().find(is_submission), Some(TaskEvent::TaskRebased { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{
        PR_URL, approved, changes_requested, history_in, merge_failed, rebased, submitted,
    };
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand};

    fn rebase(by: u128) -> TaskCommand {
        rebase_at(by, None)
    }

    fn rebase_at(by: u128, pr_url: Option<&str>) -> TaskCommand {
        let (pr_url, head) = (pr_url.map(str::to_owned), Some("def456".to_owned()));
        TaskCommand::Factory(FactoryCommand::Rebase(RebaseTask { by: id(by), pr_url, head, now: at(5) }))
    }

    #[test]
    fn a_rebased_task_waits_for_review_again() {
        let history = history_in(TaskState::NeedsRebase);
        given::<Task>(history.clone()).when(rebase(30)).then_expect_events(vec![rebased()]);
        given::<Task>(history.clone()).when(rebase(31)).then_expect_error(TaskError::AccessDenied);
        let task: Task = after([history, vec![rebased()]].concat());
        let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
        assert_eq!((factory.state, factory.submitted_at), (TaskState::PendingReview, Some(at(5))));
    }

    #[test]
    fn a_task_is_where_its_rebase_put_its_pull_request() {
        let history = history_in(TaskState::NeedsRebase);
        given::<Task>(history.clone()).when(rebase_at(30, Some(PR_URL))).then_expect_events(vec![rebased()]);
        let (pr_url, head) = (Some("local://pull/2".to_owned()), Some("def456".to_owned()));
        let moved = TaskEvent::TaskRebased { agent_id: id(30), pr_url, head, rebased_at: at(5) };
        let command = rebase_at(30, Some("local://pull/2"));
        given::<Task>(history.clone()).when(command).then_expect_events(vec![moved.clone()]);
        for (event, pr_url) in [(rebased(), PR_URL), (moved, "local://pull/2")] {
            let task: Task = after([history.clone(), vec![event]].concat());
            let factory = task.live().and_then(|it| it.in_epic()).expect("a task of an epic");
            assert_eq!(factory.pr_url.as_deref(), Some(pr_url));
        }
    }

    #[test]
    fn only_what_needs_a_rebase_gets_one() {
        for from in TaskState::ALL.into_iter().filter(|it| *it != TaskState::NeedsRebase) {
            let refusal = TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview };
            given::<Task>(history_in(from)).when(rebase(30)).then_expect_error(refusal);
        }
    }
    #[test]
    fn only_a_task_that_a_rebase_brought_back_waits_since_one() {
        for state in TaskState::ALL {
            assert!(!waits_since_rebase(&history_in(state)), "{state}");
        }
        let then = |events: &[TaskEvent]| [history_in(TaskState::NeedsRebase), events.to_vec()].concat();
        assert!(waits_since_rebase(&then(&[rebased()])));
        assert!(waits_since_rebase(&then(&[rebased(), approved(), merge_failed()])));
        assert!(!waits_since_rebase(&then(&[rebased(), approved()])));
        assert!(!waits_since_rebase(&then(&[rebased(), changes_requested()])));
        assert!(!waits_since_rebase(&then(&[rebased(), changes_requested(), submitted()])));
    }
}
