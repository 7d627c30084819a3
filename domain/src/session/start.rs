//! Start a session.

use chrono::{DateTime, Utc};

use super::{AgentSnapshot, PulledCounts, Session, SessionError, SessionEvent};
use crate::agent::LiveAgent;
use crate::{ProjectId, SessionId, WorkspaceId};

/// Lets an agent begin to work in a project.
#[derive(Clone, Debug, PartialEq)]
pub struct StartSession {
    /// The id it gets.
    pub session_id: SessionId,
    /// Where the agent is to work.
    pub project_id: ProjectId,
    /// The workspace that the project belongs to.
    pub project_workspace_id: WorkspaceId,
    /// Who is to work.
    pub agent: LiveAgent,
    /// How much is new for the agent.
    pub pulled: PulledCounts,
    /// The log position up to which the agent is given its messages.
    pub delivered_up_to: i64,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// That the agent has no other session is not decided here but demanded of the commit.
pub(crate) fn decide(session: &Session, command: StartSession) -> Result<Vec<SessionEvent>, SessionError> {
    match session {
        Session::Absent => {}
        Session::Open(_) | Session::Stopped { .. } => return Err(SessionError::AlreadyExists),
    }
    let agent = command.agent;
    if !agent.status.may_work() {
        return Err(SessionError::AgentInactive(agent.status));
    }
    if !agent.reaches(command.project_id, command.project_workspace_id) {
        return Err(SessionError::ProjectAccessDenied);
    }
    Ok(vec![SessionEvent::SessionStarted {
        session_id: command.session_id,
        workspace_id: agent.workspace_id,
        project_id: command.project_id,
        agent_id: agent.agent_id,
        is_organization_level: agent.is_organization_level(),
        pulled: command.pulled,
        delivered_up_to: command.delivered_up_to,
        agent_snapshot: AgentSnapshot { capabilities: agent.capabilities, settings: agent.settings },
        started_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{start, started, stopped};
    use super::*;
    use crate::agent::AgentStatus;
    use crate::examples::{after, dev, given, id};
    use crate::session::{SessionCommand, active_session};
    use crate::{Demand, Entity};

    fn refused(command: StartSession, error: SessionError) {
        given::<Session>([]).when(SessionCommand::Start(command)).then_expect_error(error);
    }

    #[test]
    fn an_agent_starts_a_session_with_its_role_as_it_is() {
        given::<Session>([]).when(SessionCommand::Start(start())).then_expect_events(vec![started()]);
    }

    #[test]
    fn an_agent_has_one_active_session() {
        let take = Demand::Take { claim: active_session(id(30)), or: SessionError::AgentHasActiveSession };
        assert_eq!(Session::Absent.demands(&started()), [take]);
    }

    #[test]
    fn an_agent_on_probation_may_start() {
        let agent = LiveAgent { status: AgentStatus::Probation, ..dev() };
        let events = decide(&Session::Absent, StartSession { agent, ..start() });
        assert_eq!(events.map(|events| events.len()), Ok(1));
    }

    #[test]
    fn an_agent_that_may_not_work_starts_no_session() {
        for status in [AgentStatus::Inactive, AgentStatus::Terminated] {
            let agent = LiveAgent { status, ..dev() };
            refused(StartSession { agent, ..start() }, SessionError::AgentInactive(status));
        }
    }

    #[test]
    fn an_agent_starts_only_where_it_works() {
        refused(StartSession { project_id: id(21), ..start() }, SessionError::ProjectAccessDenied);
        refused(StartSession { project_workspace_id: id(11), ..start() }, SessionError::ProjectAccessDenied);
    }

    #[test]
    fn a_session_starts_once() {
        for history in [vec![started()], vec![started(), stopped()]] {
            given::<Session>(history)
                .when(SessionCommand::Start(start()))
                .then_expect_error(SessionError::AlreadyExists);
        }
    }

    #[test]
    fn a_session_belongs_to_its_workspace_for_ever() {
        assert_eq!(Session::Absent.workspace(), None);
        for history in [vec![started()], vec![started(), stopped()]] {
            assert_eq!(after::<Session>(history).workspace(), Some(id(10)));
        }
    }
}
