//! Send an epic back to its supervisor.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, EpicState};
use crate::UserId;

/// Lets a human say what is wanted before the epic is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEpicChanges {
    /// Who reviewed it.
    pub by: UserId,
    /// What is wanted.
    pub feedback: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: RequestEpicChanges) -> Result<Vec<EpicEvent>, EpicError> {
    epic.live()?.may_become(EpicState::InProgress)?;
    let RequestEpicChanges { by, feedback, now } = command;
    Ok(vec![EpicEvent::EpicChangesRequested { by, feedback, requested_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::history_in;
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{after, at, given, id};

    fn request() -> RequestEpicChanges {
        RequestEpicChanges { by: id(1), feedback: "Not yet".to_owned(), now: at(9) }
    }

    #[test]
    fn what_a_human_sends_back_is_in_progress_again() {
        let history = history_in(EpicState::AwaitingHumanReview);
        let events = decide(&after(history.clone()), request()).expect("a request");
        let epic: Epic = after([history, events].concat());
        assert_eq!(epic.live().map(|it| it.state), Ok(EpicState::InProgress));
    }

    #[test]
    fn only_what_waits_for_a_human_is_sent_back() {
        for from in [EpicState::InProgress, EpicState::Completed, EpicState::Failed] {
            let refusal = EpicError::InvalidTransition { from, to: EpicState::InProgress };
            given::<Epic>(history_in(from)).when(EpicCommand::RequestChanges(request())).then_expect_error(refusal);
        }
    }
}
