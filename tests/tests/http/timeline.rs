//! The timeline over HTTP: pages, filters and single entries.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    every_change_shows_newest_first,
    the_timeline_is_filtered,
    pages_do_not_shift_when_read_by_position,
    an_entry_comes_with_its_author_and_project,
    what_does_not_exist_is_not_found,
    a_deleted_workspaces_history_stays,
);

async fn types(client: &Client, filter: &str) -> Vec<String> {
    let answer = client.get(&format!("/api/event.list{filter}")).await.ok();
    answer.body["events"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect()
}

async fn every_change_shows_newest_first(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let agent = ada.new_agent(&workspace, Some(&project), "dev").await["agent"]["id"].clone();
    ada.put("/api/agent.update", &json!({ "id": agent, "status": "probation" })).await.ok();
    ada.post("/api/agent.rotateCredentials", &json!({ "id": agent })).await.ok();
    let answer = ada.get("/api/event.list").await.ok();
    let newest_first =
        ["agent_credentials_rotated", "agent_status_changed", "agent_created", "project_created", "workspace_created"];
    assert_eq!(types(&ada, "").await, newest_first);
    assert_eq!((&answer.body["total"], &answer.body["hasMore"]), (&json!(5), &json!(false)));
    assert_eq!(answer.body["totalIsLowerBound"], json!(false));
    let entry = answer.body["events"][2].as_object().unwrap();
    let mut fields: Vec<&str> = entry.keys().map(String::as_str).collect();
    fields.sort_unstable();
    let document = [
        "authorId",
        "content",
        "createdAt",
        "id",
        "mentions",
        "metadata",
        "projectId",
        "sessionId",
        "timestamp",
        "type",
    ];
    assert_eq!(fields, document);
    assert_eq!((&entry["projectId"], &entry["sessionId"]), (&json!(project), &Value::Null));
    assert!(!answer.text.contains("af_agent_"), "no key is ever on the timeline");
}

async fn the_timeline_is_filtered(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    let project = ada.project(&one, "shop").await;
    let agent = ada.new_agent(&one, Some(&project), "dev").await["agent"]["id"].as_str().unwrap().to_owned();
    assert_eq!(types(&ada, "").await.len(), 4);
    for (filter, expected) in [
        (format!("?workspaceId={two}"), vec!["workspace_created"]),
        (format!("?projectId={project}"), vec!["agent_created", "project_created"]),
        (format!("?agentId={agent}"), vec!["agent_created"]),
        ("?type=workspace_created".to_owned(), vec!["workspace_created", "workspace_created"]),
        (format!("?workspaceId={one}&type=project_created"), vec!["project_created"]),
        (format!("?workspaceId={two}&projectId={project}"), vec![]),
        (format!("?sessionId={}", Uuid::now_v7()), vec![]),
        ("?type=session_start".to_owned(), vec![]),
    ] {
        assert_eq!(types(&ada, &filter).await, expected, "{filter}");
    }
}

async fn pages_do_not_shift_when_read_by_position(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for slug in ["a", "b", "c"] {
        ada.workspace(slug).await;
    }
    let page = ada.get("/api/event.list?limit=2").await.ok();
    assert_eq!((&page.body["total"], &page.body["hasMore"]), (&json!(3), &json!(true)));
    let last = &page.body["events"][1]["metadata"]["position"];
    ada.workspace("d").await;
    let next = ada.get(&format!("/api/event.list?limit=2&before={last}")).await.ok();
    assert_eq!(next.body["events"].as_array().unwrap().len(), 1);
    assert_eq!(next.body["hasMore"], json!(false));
    let shifted = ada.get("/api/event.list?limit=2&offset=2").await.ok();
    assert_eq!(shifted.body["events"][0]["id"], page.body["events"][1]["id"]);
}

async fn an_entry_comes_with_its_author_and_project(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let entry = ada.get(&format!("/api/event.list?projectId={project}")).await.ok().body["events"][0].clone();
    let answer = ada.get(&format!("/api/event.get?id={}", entry["id"].as_str().unwrap())).await.ok();
    assert_eq!((&answer.body["event"], &answer.body["project"]["id"]), (&entry, &json!(project)));
    assert_eq!((&answer.body["author"], &answer.body["session"]), (&Value::Null, &Value::Null));
    let user = ada.get("/api/auth/session").await.ok().id_of("user");
    assert_eq!(entry["authorId"], json!(user));
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = Uuid::now_v7();
    ada.get(&format!("/api/event.get?id={id}")).await.refused(404, "EVENT_NOT_FOUND");
    ada.get(&format!("/api/event.list?workspaceId={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    assert_eq!(types(&ada, "").await, Vec::<String>::new());
}

async fn a_deleted_workspaces_history_stays(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    ada.delete(&format!("/api/workspace.delete?id={workspace}")).await.ok();
    let expected = ["workspace_deleted", "workspace_created"];
    assert_eq!(types(&ada, "").await, expected);
    assert_eq!(types(&ada, &format!("?workspaceId={workspace}")).await, expected);
}
