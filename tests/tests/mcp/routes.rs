//! Over HTTP an agent of the factory sees what its tools show, by the same table; any other agent goes by its project.

use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::server::Client;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::floor::{Floor, output};

both_served_stores!(
    an_agent_of_the_factory_gets_in_where_its_tools_do_and_nowhere_else,
    an_agent_of_the_factory_is_shown_its_own_and_no_more,
);

/// Let in: whatever the answer is, it is about what was asked and not about who asked.
const IN: &str = "in";
const TOOL: &str = "403 TOOL_NOT_ALLOWED";
const TASK: &str = "403 TASK_ACCESS_DENIED";
const EPIC: &str = "403 EPIC_ACCESS_DENIED";
const AGENT: &str = "403 AGENT_ACCESS_DENIED";
const MAIL: &str = "403 MAIL_ACCESS_DENIED";
const STREAM: &str = "403 AGGREGATE_ACCESS_DENIED";
const OWNERS: &str = "403 NOT_CEO";

/// A floor with a second epic beside the first, and an agent of the project that has no post.
struct World {
    floor: Floor,
    dev: Client,
    /// The other epic, its task and its supervisor.
    tills: String,
    till: String,
    other: String,
    /// From the supervisor to its worker.
    mail: String,
}

impl World {
    async fn new(bench: Bench) -> Self {
        let floor = Floor::new(bench).await;
        let tills = floor.epic("Tills").await;
        let other = floor.supervisor_of(&tills).await;
        let input = json!({ "title": "Add a till", "description": "As the design says" });
        let till = output(call(&other, "mcp__epic__create_task", input).await)["taskId"].as_str().unwrap().to_owned();
        let letter = json!({ "toAgentId": Floor::id_of(&floor.worker), "subject": "How far?", "body": "Tell me" });
        let mail = output(call(&floor.supervisor, "mcp__mail__send", letter).await);
        let mail = mail["mailId"].as_str().unwrap().to_owned();
        let dev = floor.owner.new_agent(&floor.workspace_id, Some(&floor.project_id), "dev").await;
        let dev = floor.server.agent(&dev);
        Self { dev, tills, till, other: Floor::id_of(&other), mail, floor }
    }

    /// The same caller, who sees everything there is.
    async fn seeing(&self, client: &Client) -> Client {
        client.with("X-Min-Position", &self.floor.server.head().await.to_string())
    }
}

