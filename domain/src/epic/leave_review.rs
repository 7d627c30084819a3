//! Take a task's pull request out of the review queue.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, LeftBecause};
use crate::TaskId;

/// Takes a pull request out of the queue, wherever it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaveReview {
    /// Which task.
    pub task_id: TaskId,
    /// Why.
    pub because: LeftBecause,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: LeaveReview) -> Result<Vec<EpicEvent>, EpicError> {
    let LeaveReview { task_id, because, now } = command;
    let is_queued = epic.live()?.queue.iter().any(|it| it.task_id == task_id);
    Ok(is_queued.then_some(EpicEvent::EpicReviewLeft { task_id, because, left_at: now }).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::examples::{added, appointed, created, left, queued};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{at, given, id};

    #[test]
    fn what_is_queued_leaves_once() {
        let leave = LeaveReview { task_id: id(60), because: LeftBecause::Merged, now: at(4) };
        let history = [created(), appointed(), added(60), queued(60)];
        let gone = left(60, LeftBecause::Merged);
        given::<Epic>(history.clone()).when(EpicCommand::LeaveReview(leave)).then_expect_events(vec![gone.clone()]);
        let history: Vec<_> = history.into_iter().chain([gone]).collect();
        given::<Epic>(history).when(EpicCommand::LeaveReview(leave)).then_expect_events(vec![]);
    }
}
