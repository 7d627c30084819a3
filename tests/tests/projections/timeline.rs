//! What the queries of the timeline answer.

use domain::WorkspaceId;
use domain::agent::AgentStatus;
use muster_tests::both_stores;
use muster_tests::commits::Build;
use muster_tests::stores::Bench;
use projections::timeline::{self, Filter};
use serde_json::{Value, json};
use store::Commit;
use uuid::Uuid;

use crate::fleet::{Fleet, stored, workspace};

both_stores! {
    an_entry_is_shown_in_the_form_of_the_document,
    every_change_of_a_workspace_is_an_entry_newest_first,
    pages_of_several_workspaces_are_merged_in_the_order_of_the_log,
    filters_narrow_what_is_shown,
    a_caller_who_may_see_no_workspace_sees_nothing,
    one_entry_is_found_by_the_id_of_its_event,
    a_follower_gets_what_came_after_a_position_oldest_first,
    users_are_on_no_timeline,
    a_great_many_workspaces_are_searched_at_once,
    a_total_beyond_ten_thousand_is_a_lower_bound,
}

async fn an_entry_is_shown_in_the_form_of_the_document(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    let agent = fleet.agent(workspace, Some(project), "dev-1").await;
    fleet.status_changed(workspace, agent, AgentStatus::Probation).await;
    fleet.project_everything().await;
    let id = fleet.bench.everything().await.pop().unwrap().event_id;
    let expected = json!({
        "id": id, "type": "agent_status_changed", "authorId": fleet.owner, "sessionId": null, "projectId": project,
        "content": {
            "agentId": agent, "agentName": "DEV-1", "agentCode": "dev-1",
            "previousStatus": "active", "newStatus": "probation",
        },
        "mentions": [agent],
        "metadata": {
            "actor": { "type": "user", "id": fleet.owner }, "workspaceId": workspace, "position": 4, "sequence": 2,
            "aggregate": { "type": "agent", "id": agent }, "commandId": "c-1", "correlationId": "r-1",
            "causationId": null, "traceId": null,
        },
        "timestamp": "2026-03-01T12:05:00Z", "createdAt": "2026-03-01T12:00:00Z",
    });
    assert_eq!(page(&fleet, &of(&[workspace]), 1, 0).await.0, [expected]);
}

async fn every_change_of_a_workspace_is_an_entry_newest_first(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    fleet.agent(workspace, None, "org").await;
    fleet.renamed(workspace, "Acme Inc.").await;
    fleet.project_everything().await;
    let (entries, total, has_more) = page(&fleet, &of(&[workspace]), 10, 0).await;
    assert_eq!(types(&entries), ["workspace_updated", "agent_created", "workspace_created"]);
    assert_eq!(entries[0]["content"]["changes"], json!({ "name": "Acme Inc." }));
    assert_eq!((total, has_more), (3, false));
}

async fn pages_of_several_workspaces_are_merged_in_the_order_of_the_log(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (a, b) = (fleet.workspace("a").await, fleet.workspace("b").await);
    let hidden = fleet.workspace("hidden").await;
    for n in 0..4 {
        fleet.renamed(if n % 2 == 0 { b } else { a }, &format!("{n}")).await;
        fleet.renamed(hidden, &format!("{n}")).await;
    }
    fleet.project_everything().await;
    let both = of(&[a, b]);
    let (first, total, more) = page(&fleet, &both, 4, 0).await;
    assert_eq!((positions(&first), total, more), (vec![10, 8, 6, 4], 6, true));
    let (second, total, more) = page(&fleet, &both, 4, 4).await;
    assert_eq!((positions(&second), total, more), (vec![2, 1], 6, false));
    let (third, total, more) = page(&fleet, &both, 4, 8).await;
    assert_eq!((positions(&third), total, more), (vec![], 6, false));
}

async fn filters_narrow_what_is_shown(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    let dev = fleet.agent(workspace, Some(project), "dev").await;
    let org = fleet.agent(workspace, None, "org").await;
    fleet.status_changed(workspace, dev, AgentStatus::Inactive).await;
    fleet.status_changed(workspace, org, AgentStatus::Inactive).await;
    fleet.project_everything().await;
    let all = of(&[workspace]);
    let shown = async |filter: Filter| {
        let (entries, total, _) = page(&fleet, &filter, 10, 0).await;
        assert_eq!(entries.len() as i64, total);
        positions(&entries)
    };
    assert_eq!(shown(Filter { project: Some(project), ..all.clone() }).await, [5, 3, 2]);
    assert_eq!(shown(Filter { agent: Some(org), ..all.clone() }).await, [6, 4]);
    assert_eq!(shown(Filter { kind: Some("agent_status_changed".into()), ..all.clone() }).await, [6, 5]);
    assert_eq!(shown(Filter { before: Some(3), ..all.clone() }).await, [2, 1]);
    assert_eq!(shown(Filter { session: Some(Uuid::nil()), ..all.clone() }).await, Vec::<i64>::new());
    let both = Filter { project: Some(project), kind: Some("agent_created".into()), ..all };
    assert_eq!(shown(both).await, [3]);
}

