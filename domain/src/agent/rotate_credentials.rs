//! Rotate an agent's credentials.

use chrono::{DateTime, Utc};

use super::{Agent, AgentError, AgentEvent};
use crate::CredentialId;

/// Gives an agent a new key and makes the old one void; the keys themselves live beside the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotateCredentials {
    /// The new key.
    pub credential_id: CredentialId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(agent: &Agent, command: RotateCredentials) -> Result<Vec<AgentEvent>, AgentError> {
    let live = agent.live()?;
    if live.credential_id == command.credential_id {
        return Ok(vec![]);
    }
    Ok(vec![AgentEvent::AgentCredentialsRotated { credential_id: command.credential_id, rotated_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{created, deleted};
    use super::*;
    use crate::agent::AgentCommand;
    use crate::examples::{after, at, given, id};
    use crate::{Demand, Entity};

    fn rotate() -> AgentCommand {
        AgentCommand::RotateCredentials(RotateCredentials { credential_id: id(41), now: at(1) })
    }

    fn rotated() -> AgentEvent {
        AgentEvent::AgentCredentialsRotated { credential_id: id(41), rotated_at: at(1) }
    }

    #[test]
    fn an_agent_gets_a_new_key() {
        given::<Agent>([created()]).when(rotate()).then_expect_events(vec![rotated()]);
    }

    #[test]
    fn rotating_to_the_key_in_use_changes_nothing() {
        given::<Agent>([created(), rotated()]).when(rotate()).then_expect_events(vec![]);
    }

    #[test]
    fn a_deleted_agent_gets_no_key() {
        given::<Agent>([created(), deleted()]).when(rotate()).then_expect_error(AgentError::NotFound);
    }

    #[test]
    fn a_new_key_is_no_matter_of_other_streams() {
        let demands: Vec<Demand<AgentError>> = after::<Agent>([created()]).demands(&rotated());
        assert_eq!(demands, []);
    }
}
