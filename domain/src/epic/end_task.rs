//! Note that a task of an epic is over.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, TaskEnd};
use crate::TaskId;

/// Takes a task off the list of those that are not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndEpicTask {
    /// Which task.
    pub task_id: TaskId,
    /// How it ended.
    pub end: TaskEnd,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: EndEpicTask) -> Result<Vec<EpicEvent>, EpicError> {
    let EndEpicTask { task_id, end, now } = command;
    let is_open = epic.live()?.open_tasks.contains(&task_id);
    Ok(is_open.then_some(EpicEvent::EpicTaskEnded { task_id, end, ended_at: now }).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::examples::{added, appointed, created, ended};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{after, at, given, id};

    #[test]
    fn a_task_ends_once() {
        let end = EndEpicTask { task_id: id(60), end: TaskEnd::Merged, now: at(5) };
        let history = [created(), appointed(), added(60)];
        given::<Epic>(history.clone()).when(EpicCommand::EndTask(end)).then_expect_events(vec![ended(60)]);
        let history: Vec<_> = history.into_iter().chain([ended(60)]).collect();
        given::<Epic>(history).when(EpicCommand::EndTask(end)).then_expect_events(vec![]);
    }

    #[test]
    fn an_epic_is_ready_when_all_its_tasks_are_over_and_one_was_merged() {
        let ready = |history: Vec<EpicEvent>| after::<Epic>(history).live().and_then(|it| it.is_ready());
        assert_eq!(ready(vec![created()]), Err(EpicError::NothingMerged));
        assert_eq!(ready(vec![created(), added(60), added(61), ended(60)]), Err(EpicError::TasksOpen(1)));
        assert_eq!(ready(vec![created(), added(60), ended(60)]), Ok(()));
        let failed = EpicEvent::EpicTaskEnded { task_id: id(61), end: TaskEnd::Failed, ended_at: at(5) };
        assert_eq!(ready(vec![created(), added(61), failed.clone()]), Err(EpicError::NothingMerged));
        assert_eq!(ready(vec![created(), added(60), added(61), ended(60), failed]), Ok(()));
    }
}
