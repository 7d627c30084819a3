//! Change an agent's details and status.

use chrono::{DateTime, Utc};

use super::{Agent, AgentError, AgentEvent, AgentStatus};
use crate::difference::differing;
use crate::{AgentId, Settings};

/// Gives an agent new details or another status; what is not given stays.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeAgent {
    /// The name wanted.
    pub name: Option<String>,
    /// The role wanted.
    pub role_title: Option<String>,
    /// The capabilities wanted, all of them.
    pub capabilities: Option<Vec<String>>,
    /// The settings wanted, all of them.
    pub settings: Option<Settings>,
    /// The supervisor wanted.
    pub supervisor_agent_id: Option<AgentId>,
    /// The status wanted.
    pub status: Option<AgentStatus>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(agent: &Agent, command: ChangeAgent) -> Result<Vec<AgentEvent>, AgentError> {
    let live = agent.live()?;
    if command.supervisor_agent_id == Some(live.agent_id) {
        return Err(AgentError::SupervisorIsSelf);
    }

    let mut events = vec![];
    let name = differing(command.name, &live.name);
    let role_title = differing(command.role_title, &live.role_title);
    let capabilities = differing(command.capabilities, &live.capabilities);
    let settings = differing(command.settings, &live.settings);
    let supervisor_agent_id = differing(command.supervisor_agent_id, &live.supervisor_agent_id);
    if name.is_some()
        || role_title.is_some()
        || capabilities.is_some()
        || settings.is_some()
        || supervisor_agent_id.is_some()
    {
        events.push(AgentEvent::AgentDetailsChanged {
            name,
            role_title,
            capabilities,
            settings,
            supervisor_agent_id,
            changed_at: command.now,
        });
    }
    if let Some(to) = differing(command.status, &live.status) {
        let from = live.status;
        events.push(AgentEvent::AgentStatusChanged { from, to, changed_at: command.now });
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{change, create, create_lead, created, created_by, deleted, status_changed};
    use super::AgentStatus::{Active, Inactive, Probation, Terminated};
    use super::*;
    use crate::agent::AgentCommand;
    use crate::examples::{after, at, given, id};
    use crate::{Claim, Demand, Entity, Scope};

    fn renamed() -> AgentEvent {
        AgentEvent::AgentDetailsChanged {
            name: Some("Dev Uno".to_owned()),
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            changed_at: at(1),
        }
    }

    #[test]
    fn only_what_differs_is_in_the_event() {
        let command = ChangeAgent {
            name: Some("Dev Uno".to_owned()),
            role_title: Some(create().role_title),
            status: Some(Active),
            ..change()
        };
        given::<Agent>([created()]).when(AgentCommand::Change(command)).then_expect_events(vec![renamed()]);
    }

    #[test]
    fn a_new_status_is_an_event_of_its_own() {
        let command = ChangeAgent { name: Some("Dev Uno".to_owned()), status: Some(Probation), ..change() };
        given::<Agent>([created()])
            .when(AgentCommand::Change(command))
            .then_expect_events(vec![renamed(), status_changed(Active, Probation)]);
    }

    #[test]
    fn each_detail_changes_on_its_own_and_only_once() {
        let settings = json!({ "githubUsername": "dev-uno" }).as_object().cloned();
        for command in [
            ChangeAgent { name: Some("Dev Uno".to_owned()), ..change() },
            ChangeAgent { role_title: Some("Reviewer".to_owned()), ..change() },
            ChangeAgent { capabilities: Some(vec![]), ..change() },
            ChangeAgent { settings, ..change() },
            ChangeAgent { supervisor_agent_id: Some(id(31)), ..change() },
            ChangeAgent { status: Some(Inactive), ..change() },
        ] {
            let events = decide(&after([created()]), command.clone()).expect("a change");
            assert_eq!(events.len(), 1, "{command:?}");
            let again = decide(&after([vec![created()], events].concat()), command);
            assert_eq!(again, Ok(vec![]));
        }
    }

    #[test]
    fn asking_for_no_change_changes_nothing() {
        given::<Agent>([created()]).when(AgentCommand::Change(change())).then_expect_events(vec![]);
    }

    #[test]
    fn an_agent_does_not_come_to_supervise_itself() {
        let command = ChangeAgent { supervisor_agent_id: Some(id(30)), ..change() };
        given::<Agent>([created()]).when(AgentCommand::Change(command)).then_expect_error(AgentError::SupervisorIsSelf);
    }

    #[test]
    fn a_deleted_agent_does_not_change() {
        given::<Agent>([created(), deleted()])
            .when(AgentCommand::Change(change()))
            .then_expect_error(AgentError::NotFound);
    }

    fn place() -> Claim {
        Scope::project_agents(id(20)).claim(create().agent_id)
    }

    #[test]
    fn an_agent_that_stops_working_leaves_its_project() {
        let active: Agent = after([created()]);
        for to in [Inactive, Terminated] {
            assert_eq!(active.demands(&status_changed(Active, to)), [Demand::Release(place())]);
        }
    }

    #[test]
    fn an_agent_that_works_again_comes_back_to_its_project() {
        let inactive: Agent = after([created(), status_changed(Active, Inactive)]);
        let take = Demand::Take { claim: place(), or: AgentError::AlreadyExists };
        assert_eq!(inactive.demands(&status_changed(Inactive, Probation)), [take]);
    }

    #[test]
    fn an_agent_on_probation_stays_in_its_project() {
        assert_eq!(after::<Agent>([created()]).demands(&status_changed(Active, Probation)), []);
    }

    #[test]
    fn an_organization_agent_has_no_project_to_leave() {
        let lead: Agent = after([created_by(create_lead())]);
        assert_eq!(lead.demands(&status_changed(Active, Inactive)), []);
    }
}
