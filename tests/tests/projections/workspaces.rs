//! What the queries of workspaces and projects answer.

use domain::project::ProjectEvent;
use domain::workspace::WorkspaceEvent;
use domain::{ProjectId, UserId, WorkspaceId};
use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};
use projections::{PROJECT, facts_of, projects, workspaces};
use serde_json::json;
use store::StreamId;
use uuid::Uuid;

use crate::fleet::{Fleet, later, workspace};

both_stores! {
    a_workspace_is_shown_in_the_form_of_the_document,
    an_owner_sees_their_own_workspaces_newest_first,
    a_deleted_workspace_is_listed_only_when_asked_for,
    projects_are_listed_by_what_is_asked_for,
    an_entity_can_be_shown_as_of_a_position,
}

async fn a_workspace_is_shown_in_the_form_of_the_document(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.renamed(id, "Acme Inc.").await;
    fleet.project_everything().await;
    let shown = workspaces::find(fleet.views(), id).await.unwrap().unwrap();
    let expected = json!({
        "id": id, "ownerId": fleet.owner, "name": "Acme Inc.", "slug": "acme", "description": null, "settings": {},
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:01:00Z", "deletedAt": null,
    });
    assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    assert_eq!(workspaces::find(fleet.views(), WorkspaceId(Uuid::nil())).await.unwrap(), None);
}

async fn an_owner_sees_their_own_workspaces_newest_first(bench: Bench) {
    let mut fleet = Fleet::new(bench);
    fleet.workspace("mine-1").await;
    fleet.workspace("mine-2").await;
    let me = std::mem::replace(&mut fleet.owner, UserId(Uuid::now_v7()));
    fleet.workspace("theirs").await;
    fleet.project_everything().await;
    let slugs = async |limit, offset| {
        let found = workspaces::list_owned(fleet.views(), me, true, limit, offset).await.unwrap();
        found.into_iter().map(|it| it.slug.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(slugs(10, 0).await, ["mine-2", "mine-1"]);
    assert_eq!(slugs(1, 1).await, ["mine-1"]);
}

async fn a_deleted_workspace_is_listed_only_when_asked_for(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    fleet.happens(&workspace(id), id, &WorkspaceEvent::WorkspaceDeleted { deleted_at: later(2) }).await;
    fleet.project_everything().await;
    let list = async |deleted| workspaces::list_owned(fleet.views(), fleet.owner, deleted, 10, 0).await.unwrap();
    assert_eq!(list(false).await, []);
    assert_eq!(list(true).await[0].deleted_at, Some(later(2)));
    assert_eq!(workspaces::find(fleet.views(), id).await.unwrap().unwrap().updated_at, later(2));
}

async fn projects_are_listed_by_what_is_asked_for(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let _active = fleet.project(workspace, "active").await;
    let paused = fleet.project(workspace, "paused").await;
    let deleted = fleet.project(workspace, "deleted").await;
    fleet.project(fleet.workspace("other").await, "elsewhere").await;
    fleet.happens(&project(paused), workspace, &pausing()).await;
    fleet.happens(&project(deleted), workspace, &ProjectEvent::ProjectDeleted { deleted_at: later(2) }).await;
    fleet.project_everything().await;
    let slugs = async |inactive, deleted| {
        let found = projects::list(fleet.views(), workspace, inactive, deleted, 10, 0).await.unwrap();
        found.into_iter().map(|it| it.slug.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(slugs(false, false).await, ["active"]);
    assert_eq!(slugs(true, false).await, ["paused", "active"]);
    assert_eq!(slugs(false, true).await, ["deleted", "active"]);
    assert_eq!(slugs(true, true).await, ["deleted", "paused", "active"]);
    assert!(!projects::find(fleet.views(), paused).await.unwrap().unwrap().is_active);
}

async fn an_entity_can_be_shown_as_of_a_position(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let second = fleet.renamed(id, "second").await;
    fleet.renamed(id, "third").await;
    fleet.project_everything().await;
    let as_of = async |position| {
        let facts = facts_of(&fleet.log(), &workspace(id), position).await.unwrap();
        workspaces::as_of(&facts).unwrap()
    };
    assert_eq!(as_of(0).await, None);
    assert_eq!(as_of(1).await.unwrap().updated_at, noon());
    assert_eq!(as_of(second).await.unwrap().name, "second");
    assert_eq!(as_of(99).await, workspaces::find(fleet.views(), id).await.unwrap());
}

fn project(id: ProjectId) -> StreamId {
    StreamId::new(PROJECT, id)
}

fn pausing() -> ProjectEvent {
    ProjectEvent::ProjectDetailsChanged {
        name: None,
        slug: None,
        description: None,
        repository_url: None,
        github_installation_id: None,
        mvp_document_url: None,
        is_active: Some(false),
        changed_at: later(1),
    }
}
