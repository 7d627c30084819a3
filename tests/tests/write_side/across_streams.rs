//! Rules that span streams hold at the append, whatever comes first.

use commands::{CommandError, Refusal};
use domain::agent::{AgentError, AgentStatus};
use domain::project::{DeleteProject, ProjectCommand, ProjectError};
use domain::workspace::{DeleteWorkspace, Workspace, WorkspaceCommand, WorkspaceError};
use domain::{ProjectId, Slug, WorkspaceId};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};

both_stores! {
    a_slug_has_one_workspace_even_when_many_ask_at_once,
    a_workspace_with_a_project_stays,
    a_workspace_with_an_agent_stays,
    a_project_stays_while_an_agent_may_work_in_it,
    an_agent_does_not_come_back_to_a_deleted_project,
    an_agent_never_exists_without_its_key,
    a_stranger_manages_nothing,
    a_supervisor_is_of_the_same_workspace,
}

async fn a_slug_has_one_workspace_even_when_many_ask_at_once(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let made = join_all((0..16).map(|_| fleet.workspace("acme"))).await;
    let taken = refused(WorkspaceError::SlugTaken(Slug::parse("acme").unwrap()));
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 1);
    assert!(made.into_iter().filter_map(Result::err).all(|error| error == taken));
}

async fn a_workspace_with_a_project_stays(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    assert_eq!(delete_workspace(&fleet, acme).await, Err(refused(WorkspaceError::NotEmpty)));
    delete_project(&fleet, shop).await.unwrap();
    delete_workspace(&fleet, acme).await.unwrap();
    // Its slug is free again.
    fleet.workspace("acme").await.unwrap();
}

async fn a_workspace_with_an_agent_stays(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let lead = fleet.agent(acme, None, "lead", None).await.unwrap();
    assert_eq!(delete_workspace(&fleet, acme).await, Err(refused(WorkspaceError::NotEmpty)));
    fleet.dismiss(lead).await.unwrap();
    delete_workspace(&fleet, acme).await.unwrap();
}

async fn a_project_stays_while_an_agent_may_work_in_it(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    let dev = fleet.agent(acme, Some(shop), "dev", None).await.unwrap();
    assert_eq!(delete_project(&fleet, shop).await, Err(refused(ProjectError::HasActiveAgents)));
    fleet.set_status(dev, AgentStatus::Inactive).await.unwrap();
    delete_project(&fleet, shop).await.unwrap();
}

async fn an_agent_does_not_come_back_to_a_deleted_project(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    let dev = fleet.agent(acme, Some(shop), "dev", None).await.unwrap();
    fleet.set_status(dev, AgentStatus::Inactive).await.unwrap();
    delete_project(&fleet, shop).await.unwrap();
    assert_eq!(fleet.set_status(dev, AgentStatus::Active).await, Err(refused(ProjectError::NotFound)));
}

async fn an_agent_never_exists_without_its_key(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let dev = fleet.agent(acme, None, "dev", None).await.unwrap();
    let log = bench.log();
    let key = log.accounts().credential(dev.0).await.unwrap().unwrap();
    assert_eq!((key.key_hash.as_slice(), key.standing.as_str()), (b"dev".as_slice(), "active"));
    fleet.set_status(dev, AgentStatus::Probation).await.unwrap();
    let key = log.accounts().credential(dev.0).await.unwrap().unwrap();
    assert_eq!(key.standing, "probation");
    // A refused agent leaves no key behind.
    assert!(fleet.agent(acme, None, "dev", None).await.is_err());
    fleet.dismiss(dev).await.unwrap();
    assert!(log.accounts().credential(dev.0).await.unwrap().is_none());
}

async fn a_stranger_manages_nothing(bench: Bench) {
    let (fleet, stranger) = (Fleet::on(bench.log()), Fleet::on(bench.log()));
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    let dev = fleet.agent(acme, Some(shop), "dev", None).await.unwrap();
    let before = bench.everything().await;
    assert_eq!(stranger.rename(acme, "Mine").await.map(drop), Err(refused(WorkspaceError::AccessDenied)));
    assert_eq!(stranger.project(acme, "mine").await, Err(refused(WorkspaceError::AccessDenied)));
    assert_eq!(stranger.agent(acme, None, "mine", None).await, Err(refused(WorkspaceError::AccessDenied)));
    assert_eq!(delete_project(&stranger, shop).await, Err(refused(ProjectError::AccessDenied)));
    assert_eq!(stranger.dismiss(dev).await, Err(refused(AgentError::AccessDenied)));
    assert_eq!(bench.everything().await, before);
}

async fn a_supervisor_is_of_the_same_workspace(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let (acme, other) = (fleet.workspace("acme").await.unwrap(), fleet.workspace("other").await.unwrap());
    let lead = fleet.agent(other, None, "lead", None).await.unwrap();
    assert_eq!(fleet.agent(acme, None, "dev", Some(lead)).await, Err(refused(AgentError::NotFound)));
    assert_eq!(fleet.agent(acme, None, "dev", Some(new())).await, Err(refused(AgentError::NotFound)));
}

async fn delete_workspace(fleet: &Fleet, id: WorkspaceId) -> Result<(), CommandError> {
    let command = WorkspaceCommand::Delete(DeleteWorkspace { by: fleet.owner, now: noon() });
    let command = commands::On::<Workspace> { name: "workspace.delete", id: id.0, command };
    fleet.executor.run(&fleet.context(), &command).await.map(drop)
}

async fn delete_project(fleet: &Fleet, project_id: ProjectId) -> Result<(), CommandError> {
    let command = ProjectCommand::Delete(DeleteProject { now: noon() });
    let command = commands::project::ManageProject { by: fleet.owner, project_id, command };
    fleet.executor.run(&fleet.context(), &command).await.map(drop)
}

fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
