//! Take an epic.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, EpicState};
use crate::UserId;

/// Lets a human take what the agents built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteEpic {
    /// Who takes it.
    pub by: UserId,
    /// The commit that merged it; none when it was merged elsewhere.
    pub merge_commit: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: CompleteEpic) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    if live.state == EpicState::Completed {
        return Ok(vec![]);
    }
    live.may_become(EpicState::Completed)?;
    let CompleteEpic { by, merge_commit, now } = command;
    Ok(vec![EpicEvent::EpicCompleted { by, merge_commit, completed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{completed, history_in};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{at, given, id};

    fn complete() -> EpicCommand {
        EpicCommand::Complete(CompleteEpic { by: id(1), merge_commit: Some("fff000".to_owned()), now: at(10) })
    }

    #[test]
    fn what_waits_for_a_human_is_taken_once() {
        let history = history_in(EpicState::AwaitingHumanReview);
        given::<Epic>(history).when(complete()).then_expect_events(vec![completed()]);
        given::<Epic>(history_in(EpicState::Completed)).when(complete()).then_expect_events(vec![]);
    }

    #[test]
    fn nothing_else_is() {
        for from in [EpicState::InProgress, EpicState::Failed] {
            let refusal = EpicError::InvalidTransition { from, to: EpicState::Completed };
            given::<Epic>(history_in(from)).when(complete()).then_expect_error(refusal);
        }
    }
}
