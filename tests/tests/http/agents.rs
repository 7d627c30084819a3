//! Agents over HTTP: their lives, and the keys that let them in.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    an_agent_is_what_its_owner_made_it,
    a_code_belongs_to_one_agent_of_a_workspace,
    a_level_fits_its_project,
    an_agents_project_is_one_of_its_workspace,
    a_supervisor_is_another_agent_of_the_workspace,
    an_owner_changes_only_what_is_given,
    agents_are_listed_by_project_level_and_status,
    a_key_lets_its_agent_in,
    an_old_key_is_refused_at_once,
    a_wrong_key_is_refused,
    an_agent_that_may_not_work_is_told_so,
    a_deleted_agent_is_gone_with_its_key,
    an_agent_gives_no_owners_commands,
    what_does_not_exist_is_not_found,
);

async fn an_agent_is_what_its_owner_made_it(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let lead = ada.new_agent(&workspace, None, "lead").await["agent"]["id"].clone();
    let body = json!({ "workspaceId": workspace, "projectId": project, "agentLevel": "project", "agentCode": "dev-1",
        "name": "Dev", "roleTitle": "Developer", "capabilities": ["rust"], "settings": { "githubUsername": "dev" },
        "supervisorAgentId": lead });
    let answer = ada.post("/api/agent.create", &body).await.ok();
    let (agent, id) = (answer.body["agent"].clone(), answer.id_of("agent"));
    let expected = json!({ "id": id, "workspaceId": workspace, "projectId": project, "agentLevel": "project",
        "agentCode": "dev-1", "name": "Dev", "roleTitle": "Developer", "status": "active", "trustScore": 50.0,
        "capabilities": ["rust"], "settings": { "githubUsername": "dev" }, "supervisorAgentId": lead,
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z" });
    assert_eq!(agent, expected);
    let credentials = &answer.body["credentials"];
    assert_eq!((&credentials["agentId"], &credentials["agentCode"]), (&json!(id), &json!("dev-1")));
    let key = credentials["apiKey"].as_str().unwrap();
    let random = key.strip_prefix(&format!("af_agent_{workspace}_dev-1_")).expect("the document's form");
    assert!(random.len() == 32 && random.bytes().all(|it| it.is_ascii_alphanumeric()), "{key}");
    let shown = ada.get(&format!("/api/agent.get?id={id}")).await.ok();
    assert_eq!(shown.body, json!({ "agent": agent, "recentKPIs": [], "recentSessions": [] }));
    assert!(!shown.text.contains(key));
}

async fn a_code_belongs_to_one_agent_of_a_workspace(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    ada.new_agent(&one, None, "lead").await;
    ada.new_agent(&two, None, "lead").await;
    let body = agent(&one, "lead");
    ada.post("/api/agent.create", &body).await.refused(409, "AGENT_CODE_ALREADY_EXISTS");
}

async fn a_level_fits_its_project(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project(&workspace, "shop").await;
    let mut of_organization = agent(&workspace, "lead");
    of_organization["projectId"] = json!(project);
    ada.post("/api/agent.create", &of_organization).await.refused(400, "AGENT_INVALID_LEVEL");
    let mut of_project = agent(&workspace, "dev");
    of_project["agentLevel"] = json!("project");
    ada.post("/api/agent.create", &of_project).await.refused(400, "AGENT_INVALID_LEVEL");
}

async fn an_agents_project_is_one_of_its_workspace(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    let elsewhere = ada.project(&two, "shop").await;
    for project in [elsewhere, Uuid::now_v7().to_string()] {
        let mut body = agent(&one, "dev");
        body["agentLevel"] = json!("project");
        body["projectId"] = json!(project);
        ada.post("/api/agent.create", &body).await.refused(404, "PROJECT_NOT_FOUND");
    }
}

async fn a_supervisor_is_another_agent_of_the_workspace(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let (one, two) = (ada.workspace("one").await, ada.workspace("two").await);
    let elsewhere = ada.new_agent(&two, None, "lead").await["agent"]["id"].clone();
    let own = ada.new_agent(&one, None, "dev").await["agent"]["id"].clone();
    let body = json!({ "id": own, "supervisorAgentId": elsewhere });
    ada.put("/api/agent.update", &body).await.refused(404, "AGENT_NOT_FOUND");
    let body = json!({ "id": own, "supervisorAgentId": own });
    let answer = ada.put("/api/agent.update", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(answer.bad_fields(), ["supervisorAgentId"]);
}

async fn an_owner_changes_only_what_is_given(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let lead = ada.new_agent(&workspace, None, "lead").await["agent"]["id"].clone();
    let id = ada.new_agent(&workspace, None, "dev").await["agent"]["id"].clone();
    for (field, value) in [
        ("name", json!("Dev Uno")),
        ("roleTitle", json!("Reviewer")),
        ("status", json!("probation")),
        ("capabilities", json!(["rust", "sql"])),
        ("settings", json!({ "a": { "b": 1.5 } })),
        ("supervisorAgentId", lead),
    ] {
        let mut body = json!({ "id": id });
        body[field] = value.clone();
        let agent = ada.put("/api/agent.update", &body).await.ok().body["agent"].clone();
        assert_eq!((&agent[field], &agent["agentCode"]), (&value, &json!("dev")));
    }
}

async fn agents_are_listed_by_project_level_and_status(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let (shop, site) = (ada.project(&workspace, "shop").await, ada.project(&workspace, "site").await);
    ada.new_agent(&workspace, None, "lead").await;
    ada.new_agent(&workspace, Some(&shop), "dev-1").await;
    let away = ada.new_agent(&workspace, Some(&site), "dev-2").await;
    let body = json!({ "id": away["agent"]["id"], "status": "terminated" });
    ada.put("/api/agent.update", &body).await.ok();
    for (filter, expected) in [
        (String::new(), vec!["dev-1", "dev-2", "lead"]),
        (format!("&projectId={shop}"), vec!["dev-1"]),
        ("&agentLevel=organization".to_owned(), vec!["lead"]),
        ("&agentLevel=project&status=active".to_owned(), vec!["dev-1"]),
        ("&status=terminated".to_owned(), vec!["dev-2"]),
    ] {
        assert_eq!(codes(&ada, &workspace, &filter).await, expected, "{filter}");
    }
    ada.get(&format!("/api/agent.list?workspaceId={workspace}&status=asleep")).await.refused(400, "VALIDATION_ERROR");
}

async fn a_key_lets_its_agent_in(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let created = ada.new_agent(&workspace, None, "lead").await;
    let lead = server.agent(&created);
    let id = created["agent"]["id"].as_str().unwrap();
    assert_eq!(lead.get(&format!("/api/agent.get?id={id}")).await.ok().body["agent"], created["agent"]);
    lead.get(&format!("/api/project.list?workspaceId={workspace}")).await.ok();
    lead.get("/api/event.list").await.ok();
}

async fn an_old_key_is_refused_at_once(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let created = ada.new_agent(&workspace, None, "lead").await;
    let before = server.agent(&created);
    before.get("/api/event.list").await.ok();
    let rotated = ada.post("/api/agent.rotateCredentials", &json!({ "id": created["agent"]["id"] })).await.ok();
    before.get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
    server.agent(&rotated.body).get("/api/event.list").await.ok();
    assert_eq!(rotated.body["agent"]["id"], created["agent"]["id"]);
    assert_eq!(rotated.body["credentials"]["agentCode"], "lead");
    assert_ne!(rotated.body["credentials"]["apiKey"], created["credentials"]["apiKey"]);
}

async fn a_wrong_key_is_refused(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let (one, two) = (ada.new_agent(&workspace, None, "one").await, ada.new_agent(&workspace, None, "two").await);
    let (id, key) = (text(&one["credentials"]["agentId"]), text(&one["credentials"]["apiKey"]));
    let other_key = text(&two["credentials"]["apiKey"]);
    let (unknown, cut) = (Uuid::now_v7().to_string(), &key[..key.len() - 1]);
    for (id, key) in
        [(id, other_key), (id, cut), (id, ""), ("not-an-id", key), (unknown.as_str(), key), (id, "af_agent_x")]
    {
        let client = server.nobody().with("X-Agent-ID", id).with("X-Agent-Key", key);
        client.get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
    }
    server.nobody().with("X-Agent-ID", id).get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
    server.nobody().with("X-Agent-Key", key).get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
}

async fn an_agent_that_may_not_work_is_told_so(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let created = ada.new_agent(&workspace, None, "lead").await;
    let lead = server.agent(&created);
    for (status, let_in) in [("probation", true), ("inactive", false), ("terminated", false), ("active", true)] {
        ada.put("/api/agent.update", &json!({ "id": created["agent"]["id"], "status": status })).await.ok();
        let answer = lead.get("/api/event.list").await;
        if let_in {
            answer.ok()
        } else {
            answer.refused(403, "AGENT_INACTIVE")
        };
    }
}

async fn a_deleted_agent_is_gone_with_its_key(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let created = ada.new_agent(&workspace, None, "lead").await;
    let id = created["agent"]["id"].as_str().unwrap();
    let answer = ada.delete(&format!("/api/agent.delete?id={id}")).await.ok();
    assert_eq!(answer.body, json!({ "success": true }));
    server.agent(&created).get("/api/event.list").await.refused(401, "AUTH_INVALID_TOKEN");
    ada.get(&format!("/api/agent.get?id={id}")).await.refused(404, "AGENT_NOT_FOUND");
    let shown = ada.get(&format!("/api/agent.get?id={id}&includeDeleted=true")).await.ok();
    assert!(shown.body["agent"]["deletedAt"].is_string());
    assert_eq!(codes(&ada, &workspace, "").await, Vec::<String>::new());
    ada.post("/api/agent.rotateCredentials", &json!({ "id": id })).await.refused(404, "AGENT_NOT_FOUND");
    ada.new_agent(&workspace, None, "lead").await;
}

async fn an_agent_gives_no_owners_commands(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let created = ada.new_agent(&workspace, None, "lead").await;
    let head = server.head().await;
    let lead = server.agent(&created);
    // The cookie of a browser does not turn an agent into its owner.
    let cookie = ada.headers[0].1.clone();
    for agent in [lead.clone(), lead.with("Cookie", &cookie)] {
        let id = json!({ "id": created["agent"]["id"] });
        for (answer, route) in [
            (agent.get("/api/workspace.list").await, "workspace.list"),
            (agent.get(&format!("/api/workspace.get?id={workspace}")).await, "workspace.get"),
            (agent.post("/api/workspace.create", &json!({})).await, "workspace.create"),
            (agent.put("/api/workspace.update", &id).await, "workspace.update"),
            (agent.delete("/api/workspace.delete").await, "workspace.delete"),
            (agent.post("/api/project.create", &json!({})).await, "project.create"),
            (agent.put("/api/project.update", &id).await, "project.update"),
            (agent.delete("/api/project.delete").await, "project.delete"),
            (agent.post("/api/agent.create", &json!({})).await, "agent.create"),
            (agent.put("/api/agent.update", &id).await, "agent.update"),
            (agent.post("/api/agent.rotateCredentials", &id).await, "agent.rotateCredentials"),
            (agent.delete("/api/agent.delete").await, "agent.delete"),
        ] {
            assert_eq!(answer.status.as_u16(), 403, "{route}: {}", answer.text);
            answer.refused(403, "NOT_CEO");
        }
    }
    assert_eq!(server.head().await, head);
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let id = Uuid::now_v7();
    ada.get(&format!("/api/agent.get?id={id}")).await.refused(404, "AGENT_NOT_FOUND");
    ada.get(&format!("/api/agent.list?workspaceId={id}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.post("/api/agent.create", &agent(&id.to_string(), "x")).await.refused(404, "WORKSPACE_NOT_FOUND");
    ada.put("/api/agent.update", &json!({ "id": id })).await.refused(404, "AGENT_NOT_FOUND");
    ada.post("/api/agent.rotateCredentials", &json!({ "id": id })).await.refused(404, "AGENT_NOT_FOUND");
    ada.delete(&format!("/api/agent.delete?id={id}")).await.refused(404, "AGENT_NOT_FOUND");
}

fn agent(workspace: &str, code: &str) -> Value {
    json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": code, "name": code, "roleTitle": "Dev" })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

async fn codes(client: &Client, workspace: &str, filter: &str) -> Vec<String> {
    let list = client.get(&format!("/api/agent.list?workspaceId={workspace}{filter}")).await.ok();
    let agents = list.body["agents"].as_array().unwrap();
    let mut codes: Vec<String> = agents.iter().map(|it| text(&it["agentCode"]).to_owned()).collect();
    codes.sort();
    codes
}
