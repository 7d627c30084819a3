//! Projects over HTTP.

use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    a_project_is_what_its_owner_made_it,
    a_slug_belongs_to_one_project_of_a_workspace,
    a_repository_belongs_to_one_project,
    an_installation_is_a_number_from_one,
    an_owner_changes_only_what_is_given,
    an_inactive_project_is_listed_only_when_asked_for,
    a_project_with_a_working_agent_stays,
    a_deleted_project_is_shown_only_when_asked_for,
    what_does_not_exist_is_not_found,
);

async fn a_project_is_what_its_owner_made_it(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let body = json!({ "workspaceId": workspace, "name": "Shop", "slug": "shop", "description": "Sells",
        "repositoryUrl": "https://github.com/acme/shop", "githubInstallationId": 7.0,
        "mvpDocumentUrl": "https://acme.example/mvp" });
    let answer = ada.post("/api/project.create", &body).await.ok();
    let project = answer.body["project"].clone();
    let id = answer.id_of("project");
    let expected = json!({ "id": id, "workspaceId": workspace, "name": "Shop", "slug": "shop", "description": "Sells",
        "repositoryUrl": "https://github.com/acme/shop", "githubInstallationId": 7,
        "mvpDocumentUrl": "https://acme.example/mvp", "isActive": true,
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z" });
    assert_eq!(project, expected);
    assert_eq!(ada.get(&format!("/api/project.get?id={id}")).await.ok().body, json!({ "project": project }));
    let list = ada.get(&format!("/api/project.list?workspaceId={workspace}")).await.ok();
    assert_eq!(list.body, json!({ "projects": [project] }));
    let bare = ada.project(&workspace, "bare").await;
    let bare = ada.get(&format!("/api/project.get?id={bare}")).await.ok().body["project"].clone();
    for field in ["description", "repositoryUrl", "githubInstallationId", "mvpDocumentUrl"] {
        assert_eq!(bare[field], Value::Null, "{field}");
        assert!(bare.as_object().unwrap().contains_key(field), "{field}");
    }
}

async fn a_slug_belongs_to_one_project_of_a_workspace(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    ada.project(&one, "shop").await;
    ada.project(&two, "shop").await;
    let body = json!({ "workspaceId": one, "name": "Shop", "slug": "shop" });
    ada.post("/api/project.create", &body).await.refused(409, "PROJECT_SLUG_ALREADY_EXISTS");
    let other = ada.project(&one, "other").await;
    let body = json!({ "id": other, "slug": "shop" });
    ada.put("/api/project.update", &body).await.refused(409, "PROJECT_SLUG_ALREADY_EXISTS");
}

async fn a_repository_belongs_to_one_project(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let body =
        |slug: &str, url: &str| json!({ "workspaceId": workspace, "name": slug, "slug": slug, "repositoryUrl": url });
    ada.post("/api/project.create", &body("a", "https://github.com/acme/shop")).await.ok();
    let same = body("b", "https://github.com/Acme/Shop.git");
    ada.post("/api/project.create", &same).await.refused(409, "PROJECT_REPOSITORY_ALREADY_LINKED");
    let c = ada.project(&workspace, "c").await;
    let link = json!({ "id": c, "repositoryUrl": "https://github.com/acme/shop/" });
    ada.put("/api/project.update", &link).await.refused(409, "PROJECT_REPOSITORY_ALREADY_LINKED");
}

async fn an_installation_is_a_number_from_one(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    for number in [0, -1] {
        let body = json!({ "workspaceId": workspace, "name": "x", "slug": "x", "githubInstallationId": number });
        ada.post("/api/project.create", &body).await.refused(400, "PROJECT_INVALID_GITHUB_INSTALLATION");
        let body = json!({ "id": project, "githubInstallationId": number });
        ada.put("/api/project.update", &body).await.refused(400, "PROJECT_INVALID_GITHUB_INSTALLATION");
    }
}

async fn an_owner_changes_only_what_is_given(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let id = ada.project(&workspace, "shop").await;
    let before = ada.get(&format!("/api/project.get?id={id}")).await.ok().body["project"].clone();
    for (field, value) in [
        ("name", json!("Shop 2")),
        ("slug", json!("shop-2")),
        ("description", json!("Sells more")),
        ("repositoryUrl", json!("https://github.com/acme/shop-2")),
        ("githubInstallationId", json!(9)),
        ("mvpDocumentUrl", json!("https://acme.example/2")),
        ("isActive", json!(false)),
    ] {
        let mut body = json!({ "id": id });
        body[field] = value.clone();
        let project = ada.put("/api/project.update", &body).await.ok().body["project"].clone();
        assert_eq!(project[field], value);
        assert_eq!(project["createdAt"], before["createdAt"]);
    }
}

async fn an_inactive_project_is_listed_only_when_asked_for(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let id = ada.project(&workspace, "shop").await;
    ada.put("/api/project.update", &json!({ "id": id, "isActive": false })).await.ok();
    let list = ada.get(&format!("/api/project.list?workspaceId={workspace}")).await.ok();
    assert_eq!(list.body, json!({ "projects": [] }));
    let all = ada.get(&format!("/api/project.list?workspaceId={workspace}&includeInactive=true")).await.ok();
    assert_eq!(all.body["projects"][0]["id"], json!(id));
    ada.get(&format!("/api/project.get?id={id}")).await.ok();
}

async fn a_project_with_a_working_agent_stays(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let agent = ada.new_agent(&workspace, Some(&project), "dev-1").await;
    let delete = format!("/api/project.delete?id={project}");
    ada.delete(&delete).await.refused(400, "PROJECT_HAS_ACTIVE_AGENTS");
    let body = json!({ "id": agent["agent"]["id"], "status": "inactive" });
    ada.put("/api/agent.update", &body).await.ok();
    assert_eq!(ada.delete(&delete).await.ok().body, json!({ "success": true }));
    let body = json!({ "id": agent["agent"]["id"], "status": "active" });
    ada.put("/api/agent.update", &body).await.refused(404, "PROJECT_NOT_FOUND");
}

async fn a_deleted_project_is_shown_only_when_asked_for(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let id = ada.project(&workspace, "shop").await;
    ada.delete(&format!("/api/project.delete?id={id}")).await.ok();
    ada.get(&format!("/api/project.get?id={id}")).await.refused(404, "PROJECT_NOT_FOUND");
    let shown = ada.get(&format!("/api/project.get?id={id}&includeDeleted=true")).await.ok();
    assert!(shown.body["project"]["deletedAt"].is_string());
    let list = ada.get(&format!("/api/project.list?workspaceId={workspace}&includeDeleted=true")).await.ok();
    assert_eq!(list.body["projects"][0]["id"], json!(id));
    let list = ada.get(&format!("/api/project.list?workspaceId={workspace}")).await.ok();
    assert_eq!(list.body, json!({ "projects": [] }));
    ada.project(&workspace, "shop").await;
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = Uuid::now_v7();
    ada.get(&format!("/api/project.get?id={id}")).await.refused(404, "PROJECT_NOT_FOUND");
    ada.get(&format!("/api/project.list?workspaceId={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let body = json!({ "workspaceId": id, "name": "x", "slug": "x" });
    ada.post("/api/project.create", &body).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.put("/api/project.update", &json!({ "id": id })).await.refused(404, "PROJECT_NOT_FOUND");
    ada.delete(&format!("/api/project.delete?id={id}")).await.refused(404, "PROJECT_NOT_FOUND");
}
