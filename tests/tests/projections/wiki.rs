//! The wiki's read model: versions of entries as they are shown and listed.

use domain::wiki::{Author, WikiEntryStatus, WikiEvent};
use domain::{AgentId, ProjectId, Slug, WikiEntryId, WorkspaceId};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::wiki::{self, Filter};
use serde_json::json;
use store::sql::Words;
use uuid::Uuid;

use crate::fleet::{self, Fleet, later};

both_stores! {
    an_entry_is_shown_in_the_form_of_the_document,
    only_current_versions_are_listed,
    entries_are_listed_by_project_status_and_tags,
    a_list_comes_in_pages,
    next_versions_are_found_newest_first,
}

pub(crate) fn filter(workspace: WorkspaceId) -> Filter {
    let status = WikiEntryStatus::Approved;
    Filter { workspace, project: None, status, tags: vec![], search: Words::default() }
}

pub(crate) async fn slugs(fleet: &Fleet, filter: &Filter) -> Vec<String> {
    let found = wiki::list(fleet.views(), filter, 100, 0).await.unwrap();
    found.into_iter().map(|it| it.slug.to_string()).collect()
}

pub(crate) async fn approved(fleet: &Fleet, workspace: WorkspaceId, id: WikiEntryId, minutes: i64) {
    let event = WikiEvent::WikiEntryApproved { approved_by: fleet.owner, approved_at: later(minutes) };
    fleet.happens(&fleet::wiki(id), workspace, &event).await;
}

async fn next_version(fleet: &Fleet, workspace: WorkspaceId, parent: WikiEntryId, minutes: i64) -> WikiEntryId {
    let id = WikiEntryId(Uuid::now_v7());
    let event = WikiEvent::WikiEntryProposed {
        entry_id: id,
        workspace_id: workspace,
        project_id: None,
        proposed_by: Author::Agent(AgentId(Uuid::from_u128(3))),
        title: "Locks, again".into(),
        slug: Slug::parse("locks").unwrap(),
        content: "Avoid them well".into(),
        tags: vec![],
        version: 2,
        parent_entry_id: Some(parent),
        proposed_at: later(minutes),
    };
    fleet.happens(&fleet::wiki(id), workspace, &event).await;
    id
}

async fn an_entry_is_shown_in_the_form_of_the_document(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    let text = ["Locks", "Avoid them"];
    let id = fleet.proposed(workspace, Some(project), "locks", &text, &["rust", "sync"], 0).await;
    let rejected =
        WikiEvent::WikiEntryRejected { rejected_by: fleet.owner, reason: "Not so".into(), rejected_at: later(1) };
    fleet.happens(&fleet::wiki(id), workspace, &rejected).await;
    for (views, minutes) in [(3, 9), (4, 8)] {
        let counted = WikiEvent::WikiViewsCounted { views, last_viewed_at: later(minutes) };
        fleet.happens(&fleet::wiki(id), workspace, &counted).await;
    }
    fleet.project_everything().await;
    let shown = wiki::find(fleet.views(), id).await.unwrap().unwrap();
    let expected = json!({
        "id": id, "workspaceId": workspace, "projectId": project, "proposedByAgentId": null, "status": "rejected",
        "isCurrent": false, "title": "Locks", "slug": "locks", "content": "Avoid them", "tags": ["rust", "sync"],
        "version": 1, "parentEntryId": null, "approvedBy": null, "approvedAt": null, "rejectionReason": "Not so",
        "viewCount": 7, "lastViewedAt": "2026-03-01T12:09:00Z",
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:01:00Z",
    });
    assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    assert_eq!(wiki::find(fleet.views(), WikiEntryId(Uuid::now_v7())).await.unwrap(), None);
}

