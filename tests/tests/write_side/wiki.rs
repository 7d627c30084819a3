//! The rules of the wiki that span streams hold at the append.

use commands::wiki::{ApproveEntry, ProposeEntry, ProposeNextVersion, RejectEntry};
use commands::{Actor, CommandError, Context, Refusal};
use domain::agent::AgentError;
use domain::project::{DeleteProject, ProjectCommand, ProjectError};
use domain::wiki::{self, Author, WikiError};
use domain::workspace::WorkspaceError;
use domain::{ProjectId, Slug, WikiEntryId, WorkspaceId};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};

both_stores! {
    a_slug_has_one_entry_even_when_many_propose_it_at_once,
    one_of_many_next_versions_is_approved_even_when_all_are_at_once,
    the_version_before_gives_way_in_the_same_commit,
    a_rejected_first_version_frees_the_slug_and_a_rejected_next_one_does_not,
    a_deleted_project_gains_no_entry,
    a_deleted_agent_proposes_nothing,
    another_owner_decides_nothing,
}

fn asked(by: Author, workspace_id: WorkspaceId, project_id: Option<ProjectId>) -> ProposeEntry {
    let entry = wiki::ProposeEntry {
        entry_id: new(),
        workspace_id,
        project_id,
        by,
        level: None,
        title: "Locks".to_owned(),
        slug: locks(),
        content: "Avoid them".to_owned(),
        tags: vec![],
        now: noon(),
    };
    ProposeEntry { entry }
}

fn locks() -> Slug {
    Slug::parse("locks").unwrap()
}

async fn propose(fleet: &Fleet, workspace: WorkspaceId) -> Result<WikiEntryId, CommandError> {
    let command = asked(Author::User(fleet.owner), workspace, None);
    Ok(fleet.executor.run(&fleet.context(), &command).await?.outcome)
}

async fn next(fleet: &Fleet, parent_entry_id: WikiEntryId) -> Result<WikiEntryId, CommandError> {
    let command = ProposeNextVersion {
        by: Author::User(fleet.owner),
        entry_id: new(),
        parent_entry_id,
        title: None,
        content: Some("Avoid them well".to_owned()),
        tags: None,
        now: noon(),
    };
    Ok(fleet.executor.run(&fleet.context(), &command).await?.outcome)
}

async fn approve(fleet: &Fleet, entry_id: WikiEntryId) -> Result<(), CommandError> {
    fleet.executor.run(&fleet.context(), &ApproveEntry { by: fleet.owner, entry_id }).await.map(drop)
}

async fn reject(fleet: &Fleet, entry_id: WikiEntryId) -> Result<(), CommandError> {
    let command = RejectEntry { by: fleet.owner, entry_id, reason: "Not so".to_owned() };
    fleet.executor.run(&fleet.context(), &command).await.map(drop)
}

fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}

async fn a_slug_has_one_entry_even_when_many_propose_it_at_once(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let made = join_all((0..8).map(|_| propose(&fleet, acme))).await;
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 1);
    let taken = refused(WikiError::SlugTaken(locks()));
    assert!(made.into_iter().filter_map(Result::err).all(|error| error == taken));
}

async fn one_of_many_next_versions_is_approved_even_when_all_are_at_once(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let elsewhere = fleet.elsewhere(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let first = propose(&fleet, acme).await.unwrap();
    approve(&fleet, first).await.unwrap();
    let nexts: Vec<_> = join_all((0..6).map(|_| next(&fleet, first))).await.into_iter().map(Result::unwrap).collect();
    let nodes = [&fleet, &elsewhere];
    let ended = join_all(nexts.iter().enumerate().map(|(at, id)| approve(nodes[at % 2], *id))).await;
    assert_eq!(ended.iter().filter(|it| it.is_ok()).count(), 1);
    assert!(ended.into_iter().filter_map(Result::err).all(|error| error == refused(WikiError::NotCurrent)));
    // The entry goes on from the one that was approved, and from none of the others.
    let again = join_all(nexts.iter().map(|id| next(&fleet, *id))).await;
    assert_eq!(again.iter().filter(|it| it.is_ok()).count(), 1);
}

async fn the_version_before_gives_way_in_the_same_commit(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let first = propose(&fleet, acme).await.unwrap();
    approve(&fleet, first).await.unwrap();
    let second = next(&fleet, first).await.unwrap();
    approve(&fleet, second).await.unwrap();
    let events = bench.everything().await;
    let last: Vec<_> = events[events.len() - 2..].iter().map(|it| it.event_type.as_str()).collect();
    assert_eq!(last, ["WikiEntryApproved", "WikiEntrySuperseded"]);
    let commands = events[events.len() - 2..].iter().map(|it| it.metadata.clone()).collect::<Vec<_>>();
    assert_eq!(commands[0], commands[1], "one command");
    assert_eq!(next(&fleet, first).await, Err(refused(WikiError::NotCurrent)));
}

async fn a_rejected_first_version_frees_the_slug_and_a_rejected_next_one_does_not(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let first = propose(&fleet, acme).await.unwrap();
    reject(&fleet, first).await.unwrap();
    let second = propose(&fleet, acme).await.unwrap();
    approve(&fleet, second).await.unwrap();
    let third = next(&fleet, second).await.unwrap();
    reject(&fleet, third).await.unwrap();
    assert_eq!(propose(&fleet, acme).await, Err(refused(WikiError::SlugTaken(locks()))));
    next(&fleet, second).await.unwrap();
}

async fn a_deleted_project_gains_no_entry(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    let propose = asked(Author::User(fleet.owner), acme, Some(shop));
    let first = fleet.executor.run(&fleet.context(), &propose).await.unwrap().outcome;
    approve(&fleet, first).await.unwrap();
    let command = ProjectCommand::Delete(DeleteProject { now: noon() });
    let delete = commands::project::ManageProject { by: fleet.owner, project_id: shop, command };
    fleet.executor.run(&fleet.context(), &delete).await.unwrap();
    let propose = asked(Author::User(fleet.owner), acme, Some(shop));
    let refusal = fleet.executor.run(&fleet.context(), &propose).await.unwrap_err();
    assert_eq!(refusal, refused(ProjectError::NotFound));
    assert_eq!(next(&fleet, first).await, Err(refused(ProjectError::NotFound)));
}

async fn a_deleted_agent_proposes_nothing(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let lead = fleet.agent(acme, None, "lead", None).await.unwrap();
    fleet.dismiss(lead).await.unwrap();
    let context = Context::new(Actor::Agent(lead), noon());
    let refusal = fleet.executor.run(&context, &asked(Author::Agent(lead), acme, None)).await.unwrap_err();
    assert_eq!(refusal, refused(AgentError::NotFound));
}

async fn another_owner_decides_nothing(bench: Bench) {
    let (fleet, stranger) = (Fleet::on(bench.log()), Fleet::on(bench.log()));
    let acme = fleet.workspace("acme").await.unwrap();
    let entry = propose(&fleet, acme).await.unwrap();
    let before = bench.everything().await;
    assert_eq!(propose(&stranger, acme).await, Err(refused(WorkspaceError::AccessDenied)));
    assert_eq!(next(&stranger, entry).await, Err(refused(WikiError::AccessDenied)));
    assert_eq!(approve(&stranger, entry).await, Err(refused(WikiError::AccessDenied)));
    assert_eq!(reject(&stranger, entry).await, Err(refused(WikiError::AccessDenied)));
    assert_eq!(bench.everything().await, before);
}
