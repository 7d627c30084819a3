//! Stop a session.

use chrono::{DateTime, Utc};

use super::{Caller, Session, SessionError, SessionEvent};
use crate::TaskId;
use crate::distinct::each_once;

/// Ends an agent's work. That the tasks are the project's was checked where they were looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopSession {
    /// Who asks.
    pub by: Caller,
    /// What it worked on.
    pub tasks_worked_on: Vec<TaskId>,
    /// What it did, in its own words.
    pub summary: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(session: &Session, command: StopSession) -> Result<Vec<SessionEvent>, SessionError> {
    let open = session.admit(command.by)?;
    Ok(vec![SessionEvent::SessionStopped {
        duration_seconds: open.seconds_until(command.now),
        tasks_worked_on: each_once(command.tasks_worked_on),
        summary: command.summary,
        stopped_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{by_dev, logged, started, stopped};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::session::{SessionCommand, active_session};
    use crate::{Demand, Entity};

    fn stop() -> StopSession {
        let tasks_worked_on = vec![id(60), id(61), id(60)];
        StopSession { by: by_dev(), tasks_worked_on, summary: Some("Done".to_owned()), now: at(7) }
    }

    #[test]
    fn an_agent_stops_its_session_and_names_each_task_once() {
        given::<Session>([started(), logged()]).when(SessionCommand::Stop(stop())).then_expect_events(vec![stopped()]);
    }

    #[test]
    fn a_session_stops_once() {
        given::<Session>([started(), stopped()])
            .when(SessionCommand::Stop(stop()))
            .then_expect_error(SessionError::AlreadyStopped);
    }

    #[test]
    fn another_agent_stops_nothing() {
        let by = Caller { agent_id: id(31), ..by_dev() };
        given::<Session>([started()])
            .when(SessionCommand::Stop(StopSession { by, ..stop() }))
            .then_expect_error(SessionError::Mismatch);
    }

    #[test]
    fn a_clock_that_ran_backwards_makes_no_negative_duration() {
        let events = decide(&after([started()]), StopSession { now: at(-5), ..stop() }).expect("a stop");
        assert!(matches!(events[..], [SessionEvent::SessionStopped { duration_seconds: 0, .. }]));
    }

    #[test]
    fn a_stopped_session_lets_the_next_one_start() {
        let release = Demand::Release(active_session(id(30)));
        assert_eq!(after::<Session>([started()]).demands(&stopped()), [release]);
    }
}
