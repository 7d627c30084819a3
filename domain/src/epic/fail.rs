//! Give an epic up.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, EpicState};
use crate::Party;

/// Lets the supervisor or a human give an epic up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailEpic {
    /// Who gives it up.
    pub by: Party,
    /// Why.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: FailEpic) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    match command.by {
        Party::Agent(agent) => live.supervised_by(agent)?,
        // Whether it is a person's to give up is for the workspace to say.
        Party::User(_) => {}
    }
    if live.state == EpicState::Failed {
        return Ok(vec![]);
    }
    live.may_become(EpicState::Failed)?;
    let FailEpic { by, reason, now } = command;
    Ok(vec![EpicEvent::EpicFailed { by, reason, failed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{failed, history_in};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{at, given, id};

    fn fail(by: Party) -> EpicCommand {
        EpicCommand::Fail(FailEpic { by, reason: "Too large".to_owned(), now: at(11) })
    }

    #[test]
    fn an_epic_in_progress_is_given_up_once() {
        let human = Party::User(id(1));
        given::<Epic>(history_in(EpicState::InProgress)).when(fail(human)).then_expect_events(vec![failed()]);
        given::<Epic>(history_in(EpicState::Failed)).when(fail(human)).then_expect_events(vec![]);
    }

    #[test]
    fn of_the_agents_only_its_supervisor_gives_it_up() {
        let history = history_in(EpicState::InProgress);
        let refusal = EpicError::NotSupervisor;
        given::<Epic>(history.clone()).when(fail(Party::Agent(id(30)))).then_expect_error(refusal);
        assert!(given::<Epic>(history).when(fail(Party::Agent(id(32)))).inspect_result().is_ok());
    }

    #[test]
    fn what_a_human_reviews_or_took_does_not_fail() {
        for from in [EpicState::AwaitingHumanReview, EpicState::Completed] {
            let refusal = EpicError::InvalidTransition { from, to: EpicState::Failed };
            given::<Epic>(history_in(from)).when(fail(Party::User(id(1)))).then_expect_error(refusal);
        }
    }
}
