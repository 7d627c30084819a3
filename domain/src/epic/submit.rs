//! Submit an epic's pull request.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent, EpicState};
use crate::AgentId;

/// Records that the epic's pull request is there and waits for a human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitEpic {
    /// The supervisor who submits it.
    pub by: AgentId,
    /// Where the pull request is.
    pub pr_url: String,
    /// What it is called.
    pub title: String,
    /// What it does.
    pub description: String,
    /// The commit that is submitted, where it is known.
    pub head: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: SubmitEpic) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    live.supervised_by(command.by)?;
    if live.state == EpicState::AwaitingHumanReview && live.pr_url.as_ref() == Some(&command.pr_url) {
        return Ok(vec![]);
    }
    live.may_become(EpicState::AwaitingHumanReview)?;
    live.is_ready()?;
    let SubmitEpic { by, pr_url, title, description, head, now } = command;
    Ok(vec![EpicEvent::EpicSubmitted { agent_id: by, pr_url, title, description, head, submitted_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{added, appointed, created, ended, history_in, submit, submitted};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{given, id};

    #[test]
    fn an_epic_is_submitted_when_its_tasks_are_over() {
        let done = [created(), appointed(), added(60), ended(60)];
        given::<Epic>(done).when(EpicCommand::Submit(submit())).then_expect_events(vec![submitted()]);
        let open = [created(), appointed(), added(60)];
        given::<Epic>(open).when(EpicCommand::Submit(submit())).then_expect_error(EpicError::TasksOpen(1));
    }

    #[test]
    fn only_by_its_supervisor_and_only_once() {
        let stranger = SubmitEpic { by: id(30), ..submit() };
        let history = history_in(EpicState::AwaitingHumanReview);
        given::<Epic>(history.clone()).when(EpicCommand::Submit(stranger)).then_expect_error(EpicError::NotSupervisor);
        given::<Epic>(history).when(EpicCommand::Submit(submit())).then_expect_events(vec![]);
    }

    #[test]
    fn an_epic_that_is_over_is_not_submitted() {
        for from in [EpicState::Completed, EpicState::Failed] {
            let refusal = EpicError::InvalidTransition { from, to: EpicState::AwaitingHumanReview };
            given::<Epic>(history_in(from)).when(EpicCommand::Submit(submit())).then_expect_error(refusal);
        }
    }
}