async fn only_current_versions_are_listed(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let first = fleet.wiki_entry(workspace, "locks", 0).await;
    approved(&fleet, workspace, first, 1).await;
    let second = next_version(&fleet, workspace, first, 2).await;
    fleet.project_everything().await;
    let listed = async || {
        let found = wiki::list(fleet.views(), &filter(workspace), 10, 0).await.unwrap();
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [first]);
    approved(&fleet, workspace, second, 3).await;
    let superseded = WikiEvent::WikiEntrySuperseded { by_entry_id: second, superseded_at: later(3) };
    fleet.happens(&fleet::wiki(first), workspace, &superseded).await;
    fleet.project_everything().await;
    assert_eq!(listed().await, [second]);
    let before = wiki::find(fleet.views(), first).await.unwrap().unwrap();
    assert_eq!((before.status, before.is_current), (WikiEntryStatus::Approved, false));
}

async fn entries_are_listed_by_project_status_and_tags(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (workspace, other) = (fleet.workspace("acme").await, fleet.workspace("other").await);
    let project = ProjectId(Uuid::now_v7());
    let text = ["Title", "Content"];
    let tagged: [(&str, Option<ProjectId>, &[&str]); 5] = [
        ("plain", None, &[]),
        ("rust", None, &["rust"]),
        ("both", None, &["sync", "rust"]),
        ("odd", None, &["Rust", "it's 100%", "rust"]),
        ("of-project", Some(project), &["rust"]),
    ];
    for (at, (slug, project, tags)) in (0..).zip(tagged) {
        let id = fleet.proposed(workspace, project, slug, &text, tags, at).await;
        approved(&fleet, workspace, id, 10).await;
    }
    fleet.wiki_entry(workspace, "pending", 20).await;
    let foreign = fleet.wiki_entry(other, "foreign", 21).await;
    approved(&fleet, other, foreign, 22).await;
    fleet.project_everything().await;
    let all = filter(workspace);
    let with = |tags: &[&str]| Filter { tags: tags.iter().map(|it| (*it).to_owned()).collect(), ..all.clone() };
    assert_eq!(slugs(&fleet, &all).await, ["odd", "both", "rust", "plain"]);
    assert_eq!(slugs(&fleet, &with(&["rust"])).await, ["odd", "both", "rust"]);
    assert_eq!(slugs(&fleet, &with(&["rust", "sync"])).await, ["both"]);
    assert_eq!(slugs(&fleet, &with(&["it's 100%"])).await, ["odd"]);
    assert_eq!(slugs(&fleet, &with(&["rust", "none"])).await, Vec::<String>::new());
    assert_eq!(slugs(&fleet, &Filter { project: Some(project), ..all.clone() }).await, ["of-project"]);
    let pending = Filter { status: WikiEntryStatus::PendingApproval, ..all };
    assert_eq!(slugs(&fleet, &pending).await, ["pending"]);
}

async fn a_list_comes_in_pages(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    for at in 0..5 {
        let id = fleet.wiki_entry(workspace, &format!("e-{at}"), at).await;
        approved(&fleet, workspace, id, at).await;
    }
    fleet.project_everything().await;
    let page = async |limit, offset| {
        let found = wiki::list(fleet.views(), &filter(workspace), limit, offset).await.unwrap();
        found.into_iter().map(|it| it.slug.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(page(2, 0).await, ["e-4", "e-3"]);
    assert_eq!(page(2, 4).await, ["e-0"]);
    assert_eq!(page(2, 9).await, Vec::<String>::new());
}

async fn next_versions_are_found_newest_first(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let first = fleet.wiki_entry(workspace, "locks", 0).await;
    approved(&fleet, workspace, first, 1).await;
    let one = next_version(&fleet, workspace, first, 2).await;
    let two = next_version(&fleet, workspace, first, 3).await;
    fleet.project_everything().await;
    let found = wiki::children(fleet.views(), first, 10).await.unwrap();
    assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [two, one]);
    assert_eq!(wiki::children(fleet.views(), first, 1).await.unwrap().len(), 1);
    assert_eq!(wiki::children(fleet.views(), one, 10).await.unwrap(), []);
}
