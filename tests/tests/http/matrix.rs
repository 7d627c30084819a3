//! Every route and everybody who might call it, as a table written by hand: the design's section 6.

use std::collections::BTreeSet;

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};

both_served_stores!(everybody_gets_in_where_the_table_says_and_nowhere_else, every_route_has_its_row);

/// Let in: whatever the answer is, it is about what was asked and not about who asked.
const IN: &str = "in";
const OWNERS: &str = "403 NOT_CEO";
const AGENTS: &str = "401 AUTH_INVALID_TOKEN";
const WORKSPACE: &str = "403 WORKSPACE_ACCESS_DENIED";
const PROJECT: &str = "403 PROJECT_ACCESS_DENIED";
const AGENT: &str = "403 AGENT_ACCESS_DENIED";
const TASK: &str = "403 TASK_ACCESS_DENIED";
const SESSION: &str = "403 SESSION_ACCESS_DENIED";
const MISMATCH: &str = "403 AGENT_SESSION_MISMATCH";
const WIKI: &str = "403 WIKI_ENTRY_ACCESS_DENIED";
const EVENT: &str = "403 EVENT_ACCESS_DENIED";
const EPIC: &str = "403 EPIC_ACCESS_DENIED";
const MAIL: &str = "403 MAIL_ACCESS_DENIED";
const LEVEL: &str = "403 AGENT_NOT_ORGANIZATION_LEVEL";

/// Routes for whoever comes, signed in or not.
const OPEN: &[(&str, &str)] = &[
    ("POST", "/api/auth/signup"),
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/logout"),
    ("GET", "/api/auth/session"),
    ("POST", "/api/auth/github"),
    ("GET", "/api/auth/github/callback"),
    ("POST", "/api/webhooks/github"),
    ("POST", "/api/github.webhook"),
    ("GET", "/api/openapi.json"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/metrics"),
];

/// A route, what is sent, and what each caller gets: the owner, another owner, the project's agent whose task and
/// session these are, an agent of another project, and an agent of another workspace.
type Row = (&'static str, String, Value, [&'static str; 5]);

/// Ada's things.
#[derive(Default)]
struct World {
    workspace: String,
    shop: String,
    dev: String,
    spare: String,
    task: String,
    session: String,
    entry: String,
    epic: String,
    /// From Ada to the project's agent.
    mail: String,
    /// From Ada to the people of the workspace.
    note: String,
    event: String,
    /// Where that event is.
    position: i64,
}

