//! Workspaces over HTTP.

use chrono::Duration;
use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

both_served_stores!(
    a_workspace_is_what_its_owner_made_it,
    a_slug_belongs_to_one_workspace,
    a_bad_slug_has_a_code_of_its_own,
    an_owner_changes_only_what_is_given,
    an_empty_workspace_is_deleted_and_its_slug_is_free,
    a_workspace_with_a_project_or_an_agent_stays,
    a_deleted_workspace_is_shown_only_when_asked_for,
    text_is_sealed_on_request_and_for_good,
    lists_have_pages,
    what_does_not_exist_is_not_found,
);

async fn a_workspace_is_what_its_owner_made_it(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body =
        json!({ "name": "Acme Ltd", "slug": "acme", "description": "All of it", "settings": { "a": [1, null] } });
    let answer = ada.post("/api/workspace.create", &body).await.ok();
    let workspace = answer.body["workspace"].clone();
    let id: Uuid = answer.id_of("workspace").parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
    let owner = ada.get("/api/auth/session").await.ok().id_of("user");
    let expected = json!({ "id": id, "ownerId": owner, "name": "Acme Ltd", "slug": "acme", "description": "All of it",
        "settings": { "a": [1, null] }, "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z" });
    assert_eq!(workspace, expected);
    assert_eq!(answer.position(), server.head().await);
    assert_eq!(ada.get(&format!("/api/workspace.get?id={id}")).await.ok().body["workspace"], workspace);
    assert_eq!(ada.get("/api/workspace.list").await.ok().body, json!({ "workspaces": [workspace] }));
}

async fn text_is_sealed_on_request_and_for_good(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let body = json!({ "name": "Acme", "slug": "acme", "sealText": true });
    let made = ada.post("/api/workspace.create", &body).await.ok();
    assert_eq!(made.body["workspace"]["textSealedAt"], "2026-03-01T12:00:00Z");
    let open = ada.workspace("open").await;
    let seal = json!({ "id": open, "sealText": true, "name": "Closed" });
    bob.put("/api/workspace.update", &seal).await.refused(403, "WORKSPACE_ACCESS_DENIED");
    let sealed = ada.put("/api/workspace.update", &seal).await.ok();
    assert_eq!(sealed.body["workspace"]["name"], "Closed");
    assert!(sealed.body["workspace"]["textSealedAt"].is_string());
    // Once is enough.
    let head = server.head().await;
    ada.put("/api/workspace.update", &seal).await.ok();
    assert_eq!(server.head().await, head);
    for (path, body) in [
        ("workspace.create", json!({ "name": "Acme", "slug": "other", "sealText": false })),
        ("workspace.create", json!({ "name": "Acme", "slug": "other", "sealText": "yes" })),
    ] {
        let refused = ada.post(&format!("/api/{path}"), &body).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["sealText"]);
    }
    let back = json!({ "id": open, "sealText": false });
    ada.put("/api/workspace.update", &back).await.refused(400, "VALIDATION_ERROR");
    let types = ada.get("/api/event.list?limit=3").await.ok().body["events"].clone();
    assert_eq!(types[0]["type"], "workspace_updated");
}

async fn a_slug_belongs_to_one_workspace(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    ada.workspace("acme").await;
    let body = json!({ "name": "Acme", "slug": "acme" });
    bob.post("/api/workspace.create", &body).await.refused(409, "WORKSPACE_SLUG_ALREADY_EXISTS");
    let other = bob.workspace("other").await;
    let body = json!({ "id": other, "slug": "acme" });
    bob.put("/api/workspace.update", &body).await.refused(409, "WORKSPACE_SLUG_ALREADY_EXISTS");
}

async fn a_bad_slug_has_a_code_of_its_own(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for slug in ["Acme", "a b", "", "ä", "a_b", "a\n", &"a".repeat(256)] {
        let body = json!({ "name": "Acme", "slug": slug });
        let answer = ada.post("/api/workspace.create", &body).await.refused(400, "WORKSPACE_INVALID_SLUG");
        assert_eq!(answer.bad_fields(), ["slug"]);
    }
    let body = json!({ "name": "Acme", "slug": 7 });
    ada.post("/api/workspace.create", &body).await.refused(400, "VALIDATION_ERROR");
    let id = ada.workspace("acme").await;
    ada.put("/api/workspace.update", &json!({ "id": id, "slug": "A" })).await.refused(400, "VALIDATION_ERROR");
}

