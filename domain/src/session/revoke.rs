//! Take a session from its agent.

use chrono::{DateTime, Utc};

use super::{Session, SessionError, SessionEvent};

/// Ends a session without its agent, which is dead or may not work any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeSession {
    /// Why.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(session: &Session, command: RevokeSession) -> Result<Vec<SessionEvent>, SessionError> {
    match session {
        Session::Absent => Err(SessionError::NotFound),
        // The agent was faster, or this is a repeat.
        Session::Stopped { .. } => Ok(vec![]),
        Session::Open(open) => Ok(vec![SessionEvent::SessionRevoked {
            reason: command.reason,
            duration_seconds: open.seconds_until(command.now),
            revoked_at: command.now,
        }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{revoked, started, stopped};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::session::{SessionCommand, active_session};
    use crate::{Demand, Entity};

    fn revoke() -> SessionCommand {
        SessionCommand::Revoke(RevokeSession { reason: "no heartbeat".to_owned(), now: at(9) })
    }

    #[test]
    fn a_session_can_be_taken_from_its_agent() {
        given::<Session>([started()]).when(revoke()).then_expect_events(vec![revoked()]);
    }

    #[test]
    fn a_session_that_is_over_cannot_be_taken() {
        for end in [stopped(), revoked()] {
            given::<Session>([started(), end]).when(revoke()).then_expect_events(vec![]);
        }
    }

    #[test]
    fn a_session_that_never_started_is_not_found() {
        given::<Session>([]).when(revoke()).then_expect_error(SessionError::NotFound);
    }

    #[test]
    fn with_the_session_goes_the_lease() {
        let release = Demand::Release(active_session(id(30)));
        assert_eq!(after::<Session>([started()]).demands(&revoked()), [release]);
    }
}
