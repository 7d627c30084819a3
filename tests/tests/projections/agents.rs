//! What the queries of agents answer.

use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::github::Login;
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::agents::{self, Filter};
use serde_json::json;

use crate::fleet::{Fleet, agent, later};

both_stores! {
    an_agent_is_shown_in_the_form_of_the_document,
    agents_are_listed_by_what_is_asked_for,
    a_deleted_agent_is_found_and_never_listed,
    an_account_belongs_to_an_agent_that_works_in_the_project,
}

async fn an_agent_is_shown_in_the_form_of_the_document(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    let id = fleet.agent(workspace, Some(project), "dev-1").await;
    fleet.status_changed(workspace, id, AgentStatus::Probation).await;
    fleet.project_everything().await;
    let shown = agents::find(fleet.views(), id).await.unwrap().unwrap();
    let expected = json!({
        "id": id, "workspaceId": workspace, "projectId": project, "agentLevel": "project", "agentCode": "dev-1",
        "name": "DEV-1", "roleTitle": "Developer", "status": "probation", "trustScore": 50.0,
        "capabilities": ["rust"], "settings": {}, "supervisorAgentId": null,
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:05:00Z", "deletedAt": null,
    });
    assert_eq!(serde_json::to_value(shown).unwrap(), expected);
}

async fn agents_are_listed_by_what_is_asked_for(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    fleet.agent(workspace, None, "org").await;
    fleet.agent(workspace, Some(project), "dev").await;
    let idle = fleet.agent(workspace, Some(project), "idle").await;
    fleet.status_changed(workspace, idle, AgentStatus::Inactive).await;
    fleet.agent(fleet.workspace("other").await, None, "foreign").await;
    fleet.project_everything().await;
    let codes = async |filter: Filter| {
        let found = agents::list(fleet.views(), &filter, 10, 0).await.unwrap();
        found.into_iter().map(|it| it.agent_code.to_string()).collect::<Vec<_>>()
    };
    let all = Filter { workspace, project: None, level: None, status: None };
    assert_eq!(codes(all).await, ["idle", "dev", "org"]);
    assert_eq!(codes(Filter { project: Some(project), ..all }).await, ["idle", "dev"]);
    assert_eq!(codes(Filter { level: Some(AgentLevel::Organization), ..all }).await, ["org"]);
    assert_eq!(codes(Filter { status: Some(AgentStatus::Inactive), ..all }).await, ["idle"]);
    let active_in_project = Filter { project: Some(project), status: Some(AgentStatus::Active), ..all };
    assert_eq!(codes(active_in_project).await, ["dev"]);
}

async fn a_deleted_agent_is_found_and_never_listed(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let id = fleet.agent(workspace, None, "org").await;
    fleet.happens(&agent(id), workspace, &AgentEvent::AgentDeleted { deleted_at: later(9) }).await;
    fleet.project_everything().await;
    let all = Filter { workspace, project: None, level: None, status: None };
    assert_eq!(agents::list(fleet.views(), &all, 10, 0).await.unwrap(), []);
    assert_eq!(agents::find(fleet.views(), id).await.unwrap().unwrap().deleted_at, Some(later(9)));
}

async fn an_account_belongs_to_an_agent_that_works_in_the_project(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (workspace, other) = (fleet.workspace("acme").await, fleet.workspace("other").await);
    let (rocket, site) = (fleet.project(workspace, "rocket").await, fleet.project(workspace, "site").await);
    let dev = fleet.agent(workspace, Some(rocket), "dev-1").await;
    let lead = fleet.agent(workspace, None, "lead").await;
    fleet.agent(other, None, "foreign").await;
    fleet.project_everything().await;
    let known = async |project, login: &str| {
        agents::of_account(fleet.views(), workspace, project, &Login::new(login)).await.unwrap()
    };
    assert_eq!((known(rocket, "Dev-1").await, known(site, "dev-1").await), (Some(dev), None));
    assert_eq!((known(rocket, "lead").await, known(site, "@LEAD").await), (Some(lead), Some(lead)));
    assert_eq!((known(rocket, "foreign").await, known(rocket, "").await), (None, None));
}
