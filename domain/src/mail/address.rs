//! Who writes, and to whom.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Envelope, MailError};
use crate::{AgentId, UserId};

/// Who wrote a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// An agent.
    Agent(AgentId),
    /// A person.
    User(UserId),
    /// Muster itself.
    System,
}

/// To whom a mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addressee {
    /// The holder of a seat, whoever that is.
    Agent {
        /// Who held it when the mail was sent.
        agent_id: AgentId,
        /// The seat; the agent's own id for agents that have none.
        seat: Uuid,
    },
    /// The people of the workspace.
    Human,
}

/// Who reads a mail, or answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correspondent {
    /// An agent, with its seat.
    Agent {
        /// Which agent.
        agent_id: AgentId,
        /// Its seat; its own id if it has none.
        seat: Uuid,
    },
    /// A person of the workspace.
    User(UserId),
}

impl Correspondent {
    /// Whether a mail is in this one's inbox.
    pub fn receives(self, to: Addressee) -> bool {
        match (self, to) {
            (Self::Agent { seat, .. }, Addressee::Agent { seat: of, .. }) => seat == of,
            (Self::User(_), Addressee::Human) => true,
            (Self::Agent { .. }, Addressee::Human) | (Self::User(_), Addressee::Agent { .. }) => false,
        }
    }

    fn wrote(self, from: Sender) -> bool {
        match (self, from) {
            (Self::Agent { agent_id, .. }, Sender::Agent(author)) => agent_id == author,
            (Self::User(_), Sender::User(_)) => true,
            (Self::Agent { .. }, Sender::User(_) | Sender::System)
            | (Self::User(_), Sender::Agent(_) | Sender::System) => false,
        }
    }
}

impl Envelope {
    /// The agent that an answer of this correspondent goes to; none for the people of the workspace.
    pub fn answered_by(&self, by: Correspondent) -> Result<Option<AgentId>, MailError> {
        if by.receives(self.to) {
            return match self.from {
                Sender::Agent(agent_id) => Ok(Some(agent_id)),
                Sender::User(_) => Ok(None),
                Sender::System => Err(MailError::NoReply),
            };
        }
        if by.wrote(self.from) {
            // One more word to the same addressee.
            return Ok(match self.to {
                Addressee::Agent { agent_id, .. } => Some(agent_id),
                Addressee::Human => None,
            });
        }
        Err(MailError::AccessDenied)
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{envelope, supervisor, worker};
    use super::*;
    use crate::examples::id;

    const OWNER: Correspondent = Correspondent::User(UserId(Uuid::from_u128(1)));

    #[test]
    fn an_answer_goes_to_who_wrote_and_a_further_word_to_who_was_written_to() {
        assert_eq!(envelope().answered_by(supervisor()), Ok(Some(id(30))));
        assert_eq!(envelope().answered_by(worker()), Ok(Some(id(31))));
        let to_human = Envelope { to: Addressee::Human, ..envelope() };
        assert_eq!(to_human.answered_by(OWNER), Ok(Some(id(30))));
        let from_human = Envelope { from: Sender::User(id(1)), ..envelope() };
        assert_eq!(from_human.answered_by(supervisor()), Ok(None));
    }

    #[test]
    fn a_successor_answers_what_its_predecessor_got() {
        let successor = Correspondent::Agent { agent_id: id(32), seat: id(61) };
        assert_eq!(envelope().answered_by(successor), Ok(Some(id(30))));
    }

    #[test]
    fn nobody_answers_what_is_not_theirs_or_what_nobody_wrote() {
        let stranger = Correspondent::Agent { agent_id: id(39), seat: id(39) };
        assert_eq!(envelope().answered_by(stranger), Err(MailError::AccessDenied));
        assert_eq!(envelope().answered_by(OWNER), Err(MailError::AccessDenied));
        let from_muster = Envelope { from: Sender::System, ..envelope() };
        assert_eq!(from_muster.answered_by(supervisor()), Err(MailError::NoReply));
    }
}
