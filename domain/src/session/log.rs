//! Log progress in a session.

use chrono::{DateTime, Utc};

use super::{Caller, Session, SessionError, SessionEvent};
use crate::Settings;

/// Says what the agent is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct LogProgress {
    /// Who asks.
    pub by: Caller,
    /// What it is doing.
    pub message: String,
    /// What goes with it.
    pub context: Option<Settings>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(session: &Session, command: LogProgress) -> Result<Vec<SessionEvent>, SessionError> {
    session.admit(command.by)?;
    let LogProgress { by: _, message, context, now } = command;
    Ok(vec![SessionEvent::SessionLogged { message, context, logged_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{by_dev, logged, revoked, started, stopped};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::session::{SessionCommand, SessionStatus};

    fn log(by: Caller) -> SessionCommand {
        SessionCommand::Log(LogProgress { by, message: "Reading".to_owned(), context: None, now: at(1) })
    }

    #[test]
    fn an_agent_logs_in_its_session() {
        given::<Session>([started()]).when(log(by_dev())).then_expect_events(vec![logged()]);
    }

    #[test]
    fn the_first_log_makes_a_started_session_a_logging_one() {
        for (history, status) in
            [(vec![started()], SessionStatus::Started), (vec![started(), logged()], SessionStatus::Logging)]
        {
            let session: Session = after(history);
            assert_eq!(session.admit(by_dev()).map(|open| open.status), Ok(status));
        }
    }

    #[test]
    fn the_same_words_twice_are_two_facts() {
        given::<Session>([started(), logged()]).when(log(by_dev())).then_expect_events(vec![logged()]);
    }

    #[test]
    fn a_session_that_is_over_logs_nothing() {
        for end in [stopped(), revoked()] {
            given::<Session>([started(), end]).when(log(by_dev())).then_expect_error(SessionError::AlreadyStopped);
        }
    }

    #[test]
    fn nobody_logs_in_a_session_that_never_started() {
        given::<Session>([]).when(log(by_dev())).then_expect_error(SessionError::NotFound);
    }

    #[test]
    fn a_session_is_its_agents_alone_even_when_it_is_over() {
        for history in [vec![started()], vec![started(), stopped()]] {
            let other = Caller { agent_id: id(31), ..by_dev() };
            given::<Session>(history.clone()).when(log(other)).then_expect_error(SessionError::Mismatch);
            let stranger = Caller { agent_id: id(99), workspace_id: id(11) };
            given::<Session>(history).when(log(stranger)).then_expect_error(SessionError::AccessDenied);
        }
    }
}
