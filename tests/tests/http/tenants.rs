//! Who sees and does what, as a table written by hand: the design's section 6 for these routes.

use muster_tests::both_served_stores;
use muster_tests::server::{Answer, Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(
    another_tenants_things_are_out_of_reach,
    a_project_agent_sees_its_project_alone,
    nobody_does_nothing,
    a_webhook_is_let_in_by_its_signature_alone,
);

/// Ada's things, and everybody who might want them.
struct World {
    workspace: String,
    shop: String,
    site: String,
    lead: Value,
    dev: Value,
    /// The lead's, in the site.
    session: String,
    /// In the site.
    task: String,
    /// In the site's wiki.
    entry: String,
    event: String,
}

async fn world(server: &Server, ada: &Client) -> World {
    let workspace = ada.workspace("acme").await;
    let shop = ada.project(&workspace, "shop").await;
    let site = ada.project(&workspace, "site").await;
    let lead = ada.new_agent(&workspace, None, "lead").await;
    let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
    let session = server.agent(&lead).start_session(&site).await;
    let task = ada.task(&site, "x").await;
    let entry = wiki_entry(ada, &workspace, &site).await;
    let events = ada.get(&format!("/api/event.list?projectId={site}")).await.ok();
    let event = events.body["events"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.bench.everything().await.len(), 9);
    World { workspace, shop, site, lead, dev, session, task, entry, event }
}

async fn wiki_entry(ada: &Client, workspace: &str, project: &str) -> String {
    let body = json!({ "workspaceId": workspace, "projectId": project, "title": "x", "slug": "x", "content": "x" });
    ada.post("/api/wiki.create", &body).await.ok().id_of("entry")
}

async fn call(client: &Client, method: &str, path: &str, body: &Value) -> Answer {
    match method {
        "GET" => client.get(path).await,
        "POST" => client.post(path, body).await,
        "PUT" => client.put(path, body).await,
        _ => client.delete(path).await,
    }
}

/// Every route that names an object, and what an owner of something else gets: `(method, path, body, status, code)`.
#[rustfmt::skip]
fn foreign(world: &World) -> Vec<(&'static str, String, Value, u16, &'static str)> {
    let World { workspace, shop, lead, session, task, entry, event, .. } = world;
    let agent = lead["agent"]["id"].as_str().unwrap();
    vec![
        ("GET", format!("/api/workspace.get?id={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("PUT", "/api/workspace.update".into(), json!({ "id": workspace, "name": "x" }), 403, "WORKSPACE_ACCESS_DENIED"),
        ("DELETE", format!("/api/workspace.delete?id={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/project.list?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/project.get?id={shop}"), json!({}), 403, "PROJECT_ACCESS_DENIED"),
        ("POST", "/api/project.create".into(), json!({ "workspaceId": workspace, "name": "x", "slug": "x" }), 403, "WORKSPACE_ACCESS_DENIED"),
        ("PUT", "/api/project.update".into(), json!({ "id": shop, "name": "x" }), 403, "PROJECT_ACCESS_DENIED"),
        ("DELETE", format!("/api/project.delete?id={shop}"), json!({}), 403, "PROJECT_ACCESS_DENIED"),
        ("GET", format!("/api/agent.list?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/agent.get?id={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("POST", "/api/agent.create".into(), json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": "x", "name": "x", "roleTitle": "x" }), 403, "WORKSPACE_ACCESS_DENIED"),
        ("PUT", "/api/agent.update".into(), json!({ "id": agent, "status": "terminated" }), 403, "AGENT_ACCESS_DENIED"),
        ("POST", "/api/agent.rotateCredentials".into(), json!({ "id": agent }), 403, "AGENT_ACCESS_DENIED"),
        ("POST", "/api/agent.launch".into(), json!({ "id": agent }), 403, "AGENT_ACCESS_DENIED"),
        ("DELETE", format!("/api/agent.delete?id={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/session.get?id={session}"), json!({}), 403, "SESSION_ACCESS_DENIED"),
        ("GET", format!("/api/kpi.get?agentId={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("POST", "/api/kpi.recalculate".into(), json!({ "agentId": agent }), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/kpi.explain?agentId={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/kpi.history?agentId={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/trust.explain?agentId={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/trust.history?agentId={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/task.list?projectId={shop}"), json!({}), 403, "PROJECT_ACCESS_DENIED"),
        ("GET", format!("/api/task.get?id={task}"), json!({}), 403, "TASK_ACCESS_DENIED"),
        ("POST", "/api/task.create".into(), json!({ "projectId": shop, "title": "x" }), 403, "PROJECT_ACCESS_DENIED"),
        ("PUT", "/api/task.update".into(), json!({ "id": task, "title": "x" }), 403, "TASK_ACCESS_DENIED"),
        ("POST", "/api/task.assign".into(), json!({ "taskId": task, "agentId": agent }), 403, "TASK_ACCESS_DENIED"),
        ("GET", format!("/api/wiki.list?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/wiki.get?id={entry}"), json!({}), 403, "WIKI_ENTRY_ACCESS_DENIED"),
        ("POST", "/api/wiki.create".into(), json!({ "workspaceId": workspace, "title": "x", "slug": "x", "content": "x" }), 403, "WORKSPACE_ACCESS_DENIED"),
        ("PUT", "/api/wiki.update".into(), json!({ "id": entry, "title": "x" }), 403, "WIKI_ENTRY_ACCESS_DENIED"),
        ("POST", "/api/wiki.approve".into(), json!({ "id": entry }), 403, "WIKI_ENTRY_ACCESS_DENIED"),
        ("POST", "/api/wiki.reject".into(), json!({ "id": entry, "reason": "x" }), 403, "WIKI_ENTRY_ACCESS_DENIED"),
        ("GET", format!("/api/mail.inbox?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("POST", "/api/mail.send".into(), json!({ "workspaceId": workspace, "toAgentId": agent, "subject": "x", "body": "x" }), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/decision.list?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/event.list?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/event.get?id={event}"), json!({}), 403, "EVENT_ACCESS_DENIED"),
        ("GET", format!("/api/event.stream?workspaceId={workspace}"), json!({}), 403, "WORKSPACE_ACCESS_DENIED"),
        ("GET", format!("/api/audit.history?aggregate=task&id={task}"), json!({}), 403, "TASK_ACCESS_DENIED"),
        ("GET", format!("/api/audit.state?aggregate=agent&id={agent}"), json!({}), 403, "AGENT_ACCESS_DENIED"),
        ("GET", format!("/api/audit.diff?aggregate=session&id={session}&from=1"), json!({}), 403, "SESSION_ACCESS_DENIED"),
    ]
}

/// Every command of agents that names an object, and what an agent of another workspace gets: `(path, body, code)`.
fn foreign_to_agents(world: &World) -> Vec<(&'static str, Value, &'static str)> {
    let World { shop, session, task, .. } = world;
    let question = json!({ "question": "x", "context": {}, "urgency": "low" });
    let publish = json!({ "sessionId": session, "type": "question_asked", "content": question });
    let block = json!({ "taskId": task, "blocker": "x", "severity": "low", "requiresAttention": false });
    vec![
        ("/api/session.start", json!({ "projectId": shop }), "PROJECT_ACCESS_DENIED"),
        ("/api/session.log", json!({ "sessionId": session, "message": "x" }), "SESSION_ACCESS_DENIED"),
        ("/api/session.stop", json!({ "sessionId": session }), "SESSION_ACCESS_DENIED"),
        ("/api/event.publish", publish, "SESSION_ACCESS_DENIED"),
        ("/api/task.start", json!({ "taskId": task }), "TASK_ACCESS_DENIED"),
        ("/api/task.block", block, "TASK_ACCESS_DENIED"),
        ("/api/task.complete", json!({ "taskId": task }), "TASK_ACCESS_DENIED"),
    ]
}

async fn another_tenants_things_are_out_of_reach(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let elsewhere = bob.workspace("elsewhere").await;
    let agent_elsewhere = server.agent(&bob.new_agent(&elsewhere, None, "spy").await);
    let before = server.head().await;
    let world = {
        let workspace = ada.workspace("acme").await;
        let (shop, site) = (ada.project(&workspace, "shop").await, ada.project(&workspace, "site").await);
        let lead = ada.new_agent(&workspace, None, "lead").await;
        let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
        let session = server.agent(&lead).start_session(&site).await;
        let task = ada.task(&site, "x").await;
        let entry = wiki_entry(&ada, &workspace, &site).await;
        let event = ada.get("/api/event.list").await.ok().body["events"][0]["id"].as_str().unwrap().to_owned();
        World { workspace, shop, site, lead, dev, session, task, entry, event }
    };
    let head = server.head().await;
    assert_eq!(head, before + 8);
    for (method, path, body, status, code) in foreign(&world) {
        call(&bob, method, &path, &body).await.refused(status, code);
        // An agent is let in to queries and to what it may write in wikis, and there it meets the same wall; workspaces
        // are for owners.
        let queries = method == "GET" && !path.contains("workspace.get");
        let is_let_in = queries || ["/api/wiki.create", "/api/wiki.update"].contains(&path.as_str());
        let code = if is_let_in { code } else { "NOT_CEO" };
        call(&agent_elsewhere, method, &path, &body).await.refused(403, code);
    }
    for (path, body, code) in foreign_to_agents(&world) {
        agent_elsewhere.post(path, &body).await.refused(403, code);
        for owner in [&ada, &bob] {
            owner.post(path, &body).await.refused(401, "AUTH_INVALID_TOKEN");
        }
    }
    assert_eq!(server.head().await, head, "nothing was written");
    assert_eq!(bob.get("/api/workspace.list").await.ok().body["workspaces"].as_array().unwrap().len(), 1);
    for client in [&bob, &agent_elsewhere] {
        for filter in [
            String::new(),
            format!("?projectId={}", world.site),
            format!("?agentId={}", world.dev["agent"]["id"].as_str().unwrap()),
        ] {
            let events = client.get(&format!("/api/event.list{filter}")).await.ok();
            assert!(!events.text.contains(&world.workspace) && !events.text.contains(&world.shop), "{filter}");
        }
    }
}

async fn a_project_agent_sees_its_project_alone(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let world = world(&server, &ada).await;
    let World { workspace, shop, site, lead, dev: dev_agent, session, task, entry, event } = &world;
    let (dev, lead_id) = (server.agent(dev_agent), lead["agent"]["id"].as_str().unwrap());
    let own = dev_agent["agent"]["id"].as_str().unwrap();
    dev.get(&format!("/api/project.get?id={shop}")).await.ok();
    dev.get(&format!("/api/project.get?id={site}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    let projects = dev.get(&format!("/api/project.list?workspaceId={workspace}")).await.ok();
    assert_eq!(projects.body["projects"].as_array().unwrap().len(), 1);
    assert_eq!(projects.body["projects"][0]["id"], json!(shop));
    dev.get(&format!("/api/agent.get?id={own}")).await.ok();
    dev.get(&format!("/api/agent.get?id={lead_id}")).await.refused(403, "AGENT_ACCESS_DENIED");
    for route in ["kpi.get", "kpi.explain", "kpi.history", "trust.explain", "trust.history"] {
        dev.get(&format!("/api/{route}?agentId={lead_id}")).await.refused(403, "AGENT_ACCESS_DENIED");
    }
    dev.get(&format!("/api/kpi.history?agentId={own}")).await.ok();
    dev.post("/api/kpi.recalculate", &json!({ "agentId": own })).await.refused(403, "NOT_CEO");
    let agents = dev.get(&format!("/api/agent.list?workspaceId={workspace}")).await.ok();
    assert_eq!(agents.body["agents"].as_array().unwrap().len(), 1);
    let other = format!("workspaceId={workspace}&projectId={site}");
    dev.get(&format!("/api/agent.list?{other}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    dev.get(&format!("/api/event.list?{other}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    dev.get(&format!("/api/event.stream?{other}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    dev.get(&format!("/api/session.get?id={session}")).await.refused(403, "SESSION_ACCESS_DENIED");
    dev.get(&format!("/api/task.list?projectId={site}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    dev.get(&format!("/api/task.get?id={task}")).await.refused(403, "TASK_ACCESS_DENIED");
    dev.get(&format!("/api/task.list?projectId={shop}")).await.ok();
    dev.get(&format!("/api/wiki.get?id={entry}")).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    dev.get(&format!("/api/wiki.list?{other}")).await.refused(403, "PROJECT_ACCESS_DENIED");
    dev.get(&format!("/api/wiki.list?workspaceId={workspace}")).await.ok();
    dev.get(&format!("/api/event.get?id={event}")).await.refused(403, "EVENT_ACCESS_DENIED");
    let events = dev.get("/api/event.list").await.ok();
    let events = events.body["events"].as_array().unwrap();
    assert_eq!(events.len(), 2, "the project and the agent");
    assert!(events.iter().all(|it| it["projectId"] == json!(shop)));
    let lead = server.agent(lead);
    assert_eq!(lead.get("/api/event.list").await.ok().body["total"], 8);
    lead.get(&format!("/api/event.get?id={event}")).await.ok();
    lead.get(&format!("/api/project.get?id={site}")).await.ok();
    lead.get(&format!("/api/session.get?id={session}")).await.ok();
    lead.get(&format!("/api/task.get?id={task}")).await.ok();
    lead.get(&format!("/api/wiki.get?id={entry}")).await.ok();
    lead.get(&format!("/api/agent.get?id={own}")).await.ok();
}

async fn nobody_does_nothing(bench: Bench) {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let world = world(&server, &ada).await;
    let head = server.head().await;
    for (method, path, body, _, _) in foreign(&world) {
        call(&server.nobody(), method, &path, &body).await.refused(401, "AUTH_INVALID_TOKEN");
    }
    for (path, body, _) in foreign_to_agents(&world) {
        server.nobody().post(path, &body).await.refused(401, "AUTH_INVALID_TOKEN");
    }
    for path in ["/api/workspace.list", "/api/event.list", "/api/event.stream"] {
        server.nobody().get(path).await.refused(401, "AUTH_INVALID_TOKEN");
    }
    server.nobody().post("/api/workspace.create", &json!({})).await.refused(401, "AUTH_INVALID_TOKEN");
    assert_eq!(server.head().await, head);
}

async fn a_webhook_is_let_in_by_its_signature_alone(bench: Bench) {
    let server = muster_tests::webhooks::listening(bench).await;
    let ada = server.owner("ada").await;
    let world = world(&server, &ada).await;
    let bob = server.owner("bob").await;
    let told = muster_tests::webhooks::payload("issues.opened");
    let everybody = [ada, bob, server.agent(&world.lead), server.agent(&world.dev), server.nobody()];
    for client in everybody {
        for path in ["/api/webhooks/github", "/api/github.webhook"] {
            let client = client.with("X-GitHub-Event", &told.event);
            client.post(path, &told.body).await.refused(401, "GITHUB_WEBHOOK_SIGNATURE_INVALID");
        }
    }
    assert_eq!(server.told().await, [""; 0]);
}
