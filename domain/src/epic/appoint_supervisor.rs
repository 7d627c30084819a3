//! Give an epic a supervisor.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent};
use crate::AgentId;

/// Puts an epic into a supervisor's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppointEpicSupervisor {
    /// Who is to supervise it.
    pub agent_id: AgentId,
    /// Whom it replaces; nobody for an epic's first.
    pub replaces: Option<AgentId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: AppointEpicSupervisor) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    // Also of the one it had, whose work is over with it.
    if live.state.is_over() {
        return Err(EpicError::NotInProgress(live.state));
    }
    if live.supervisor_id == Some(command.agent_id) {
        return Ok(vec![]);
    }
    if live.supervisor_id != command.replaces {
        return Err(live.supervisor_id.map_or(EpicError::NotSupervisor, EpicError::HasSupervisor));
    }
    let AppointEpicSupervisor { agent_id, replaces, now } = command;
    Ok(vec![EpicEvent::EpicSupervisorAppointed { agent_id, replaces, appointed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{appointed, created, failed};
    use super::*;
    use crate::epic::{EpicCommand, EpicState};
    use crate::examples::{at, given, id};

    fn appoint(agent: u128, replaces: Option<u128>) -> EpicCommand {
        let replaces = replaces.map(id);
        EpicCommand::AppointSupervisor(AppointEpicSupervisor { agent_id: id(agent), replaces, now: at(1) })
    }

    #[test]
    fn an_epic_has_one_supervisor_until_it_is_replaced() {
        given::<Epic>([created()]).when(appoint(32, None)).then_expect_events(vec![appointed()]);
        given::<Epic>([created(), appointed()]).when(appoint(32, None)).then_expect_events(vec![]);
        let taken = EpicError::HasSupervisor(id(32));
        given::<Epic>([created(), appointed()]).when(appoint(33, None)).then_expect_error(taken);
        let replaced =
            EpicEvent::EpicSupervisorAppointed { agent_id: id(33), replaces: Some(id(32)), appointed_at: at(1) };
        given::<Epic>([created(), appointed()]).when(appoint(33, Some(32))).then_expect_events(vec![replaced]);
    }

    #[test]
    fn an_epic_that_is_over_gets_no_supervisor_nor_the_one_it_had() {
        for history in [vec![created(), failed()], vec![created(), appointed(), failed()]] {
            given::<Epic>(history)
                .when(appoint(32, None))
                .then_expect_error(EpicError::NotInProgress(EpicState::Failed));
        }
    }
}
