//! Put a task's pull request into the review queue.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent};
use crate::TaskId;

/// Puts a pull request at the end of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReview {
    /// Which task.
    pub task_id: TaskId,
    /// Where its pull request is.
    pub pr_url: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: QueueReview) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    live.in_progress()?;
    let QueueReview { task_id, pr_url, now } = command;
    if !live.open_tasks.contains(&task_id) {
        return Err(EpicError::UnknownTask(task_id));
    }
    if live.queue.iter().any(|it| it.task_id == task_id) {
        return Ok(vec![]);
    }
    Ok(vec![EpicEvent::EpicReviewQueued { task_id, pr_url, submitted_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{added, appointed, created, left, queued};
    use super::*;
    use crate::epic::{EpicCommand, LeftBecause};
    use crate::examples::{after, at, given, id};

    fn queue(task: u128) -> EpicCommand {
        let pr_url = format!("local://pull/{task}");
        EpicCommand::QueueReview(QueueReview { task_id: id(task), pr_url, now: at(3) })
    }

    #[test]
    fn the_queue_is_in_the_order_of_submission() {
        let history = [created(), appointed(), added(60), added(61), queued(61), queued(60)];
        let epic: Epic = after(history.clone());
        let order: Vec<TaskId> = epic.live().expect("an epic").queue.iter().map(|it| it.task_id).collect();
        assert_eq!(order, [id(61), id(60)]);
        given::<Epic>(history).when(queue(60)).then_expect_events(vec![]);
    }

    #[test]
    fn who_comes_back_is_last() {
        let left_and_back = [left(60, LeftBecause::Rebase), queued(60)];
        let epic: Epic = after(
            [created(), appointed(), added(60), added(61), queued(60), queued(61)]
                .into_iter()
                .chain(left_and_back)
                .collect::<Vec<_>>(),
        );
        let live = epic.live().expect("an epic");
        assert_eq!(live.reviews(id(60)).err(), Some(EpicError::NotFirstInQueue { first: Some(id(61)) }));
        assert!(live.reviews(id(61)).is_ok());
    }

    #[test]
    fn only_the_epics_open_tasks_are_reviewed() {
        given::<Epic>([created(), appointed()]).when(queue(60)).then_expect_error(EpicError::UnknownTask(id(60)));
    }
}