async fn an_owner_changes_only_what_is_given(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let body = json!({ "name": "Acme", "slug": "acme", "description": "Old", "settings": { "a": 1 } });
    let id = ada.post("/api/workspace.create", &body).await.ok().id_of("workspace");
    server.bench.clock.set(server.bench.clock.now() + Duration::minutes(1));
    let answer = ada.put("/api/workspace.update", &json!({ "id": id, "name": "Acme 2" })).await.ok();
    let workspace = &answer.body["workspace"];
    assert_eq!((&workspace["name"], &workspace["description"]), (&json!("Acme 2"), &json!("Old")));
    assert_eq!((&workspace["settings"], &workspace["slug"]), (&json!({ "a": 1 }), &json!("acme")));
    assert_eq!(workspace["updatedAt"], "2026-03-01T12:01:00Z");
    let head = server.head().await;
    let same = ada.put("/api/workspace.update", &json!({ "id": id, "name": "Acme 2" })).await.ok();
    assert_eq!((same.position(), server.head().await), (head, head));
}

async fn an_empty_workspace_is_deleted_and_its_slug_is_free(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = ada.workspace("acme").await;
    let answer = ada.delete(&format!("/api/workspace.delete?id={id}")).await.ok();
    assert_eq!(answer.body, json!({ "success": true }));
    ada.delete(&format!("/api/workspace.delete?id={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let again = ada.workspace("acme").await;
    let body = json!({ "id": again }).to_string();
    ada.send(Method::DELETE, "/api/workspace.delete", Some(body)).await.ok();
}

async fn a_workspace_with_a_project_or_an_agent_stays(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (with_project, with_agent) = (ada.workspace("one").await, ada.workspace("two").await);
    ada.project(&with_project, "shop").await;
    ada.new_agent(&with_agent, None, "lead").await;
    for id in [with_project, with_agent] {
        ada.delete(&format!("/api/workspace.delete?id={id}")).await.refused(400, "WORKSPACE_NOT_EMPTY");
    }
}

async fn a_deleted_workspace_is_shown_only_when_asked_for(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = ada.workspace("acme").await;
    ada.delete(&format!("/api/workspace.delete?id={id}")).await.ok();
    ada.get(&format!("/api/workspace.get?id={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let shown = ada.get(&format!("/api/workspace.get?id={id}&includeDeleted=true")).await.ok();
    assert_eq!(shown.body["workspace"]["deletedAt"], "2026-03-01T12:00:00Z");
    assert_eq!(ada.get("/api/workspace.list").await.ok().body, json!({ "workspaces": [] }));
    let all = ada.get("/api/workspace.list?includeDeleted=true").await.ok();
    assert_eq!(all.body["workspaces"][0]["id"], json!(id));
    ada.put("/api/workspace.update", &json!({ "id": id, "name": "x" })).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.get(&format!("/api/project.list?workspaceId={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let project = json!({ "workspaceId": id, "name": "x", "slug": "x" });
    ada.post("/api/project.create", &project).await.refused(404, "WORKSPACE_NOT_FOUND");
}

async fn lists_have_pages(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    for slug in ["a", "b", "c"] {
        ada.workspace(slug).await;
    }
    let all = ada.get("/api/workspace.list").await.ok().body["workspaces"].clone();
    let page = ada.get("/api/workspace.list?limit=1&offset=1").await.ok().body["workspaces"].clone();
    assert_eq!(page, json!([all[1]]));
    for bad in ["limit=0", "limit=1001", "offset=-1"] {
        ada.get(&format!("/api/workspace.list?{bad}")).await.refused(400, "VALIDATION_ERROR");
    }
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = Uuid::now_v7();
    ada.get(&format!("/api/workspace.get?id={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.put("/api/workspace.update", &json!({ "id": id })).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.delete(&format!("/api/workspace.delete?id={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let upper = ada.workspace("acme").await.to_uppercase();
    ada.get(&format!("/api/workspace.get?id={upper}")).await.ok();
}