#[rustfmt::skip]
fn table(world: &World) -> Vec<Row> {
    let World { workspace, shop, dev, spare, task, session, entry, epic, mail, note, event, position } = world;
    let none = || json!({});
    let within = format!("workspaceId={workspace}&projectId={shop}");
    let question = json!({ "question": "Why?", "context": {}, "urgency": "low" });
    vec![
        ("GET", "/api/workspace.list".into(), none(), [IN, IN, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/workspace.get?id={workspace}"), none(), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/workspace.create".into(), json!({ "name": "x", "slug": "x" }), [IN, IN, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/workspace.update".into(), json!({ "id": workspace, "name": "x" }), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("DELETE", format!("/api/workspace.delete?id={workspace}"), none(), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),

        ("GET", format!("/api/project.list?workspaceId={workspace}"), none(), [IN, WORKSPACE, IN, IN, WORKSPACE]),
        ("GET", format!("/api/project.get?id={shop}"), none(), [IN, PROJECT, IN, PROJECT, PROJECT]),
        ("POST", "/api/project.create".into(), json!({ "workspaceId": workspace, "name": "x", "slug": "x" }), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/project.update".into(), json!({ "id": shop, "name": "x" }), [IN, PROJECT, OWNERS, OWNERS, OWNERS]),
        ("DELETE", format!("/api/project.delete?id={shop}"), none(), [IN, PROJECT, OWNERS, OWNERS, OWNERS]),

        ("GET", format!("/api/agent.list?workspaceId={workspace}"), none(), [IN, WORKSPACE, IN, IN, WORKSPACE]),
        ("GET", format!("/api/agent.get?id={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),
        ("POST", "/api/agent.create".into(), json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": "x", "name": "x", "roleTitle": "x" }), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/agent.update".into(), json!({ "id": spare, "name": "x" }), [IN, AGENT, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/agent.rotateCredentials".into(), json!({ "id": spare }), [IN, AGENT, OWNERS, OWNERS, OWNERS]),
        ("DELETE", format!("/api/agent.delete?id={spare}"), none(), [IN, AGENT, OWNERS, OWNERS, OWNERS]),

        ("POST", "/api/agent.launch".into(), json!({ "id": dev }), [IN, AGENT, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/agent.terminal?id={dev}"), none(), [IN, AGENT, OWNERS, OWNERS, OWNERS]),

        ("GET", format!("/api/task.list?projectId={shop}"), none(), [IN, PROJECT, IN, PROJECT, PROJECT]),
        ("GET", format!("/api/task.list?projectId={shop}&epicId={epic}"), none(), [IN, PROJECT, IN, PROJECT, PROJECT]),
        ("GET", format!("/api/task.get?id={task}"), none(), [IN, TASK, IN, TASK, TASK]),
        ("POST", "/api/task.create".into(), json!({ "projectId": shop, "title": "x" }), [IN, PROJECT, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/task.update".into(), json!({ "id": task, "title": "y" }), [IN, TASK, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/task.assign".into(), json!({ "taskId": task, "agentId": dev }), [IN, TASK, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/task.start".into(), json!({ "taskId": task }), [AGENTS, AGENTS, IN, TASK, TASK]),
        ("POST", "/api/task.block".into(), json!({ "taskId": task, "blocker": "x", "severity": "low", "requiresAttention": false }), [AGENTS, AGENTS, IN, TASK, TASK]),
        ("POST", "/api/task.complete".into(), json!({ "taskId": task }), [AGENTS, AGENTS, IN, TASK, TASK]),

        ("GET", format!("/api/event.list?{within}"), none(), [IN, WORKSPACE, IN, PROJECT, WORKSPACE]),
        ("GET", format!("/api/event.get?id={event}"), none(), [IN, EVENT, IN, EVENT, EVENT]),
        ("GET", format!("/api/event.stream?{within}"), none(), [IN, WORKSPACE, IN, PROJECT, WORKSPACE]),
        ("POST", "/api/event.publish".into(), json!({ "sessionId": session, "type": "question_asked", "content": question }), [AGENTS, AGENTS, IN, MISMATCH, SESSION]),

        ("GET", format!("/api/audit.history?aggregate=task&id={task}"), none(), [IN, TASK, IN, TASK, TASK]),
        ("GET", format!("/api/audit.state?aggregate=session&id={session}"), none(), [IN, SESSION, IN, SESSION, SESSION]),
        ("GET", format!("/api/audit.diff?aggregate=wiki&id={entry}&from=1"), none(), [IN, WIKI, IN, WIKI, WIKI]),
        ("GET", format!("/api/audit.causes?position={position}"), none(), [IN, EVENT, IN, EVENT, EVENT]),
        ("GET", format!("/api/audit.effects?position={position}"), none(), [IN, EVENT, IN, EVENT, EVENT]),

        ("GET", format!("/api/kpi.get?agentId={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),
        ("GET", format!("/api/kpi.explain?agentId={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),
        ("GET", format!("/api/kpi.history?agentId={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),
        ("POST", "/api/kpi.recalculate".into(), json!({ "agentId": dev }), [IN, AGENT, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/trust.explain?agentId={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),
        ("GET", format!("/api/trust.history?agentId={dev}"), none(), [IN, AGENT, IN, AGENT, AGENT]),

        ("GET", format!("/api/wiki.list?{within}"), none(), [IN, WORKSPACE, IN, PROJECT, WORKSPACE]),
        ("GET", format!("/api/wiki.get?id={entry}"), none(), [IN, WIKI, IN, WIKI, WIKI]),
        ("POST", "/api/wiki.create".into(), json!({ "workspaceId": workspace, "title": "x", "slug": "x", "content": "x" }), [IN, WORKSPACE, LEVEL, LEVEL, WORKSPACE]),
        ("PUT", "/api/wiki.update".into(), json!({ "id": entry, "title": "y" }), [IN, WIKI, IN, WIKI, WIKI]),
        ("POST", "/api/wiki.approve".into(), json!({ "id": entry }), [IN, WIKI, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/wiki.reject".into(), json!({ "id": entry, "reason": "x" }), [IN, WIKI, OWNERS, OWNERS, OWNERS]),

        ("GET", format!("/api/epic.list?projectId={shop}"), none(), [IN, PROJECT, IN, PROJECT, PROJECT]),
        ("GET", format!("/api/epic.get?id={epic}"), none(), [IN, EPIC, IN, EPIC, EPIC]),
        ("GET", format!("/api/review.queue?epicId={epic}"), none(), [IN, EPIC, IN, EPIC, EPIC]),
        ("POST", "/api/epic.create".into(), json!({ "projectId": shop, "title": "x", "description": "x" }), [IN, PROJECT, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/epic.update".into(), json!({ "id": epic, "title": "y" }), [IN, EPIC, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/epic.complete".into(), json!({ "id": epic }), [IN, EPIC, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/epic.requestChanges".into(), json!({ "id": epic, "feedback": "x" }), [IN, EPIC, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/epic.fail".into(), json!({ "id": epic, "reason": "x" }), [IN, EPIC, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/agent.health?workspaceId={workspace}"), none(), [IN, WORKSPACE, IN, IN, WORKSPACE]),
        ("GET", format!("/api/agent.health?workspaceId={workspace}&epicId={epic}"), none(), [IN, WORKSPACE, IN, EPIC, WORKSPACE]),
        ("GET", format!("/api/audit.history?aggregate=epic&id={epic}"), none(), [IN, EPIC, IN, EPIC, EPIC]),

        ("GET", format!("/api/mail.inbox?workspaceId={workspace}"), none(), [IN, WORKSPACE, IN, IN, WORKSPACE]),
        ("GET", format!("/api/mail.inbox?workspaceId={workspace}&agentId={dev}"), none(), [IN, WORKSPACE, IN, AGENT, WORKSPACE]),
        ("GET", format!("/api/mail.thread?mailId={mail}"), none(), [IN, MAIL, IN, MAIL, MAIL]),
        ("GET", format!("/api/mail.thread?mailId={note}"), none(), [IN, MAIL, MAIL, MAIL, MAIL]),
        ("POST", "/api/mail.send".into(), json!({ "workspaceId": workspace, "toAgentId": dev, "subject": "x", "body": "x" }), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/mail.reply".into(), json!({ "inReplyToMailId": mail, "body": "x" }), [IN, MAIL, OWNERS, OWNERS, OWNERS]),
        ("POST", "/api/mail.read".into(), json!({ "mailId": note }), [IN, MAIL, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/audit.history?aggregate=mail&id={mail}"), none(), [IN, MAIL, IN, MAIL, MAIL]),

        ("GET", format!("/api/decision.list?workspaceId={workspace}"), none(), [IN, WORKSPACE, IN, IN, WORKSPACE]),
        ("GET", format!("/api/decision.list?workspaceId={workspace}&agentId={dev}"), none(), [IN, WORKSPACE, IN, AGENT, WORKSPACE]),
        ("GET", "/api/notification.list".into(), none(), [IN, IN, OWNERS, OWNERS, OWNERS]),
        ("GET", format!("/api/notification.list?workspaceId={workspace}"), none(), [IN, WORKSPACE, OWNERS, OWNERS, OWNERS]),
        ("GET", "/api/notification.settings".into(), none(), [IN, IN, OWNERS, OWNERS, OWNERS]),
        ("PUT", "/api/notification.updateSettings".into(), none(), [IN, IN, OWNERS, OWNERS, OWNERS]),

        ("POST", "/api/session.start".into(), json!({ "projectId": shop }), [AGENTS, AGENTS, IN, PROJECT, PROJECT]),
        ("GET", format!("/api/session.get?id={session}"), none(), [IN, SESSION, IN, SESSION, SESSION]),
        ("POST", "/api/session.log".into(), json!({ "sessionId": session, "message": "x" }), [AGENTS, AGENTS, IN, MISMATCH, SESSION]),
        ("POST", "/api/session.stop".into(), json!({ "sessionId": session }), [AGENTS, AGENTS, IN, MISMATCH, SESSION]),
    ]
}

async fn everybody_gets_in_where_the_table_says_and_nowhere_else(bench: Bench) {
    let server = Server::start(bench).await;
    let (ada, bob) = (server.owner("ada").await, server.owner("bob").await);
    let workspace = ada.workspace("acme").await;
    let (shop, site) = (ada.project(&workspace, "shop").await, ada.project(&workspace, "site").await);
    let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
    let peer = ada.new_agent(&workspace, Some(&site), "peer").await;
    let spare = ada.new_agent(&workspace, None, "spare").await;
    let idle = ada.new_agent(&workspace, None, "idle").await;
    ada.put("/api/agent.update", &json!({ "id": idle["agent"]["id"], "status": "inactive" })).await.ok();
    let spy = bob.new_agent(&bob.workspace("theirs").await, None, "spy").await;
    let agents = [&dev, &peer, &spy, &idle].map(|it| server.agent(it));
    let task = ada.task(&shop, "x").await;
    ada.assign(&task, &dev).await.ok();
    let session = agents[0].start_session(&shop).await;
    let body =
        json!({ "workspaceId": workspace, "projectId": shop, "title": "x", "slug": "locks", "content": "Avoid them" });
    let entry = ada.post("/api/wiki.create", &body).await.ok().id_of("entry");
    let epic = json!({ "projectId": shop, "title": "x", "description": "x" });
    let epic = ada.post("/api/epic.create", &epic).await.ok().id_of("epic");
    let letter = json!({ "workspaceId": workspace, "toAgentId": dev["agent"]["id"], "subject": "x", "body": "x" });
    let mail = ada.post("/api/mail.send", &letter).await.ok().id_of("mail");
    let letter = json!({ "workspaceId": workspace, "toHuman": true, "subject": "x", "body": "x" });
    let note = ada.post("/api/mail.send", &letter).await.ok().id_of("mail");
    let events = ada.get(&format!("/api/event.list?projectId={shop}")).await.ok();
    let world = World {
        workspace,
        shop,
        dev: id(&dev["agent"]),
        spare: id(&spare["agent"]),
        task,
        session,
        entry,
        epic,
        mail,
        note,
        event: id(&events.body["events"][0]),
        position: events.body["events"][0]["metadata"]["position"].as_i64().unwrap(),
    };
    let [own, peer, spy, idle] = &agents;
    for (method, path, body, cells) in table(&world) {
        // Those who stay outside come first: what the others do may be done only once.
        let callers = [(idle, "403 AGENT_INACTIVE"), (&server.nobody(), "401 AUTH_INVALID_TOKEN")];
        let columns = [&ada, &bob, own, peer, spy].into_iter().zip(cells);
        let (inside, outside): (Vec<_>, Vec<_>) = columns.partition(|(_, cell)| *cell == IN);
        for (client, expected) in callers.into_iter().chain(outside).chain(inside) {
            assert_eq!(got(client, method, &path, &body).await, expected, "{method} {path}");
        }
    }
}

/// How a caller fares: let in, or refused for who it is.
async fn got(client: &Client, method: &str, path: &str, body: &Value) -> String {
    let answer = match method {
        // A stream that is open never ends.
        "GET" if path.contains("event.stream") => return stream(client, path).await,
        "GET" => client.get(path).await,
        "POST" => client.post(path, body).await,
        "PUT" => client.put(path, body).await,
        _ => client.delete(path).await,
    };
    match answer.status.as_u16() {
        status @ (401 | 403) => format!("{status} {}", answer.body["error"]["code"].as_str().unwrap()),
        status => {
            assert!(status < 500 && status != 405, "{method} {path}: {}", answer.text);
            IN.to_owned()
        }
    }
}

/// The same for a stream, of which only a refusal has an end.
async fn stream(client: &Client, path: &str) -> String {
    let status = client.status_of(path).await;
    match status {
        200 => IN.to_owned(),
        _ => {
            let answer = client.get(path).await;
            format!("{status} {}", answer.body["error"]["code"].as_str().unwrap())
        }
    }
}

async fn every_route_has_its_row(bench: Bench) {
    let server = Server::start(bench).await;
    let api = server.nobody().get("/api/openapi.json").await.ok().body;
    let mut documented = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            documented.insert((method.to_uppercase(), path.clone()));
        }
    }
    let table = table(&World::default());
    let rows = table.iter().map(|(method, path, _, _)| (*method, path.split('?').next().unwrap()));
    let rows: BTreeSet<(String, String)> =
        rows.chain(OPEN.iter().copied()).map(|(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(rows, documented);
}

fn id(of: &Value) -> String {
    of["id"].as_str().unwrap().to_owned()
}