/// Every route that shows what a tool shows: for an orchestrator, a supervisor, its worker, an agent without a post, and
/// the owner; by hand.
#[rustfmt::skip]
fn table(world: &World) -> Vec<(String, [&'static str; 5])> {
    let World { floor, tills, till, other, mail, .. } = world;
    let (workspace, project) = (&floor.workspace_id, &floor.project_id);
    let (epic, task) = (&floor.epic_id, &floor.task_id);
    let (supervisor, worker) = (Floor::id_of(&floor.supervisor), Floor::id_of(&floor.worker));
    vec![
        //                                                                        orchestr. superv. worker  dev     owner
        (format!("/api/task.list?projectId={project}"),                          [TOOL,    IN,     TOOL,   IN,     IN]),
        (format!("/api/task.list?projectId={project}&epicId={epic}"),            [TOOL,    IN,     TOOL,   IN,     IN]),
        (format!("/api/task.list?projectId={project}&epicId={tills}"),           [TOOL,    EPIC,   TOOL,   IN,     IN]),
        (format!("/api/task.get?id={task}"),                                     [TOOL,    IN,     IN,     IN,     IN]),
        (format!("/api/task.get?id={till}"),                                     [TOOL,    TASK,   TOOL,   IN,     IN]),
        (format!("/api/epic.list?projectId={project}"),                          [TOOL,    IN,     IN,     IN,     IN]),
        (format!("/api/epic.get?id={epic}"),                                     [TOOL,    IN,     IN,     IN,     IN]),
        (format!("/api/epic.get?id={tills}"),                                    [TOOL,    EPIC,   EPIC,   IN,     IN]),
        (format!("/api/review.queue?epicId={epic}"),                             [TOOL,    IN,     TOOL,   IN,     IN]),
        (format!("/api/review.queue?epicId={tills}"),                            [TOOL,    EPIC,   TOOL,   IN,     IN]),
        (format!("/api/agent.health?workspaceId={workspace}"),                   [IN,      TOOL,   TOOL,   IN,     IN]),
        (format!("/api/agent.health?workspaceId={workspace}&type=SUPERVISOR"),   [IN,      TOOL,   TOOL,   IN,     IN]),
        (format!("/api/agent.health?workspaceId={workspace}&type=WORKER"),       [TOOL,    TOOL,   TOOL,   IN,     IN]),
        (format!("/api/agent.health?workspaceId={workspace}&epicId={tills}"),    [IN,      TOOL,   TOOL,   IN,     IN]),
        (format!("/api/mail.inbox?workspaceId={workspace}"),                     [IN,      IN,     IN,     IN,     IN]),
        (format!("/api/mail.inbox?workspaceId={workspace}&agentId={supervisor}"),[AGENT,   IN,     AGENT,  IN,     IN]),
        (format!("/api/mail.inbox?workspaceId={workspace}&agentId={worker}"),    [AGENT,   AGENT,  IN,     IN,     IN]),
        (format!("/api/mail.inbox?workspaceId={workspace}&agentId={other}"),     [AGENT,   AGENT,  AGENT,  IN,     IN]),
        (format!("/api/mail.thread?mailId={mail}"),                              [MAIL,    IN,     IN,     MAIL,   IN]),
        (format!("/api/decision.list?workspaceId={workspace}"),                  [IN,      IN,     IN,     IN,     IN]),
        (format!("/api/decision.list?workspaceId={workspace}&agentId={supervisor}"), [AGENT, IN,   AGENT,  IN,     IN]),
        (format!("/api/decision.list?workspaceId={workspace}&agentId={worker}"), [AGENT,   AGENT,  IN,     IN,     IN]),
        (format!("/api/agent.terminal?id={worker}"),                             [OWNERS,  OWNERS, OWNERS, OWNERS, IN]),
        (format!("/api/audit.history?aggregate=task&id={task}"),                 [TOOL,    IN,     IN,     IN,     IN]),
        (format!("/api/audit.history?aggregate=task&id={till}"),                 [TOOL,    TASK,   TOOL,   IN,     IN]),
        (format!("/api/audit.history?aggregate=epic&id={epic}"),                 [TOOL,    IN,     TOOL,   IN,     IN]),
        (format!("/api/audit.history?aggregate=epic&id={tills}"),                [TOOL,    EPIC,   TOOL,   IN,     IN]),
        (format!("/api/audit.history?aggregate=mail&id={mail}"),                 [MAIL,    IN,     IN,     MAIL,   IN]),
        (format!("/api/audit.history?aggregate=post&id={worker}"),               [STREAM,  STREAM, IN,     IN,     IN]),
    ]
}

async fn an_agent_of_the_factory_gets_in_where_its_tools_do_and_nowhere_else(bench: Bench) {
    let world = World::new(bench).await;
    let World { floor, dev, .. } = &world;
    let callers = [&floor.orchestrator, &floor.supervisor, &floor.worker, dev, &floor.owner];
    for (path, row) in table(&world) {
        for (caller, wanted) in callers.into_iter().zip(row) {
            let answer = world.seeing(caller).await.get(&path).await;
            let got = match answer.status.as_u16() {
                status @ (401 | 403) => format!("{status} {}", answer.body["error"]["code"].as_str().unwrap()),
                status => {
                    assert!(status < 500, "{path}: {}", answer.text);
                    IN.to_owned()
                }
            };
            assert_eq!(got, wanted, "{path}: {}", answer.text);
        }
    }
}

async fn an_agent_of_the_factory_is_shown_its_own_and_no_more(bench: Bench) {
    let world = World::new(bench).await;
    let floor = &world.floor;
    let list = async |caller: &Client, path: &str, of: &str, field: &str| -> Vec<Value> {
        let body = world.seeing(caller).await.get(path).await.ok().body;
        body[of].as_array().unwrap().iter().map(|it| it[field].clone()).collect()
    };
    let tasks = format!("/api/task.list?projectId={}", floor.project_id);
    assert_eq!(list(&floor.supervisor, &tasks, "tasks", "id").await, [json!(floor.task_id)]);
    assert_eq!(list(&world.dev, &tasks, "tasks", "id").await.len(), 2);
    let colleague = floor.task("Add a shelf").await;
    let epic = format!("/api/epic.get?id={}", floor.epic_id);
    assert_eq!(list(&floor.worker, &epic, "tasks", "id").await, [json!(floor.task_id)]);
    assert!(list(&floor.worker, &format!("{epic}&offset=1"), "tasks", "id").await.is_empty());
    for caller in [&floor.supervisor, &world.dev, &floor.owner] {
        assert_eq!(list(caller, &epic, "tasks", "id").await, [json!(floor.task_id), json!(colleague)]);
    }
    let epics = format!("/api/epic.list?projectId={}", floor.project_id);
    assert_eq!(list(&floor.worker, &epics, "epics", "id").await, [json!(floor.epic_id)]);
    let health = format!("/api/agent.health?workspaceId={}", floor.workspace_id);
    let kinds = list(&floor.orchestrator, &health, "agents", "type").await;
    assert_eq!(kinds, ["SUPERVISOR", "SUPERVISOR"]);
    let decisions = format!("/api/decision.list?workspaceId={}", floor.workspace_id);
    for caller in [&floor.orchestrator, &floor.supervisor, &floor.worker] {
        let own = json!(Floor::id_of(caller));
        assert!(list(caller, &decisions, "decisions", "agentId").await.iter().all(|it| *it == own));
    }
}