async fn a_caller_who_may_see_no_workspace_sees_nothing(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.workspace("acme").await;
    fleet.project_everything().await;
    assert_eq!(page(&fleet, &Filter::default(), 10, 0).await, (vec![], 0, false));
    assert!(timeline::after(fleet.views(), &Filter::default(), 0, 10).await.unwrap().is_empty());
}

async fn one_entry_is_found_by_the_id_of_its_event(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let project = fleet.project(workspace, "rocket").await;
    fleet.project_everything().await;
    let id = fleet.bench.everything().await.pop().unwrap().event_id;
    let found = timeline::find(fleet.views(), id).await.unwrap().unwrap();
    assert_eq!((found.doc.position, found.workspace_id, found.project_id), (2, workspace, Some(project)));
    assert!(found.doc.json.contains("project_created"));
    assert!(timeline::find(fleet.views(), Uuid::nil()).await.unwrap().is_none());
}

async fn a_follower_gets_what_came_after_a_position_oldest_first(bench: Bench) {
    let fleet = Fleet::new(bench);
    let (a, b) = (fleet.workspace("a").await, fleet.workspace("b").await);
    for n in 0..3 {
        fleet.renamed(a, &format!("{n}")).await;
        fleet.renamed(b, &format!("{n}")).await;
    }
    fleet.project_everything().await;
    let passed = async |filter: Filter, position, limit| {
        let passed = timeline::after(fleet.views(), &filter, position, limit).await.unwrap();
        passed.into_iter().map(|it| (it.position, it.kind)).collect::<Vec<_>>()
    };
    let updated = |position| (position, "workspace_updated".to_owned());
    assert_eq!(passed(of(&[a, b]), 3, 3).await, [updated(4), updated(5), updated(6)]);
    assert_eq!(passed(of(&[b]), 3, 10).await, [updated(4), updated(6), updated(8)]);
    assert_eq!(passed(of(&[a, b]), 8, 10).await, []);
}

async fn users_are_on_no_timeline(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let user = domain::UserId(Uuid::now_v7());
    let event = domain::user::UserEvent::UserSignedUp { user_id: user, signed_up_at: crate::fleet::later(1) };
    let signed_up = store::NewEvent { workspace_id: None, ..stored(&event, id, user) };
    fleet.appends(&store::StreamId::new(projections::USER, user), signed_up).await;
    fleet.happens(&workspace(id), id, &crate::fleet::renaming("x")).await;
    fleet.project_everything().await;
    assert_eq!(positions(&page(&fleet, &of(&[id]), 10, 0).await.0), [3, 1]);
}

async fn a_great_many_workspaces_are_searched_at_once(bench: Bench) {
    let fleet = Fleet::new(bench);
    let mut ids = Vec::new();
    for n in 0..120 {
        ids.push(fleet.workspace(&format!("w-{n}")).await);
    }
    fleet.project_everything().await;
    let (entries, total, has_more) = page(&fleet, &of(&ids), 2, 1).await;
    assert_eq!((positions(&entries), total, has_more), (vec![119, 118], 120, true));
    let (entries, total, _) = page(&fleet, &of(&ids[..100]), 2, 1).await;
    assert_eq!((positions(&entries), total), (vec![99, 98], 100));
}

async fn a_total_beyond_ten_thousand_is_a_lower_bound(bench: Bench) {
    let fleet = Fleet::new(bench);
    let id = fleet.workspace("acme").await;
    let events = (1..10_000).map(|n| stored(&crate::fleet::renaming(&format!("{n}")), id, fleet.owner)).collect();
    fleet.bench.commit(Commit::default().append(&workspace(id), 1, events)).await.unwrap();
    fleet.project_everything().await;
    let total = async || {
        let page = timeline::list(fleet.views(), &of(&[id]), 100, 9_950).await.unwrap();
        (page.entries.len(), page.total, page.total_is_lower_bound, page.has_more)
    };
    assert_eq!(total().await, (50, 10_000, false, false));
    let one_more = vec![stored(&crate::fleet::renaming("one more"), id, fleet.owner)];
    fleet.bench.commit(Commit::default().append(&workspace(id), 10_000, one_more)).await.unwrap();
    fleet.project_everything().await;
    assert_eq!(total().await, (51, 10_000, true, false));
}

fn of(workspaces: &[WorkspaceId]) -> Filter {
    Filter { workspaces: workspaces.to_vec(), ..Filter::default() }
}

async fn page(fleet: &Fleet, filter: &Filter, limit: i64, offset: i64) -> (Vec<Value>, i64, bool) {
    let page = timeline::list(fleet.views(), filter, limit, offset).await.unwrap();
    assert!(!page.total_is_lower_bound);
    let entries = page.entries.iter().map(|it| serde_json::from_str(&it.json).unwrap()).collect();
    (entries, page.total, page.has_more)
}

fn types(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|it| it["type"].as_str().unwrap()).collect()
}

fn positions(entries: &[Value]) -> Vec<i64> {
    entries.iter().map(|it| it["metadata"]["position"].as_i64().unwrap()).collect()
}
