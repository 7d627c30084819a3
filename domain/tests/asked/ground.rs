//! Of workspaces, projects and agents.

use domain::agent::{AgentCommand, AgentLevel, ChangeAgent, CreateAgent, DeleteAgent, RotateCredentials};
use domain::project::{ChangeProject, CreateProject, DeleteProject, ProjectCommand};
use domain::workspace::{ChangeWorkspace, CreateWorkspace, DeleteWorkspace, WorkspaceCommand};
use domain::{AgentCode, RepositoryUrl};
use proptest::option;
use proptest::prelude::*;

use super::{NOW, id, slug, status, user};

pub(crate) fn workspace_command() -> impl Strategy<Value = WorkspaceCommand> {
    let create = (user(), slug()).prop_map(|(owner, slug)| {
        WorkspaceCommand::Create(CreateWorkspace {
            workspace_id: id(10),
            owner,
            name: "Acme".to_owned(),
            slug,
            description: None,
            settings: Default::default(),
            now: NOW,
        })
    });
    let change = (user(), option::of("[ab]"), option::of(slug())).prop_map(|(by, name, slug)| {
        let (description, settings) = (None, None);
        WorkspaceCommand::Change(ChangeWorkspace { by, name, slug, description, settings, now: NOW })
    });
    let delete = user().prop_map(|by| WorkspaceCommand::Delete(DeleteWorkspace { by, now: NOW }));
    prop_oneof![2 => create, 4 => change, 1 => delete]
}

pub(crate) fn project_command() -> impl Strategy<Value = ProjectCommand> {
    let create = (slug(), option::of(repository())).prop_map(|(slug, repository_url)| {
        ProjectCommand::Create(CreateProject {
            project_id: id(20),
            workspace_id: id(10),
            name: "Shop".to_owned(),
            slug,
            description: None,
            repository_url,
            github_installation_id: None,
            mvp_document_url: None,
            now: NOW,
        })
    });
    let change = (option::of(slug()), option::of(repository()), option::of(any::<bool>()));
    let change = change.prop_map(|(slug, repository_url, is_active)| {
        ProjectCommand::Change(ChangeProject {
            name: None,
            slug,
            description: None,
            repository_url,
            github_installation_id: None,
            mvp_document_url: None,
            is_active,
            now: NOW,
        })
    });
    let delete = Just(ProjectCommand::Delete(DeleteProject { now: NOW }));
    prop_oneof![2 => create, 4 => change, 1 => delete]
}

pub(crate) fn agent_command() -> impl Strategy<Value = AgentCommand> {
    let create = (level(), option::of(Just(id(20)))).prop_map(|(level, project_id)| {
        AgentCommand::Create(CreateAgent {
            agent_id: id(30),
            workspace_id: id(10),
            project_id,
            level,
            code: AgentCode::parse("dev-1").expect("an agent code"),
            name: "Dev One".to_owned(),
            role_title: "Developer".to_owned(),
            capabilities: vec![],
            settings: Default::default(),
            supervisor_agent_id: None,
            credential_id: id(40),
            now: NOW,
        })
    });
    let change = (option::of("[ab]"), option::of(status())).prop_map(|(name, status)| {
        AgentCommand::Change(ChangeAgent {
            name,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            status,
            now: NOW,
        })
    });
    let rotate = (40..43_u128)
        .prop_map(|key| AgentCommand::RotateCredentials(RotateCredentials { credential_id: id(key), now: NOW }));
    let delete = Just(AgentCommand::Delete(DeleteAgent { now: NOW }));
    prop_oneof![2 => create, 5 => change, 1 => rotate, 1 => delete]
}

/// Few repositories, each written in several ways.
fn repository() -> impl Strategy<Value = RepositoryUrl> {
    "https://[aA].b/[cd](\\.git)?/?".prop_map(RepositoryUrl::new)
}

fn level() -> impl Strategy<Value = AgentLevel> {
    prop_oneof![Just(AgentLevel::Organization), Just(AgentLevel::Project)]
}
