//! Complete a task by its merge into the epic.

use chrono::{DateTime, Utc};

use super::{Task, TaskError, TaskEvent, TaskState};
use crate::task::{CompletionCause, complete};

/// Records that an approved task was merged into its epic's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeTask {
    /// The commit that did it.
    pub merge_commit: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(task: &Task, command: MergeTask) -> Result<Vec<TaskEvent>, TaskError> {
    let live = task.live()?;
    let factory = live.in_epic()?;
    if factory.state == TaskState::Completed {
        return Ok(vec![]);
    }
    factory.may_become(TaskState::Completed)?;
    let cause = CompletionCause::MergedIntoEpic { merge_commit: command.merge_commit };
    Ok(vec![complete::completed(live, cause, None, vec![], command.now)])
}

#[cfg(test)]
mod tests {
    use super::super::super::examples::{history_in, place};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::task::{FactoryCommand, TaskCommand, TaskStatus};
    use crate::{Demand, Entity, Scope, TaskId};

    fn merge() -> MergeTask {
        MergeTask { merge_commit: "fff000".to_owned(), now: at(62) }
    }

    #[test]
    fn an_approved_task_is_completed_by_its_merge() {
        let task: Task = after(history_in(TaskState::Approved));
        let events = decide(&task, merge()).expect("a merge");
        let cause = CompletionCause::MergedIntoEpic { merge_commit: "fff000".to_owned() };
        let [TaskEvent::TaskCompleted { cause: said, duration_minutes: 60, .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(*said, cause);
        let places = [Scope::project_tasks(id(20)).claim(TaskId(id(60))), place(id(30))];
        assert_eq!(task.demands(&events[0]), places.map(Demand::Release));
        let task: Task = after([history_in(TaskState::Approved), events].concat());
        assert_eq!(task.live().map(|it| it.status), Ok(TaskStatus::Completed));
    }

    #[test]
    fn only_an_approved_task_is_merged() {
        let command = || TaskCommand::Factory(FactoryCommand::Merge(merge()));
        given::<Task>(history_in(TaskState::Completed)).when(command()).then_expect_events(vec![]);
        use TaskState::{Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};
        for from in [Pending, InProgress, PendingReview, NeedsRebase, Failed] {
            let refusal = TaskError::InvalidFactoryTransition { from, to: Completed };
            given::<Task>(history_in(from)).when(command()).then_expect_error(refusal);
        }
    }
}
