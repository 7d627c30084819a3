//! Laws that hold for every history, whatever commands made it.

use std::collections::BTreeSet;
use std::fmt::Debug;

use chrono::{DateTime, Utc};
use cqrs_es::test::TestFramework;
use domain::agent::{
    Agent, AgentCommand, AgentLevel, AgentStatus, ChangeAgent, CreateAgent, DeleteAgent, RotateCredentials,
};
use domain::project::{ChangeProject, CreateProject, DeleteProject, Project, ProjectCommand};
use domain::workspace::{ChangeWorkspace, CreateWorkspace, DeleteWorkspace, Workspace, WorkspaceCommand};
use domain::{AgentCode, Claim, Demand, Entity, RepositoryUrl, Scope, Slug};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use uuid::Uuid;

const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

proptest! {
    #[test]
    fn a_workspace_holds_its_slug_while_it_is_in_use(commands in vec(workspace_command(), 0..12)) {
        let (workspace, held) = run::<Workspace>(commands);
        let expected = match workspace {
            Workspace::Live(live) => BTreeSet::from([Scope::workspace_slugs().claim(live.slug)]),
            Workspace::Absent | Workspace::Deleted { .. } => BTreeSet::new(),
        };
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn a_project_holds_its_slug_and_repository_while_it_is_in_use(
        commands in vec(project_command(), 0..12),
    ) {
        let (project, held) = run::<Project>(commands);
        let mut expected = BTreeSet::new();
        if let Project::Live(live) = project {
            expected.insert(Scope::project_slugs(live.workspace_id).claim(live.slug));
            expected.extend(live.repository_url.map(|url| Scope::repositories().claim(url.key())));
        }
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn an_agent_holds_its_code_while_in_use_and_its_place_while_it_may_work(
        commands in vec(agent_command(), 0..12),
    ) {
        let (agent, held) = run::<Agent>(commands);
        let mut expected = BTreeSet::new();
        if let Agent::Live(live) = agent {
            expected.insert(Scope::agent_codes(live.workspace_id).claim(live.code));
            let project = live.project_id.filter(|_| live.status.may_work());
            expected.extend(project.map(|it| Scope::project_agents(it).claim(live.agent_id)));
        }
        prop_assert_eq!(held, expected);
    }
}

/// The state that the commands lead to, and the claims that the stream then holds.
///
/// On the way it checks what holds for every aggregate.
fn run<A>(commands: Vec<A::Command>) -> (A, BTreeSet<Claim>)
where
    A: Entity + PartialEq + Debug,
    A::Command: Clone,
{
    let (mut history, mut state, mut held) = (vec![], A::default(), BTreeSet::new());
    for command in commands {
        // A refused command leaves no trace.
        for event in decide::<A>(&history, command.clone()).unwrap_or_default() {
            for demand in state.demands(&event) {
                settle(&mut held, demand);
            }
            state.apply(event.clone());
            history.push(event);
        }
        let repeated = decide::<A>(&history, command).unwrap_or_default();
        assert_eq!(repeated, [], "a repeated command is not a new fact");
    }
    assert_eq!(thawed(&state), state, "a snapshot loses nothing");
    (state, held)
}

fn decide<A: Entity>(history: &[A::Event], command: A::Command) -> Result<Vec<A::Event>, A::Error> {
    TestFramework::<A>::with(()).given(history.to_vec()).when(command).inspect_result()
}

fn settle<E>(held: &mut BTreeSet<Claim>, demand: Demand<E>) {
    match demand {
        Demand::Take { claim, .. } => {
            assert!(held.insert(claim.clone()), "{claim:?} is taken twice");
        }
        Demand::Release(claim) => assert!(held.remove(&claim), "{claim:?} was never taken"),
        Demand::Empty { .. } | Demand::Held { .. } => {}
    }
}

fn thawed<A: Entity>(state: &A) -> A {
    let frozen = serde_json::to_string(state).expect("a state is JSON");
    serde_json::from_str(&frozen).expect("a snapshot is a state")
}

fn workspace_command() -> impl Strategy<Value = WorkspaceCommand> {
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

fn project_command() -> impl Strategy<Value = ProjectCommand> {
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

fn agent_command() -> impl Strategy<Value = AgentCommand> {
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

fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

fn user() -> impl Strategy<Value = domain::UserId> {
    prop_oneof![4 => Just(id(1)), 1 => Just(id(2))]
}

fn slug() -> impl Strategy<Value = Slug> {
    "[abc]".prop_map(|text| Slug::parse(text).expect("a slug"))
}

/// Few repositories, each written in several ways.
fn repository() -> impl Strategy<Value = RepositoryUrl> {
    "https://[aA].b/[cd](\\.git)?/?".prop_map(RepositoryUrl::new)
}

fn level() -> impl Strategy<Value = AgentLevel> {
    prop_oneof![Just(AgentLevel::Organization), Just(AgentLevel::Project)]
}

fn status() -> impl Strategy<Value = AgentStatus> {
    prop_oneof![
        Just(AgentStatus::Active),
        Just(AgentStatus::Probation),
        Just(AgentStatus::Inactive),
        Just(AgentStatus::Terminated),
    ]
}
