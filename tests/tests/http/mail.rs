//! Mail and the decision log over HTTP: the inbox of people, any agent's to look at, threads, and what agents decided.

use chrono::TimeDelta;
use commands::decisions::LogDecision;
use commands::mail::{SendMail, To};
use commands::tool_call::{CallTool, FailTool};
use commands::{Actor, Context};
use domain::{AgentId, Party, WorkspaceId};
use muster_tests::both_served_stores;
use muster_tests::fleet::new;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    people_write_to_an_agent_and_the_agent_has_it,
    an_agent_writes_to_people_who_read_and_answer,
    an_inbox_comes_in_pages_and_counts_what_is_unread,
    only_text_is_kept_of_a_mail,
    people_read_only_their_own_mail,
    nobody_answers_muster,
    what_does_not_exist_is_not_found,
    bad_input_is_named,
    a_repeated_mail_is_one_mail,
    the_decision_log_is_listed_newest_first_in_pages,
    a_project_agent_sees_its_own_decisions,
);

/// Ada, her workspace, and an agent of each level.
struct World {
    server: Server,
    ada: Client,
    workspace: String,
    lead: Client,
    dev: Client,
    dev_id: String,
}

async fn world(bench: Bench) -> World {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let shop = ada.project(&workspace, "shop").await;
    let lead = server.agent(&ada.new_agent(&workspace, None, "lead").await);
    let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
    let dev_id = dev["agent"]["id"].as_str().unwrap().to_owned();
    World { ada, workspace, lead, dev: server.agent(&dev), dev_id, server }
}

impl World {
    fn dev_agent(&self) -> AgentId {
        AgentId(self.dev_id.parse().unwrap())
    }

    fn context(&self) -> Context {
        Context::new(Actor::Agent(self.dev_agent()), self.server.bench.clock.now())
    }

    /// The agent writes, as it does through MCP.
    async fn dev_writes(&self, subject: &str) -> String {
        let workspace_id = WorkspaceId(self.workspace.parse().unwrap());
        let (subject, body) = (subject.to_owned(), "Please look".to_owned());
        let send = SendMail { by: Party::Agent(self.dev_agent()), workspace_id, to: To::Human, subject, body };
        self.server.executor.run(&self.context(), &send).await.unwrap().outcome.to_string()
    }

    async fn ada_writes(&self, subject: &str) -> Value {
        let letter = self.letter(subject, "Please look");
        self.ada.post("/api/mail.send", &letter).await.ok().body["mail"].clone()
    }

    fn letter(&self, subject: &str, body: &str) -> Value {
        json!({ "workspaceId": self.workspace, "toAgentId": self.dev_id, "subject": subject, "body": body })
    }

    async fn inbox(&self, by: &Client, more: &str) -> Value {
        let head = self.server.head().await.to_string();
        by.with("X-Min-Position", &head)
            .get(&format!("/api/mail.inbox?workspaceId={}{more}", self.workspace))
            .await
            .ok()
            .body
    }

    async fn decides(&self, title: &str) {
        let (title, body) = (title.to_owned(), "It is better so".to_owned());
        let decision = LogDecision { by: self.dev_agent(), title, body };
        self.server.executor.run(&self.context(), &decision).await.unwrap();
    }
}

fn subjects(inbox: &Value) -> Vec<&str> {
    inbox["mail"].as_array().unwrap().iter().map(|it| it["subject"].as_str().unwrap()).collect()
}

async fn people_write_to_an_agent_and_the_agent_has_it(bench: Bench) {
    let world = world(bench).await;
    let sent = world.ada_writes("Hurry").await;
    assert_eq!(
        (&sent["toAgentId"], &sent["toHuman"], &sent["read"]),
        (&json!(world.dev_id), &json!(false), &json!(false))
    );
    assert_eq!((&sent["threadId"], &sent["fromAgentId"]), (&sent["id"], &Value::Null));
    for by in [&world.dev, &world.lead, &world.ada] {
        let inbox = world.inbox(by, &format!("&agentId={}", world.dev_id)).await;
        assert_eq!((subjects(&inbox), &inbox["unreadCount"]), (vec!["Hurry"], &json!(1)));
    }
    // An agent that names nobody means itself, an owner the people.
    assert_eq!(subjects(&world.inbox(&world.dev, "").await), ["Hurry"]);
    assert!(subjects(&world.inbox(&world.lead, "").await).is_empty());
    assert!(subjects(&world.inbox(&world.ada, "").await).is_empty());
}

async fn an_agent_writes_to_people_who_read_and_answer(bench: Bench) {
    let world = world(bench).await;
    let id = world.dev_writes("Stuck").await;
    assert_eq!(world.inbox(&world.ada, "&unread=true").await["unreadCount"], 1);
    let read = world.ada.post("/api/mail.read", &json!({ "mailId": id })).await.ok();
    assert!(read.body["mail"]["readAt"].is_string());
    let head = world.server.head().await;
    world.ada.post("/api/mail.read", &json!({ "mailId": id })).await.ok();
    assert_eq!(world.server.head().await, head, "once is enough");
    assert!(subjects(&world.inbox(&world.ada, "&unread=true").await).is_empty());
    let answer = json!({ "inReplyToMailId": id, "body": "Try again" });
    let answer = world.ada.post("/api/mail.reply", &answer).await.ok().body["mail"].clone();
    assert_eq!(
        (&answer["subject"], &answer["inReplyTo"], &answer["threadId"]),
        (&json!("Re: Stuck"), &json!(id), &json!(id))
    );
    for by in [&world.ada, &world.dev, &world.lead] {
        let thread = by.get(&format!("/api/mail.thread?mailId={}", answer["id"].as_str().unwrap())).await.ok().body;
        assert_eq!((subjects(&thread), &thread["threadId"]), (vec!["Stuck", "Re: Stuck"], &json!(id)));
    }
    let entries = world.ada.get("/api/event.list?type=mail_received").await.ok().body;
    assert_eq!(entries["events"][0]["content"]["subject"], "Stuck");
    assert_eq!(entries["events"][0]["content"]["from"]["agentName"], "dev");
    assert_eq!(entries["total"], 1);
}

async fn an_inbox_comes_in_pages_and_counts_what_is_unread(bench: Bench) {
    let world = world(bench).await;
    for n in 0..3 {
        world.dev_writes(&format!("{n}")).await;
    }
    let first = world.inbox(&world.ada, "&limit=2").await;
    assert_eq!((subjects(&first), &first["unreadCount"]), (vec!["2", "1"], &json!(3)));
    assert_eq!(subjects(&world.inbox(&world.ada, "&limit=2&offset=2").await), ["0"]);
}

async fn only_text_is_kept_of_a_mail(bench: Bench) {
    let world = world(bench).await;
    let letter = world.letter("Re\u{202e}base\u{1b}[31m", "a\u{1b}]0;x\u{7}b\r\nc");
    let sent = world.ada.post("/api/mail.send", &letter).await.ok().body["mail"].clone();
    assert_eq!((&sent["subject"], &sent["body"]), (&json!("Rebase"), &json!("ab\nc")));
    let empty = world.letter("\u{200b}", "\u{1b}[0m");
    world.ada.post("/api/mail.send", &empty).await.refused(400, "MAIL_EMPTY");
}

async fn people_read_only_their_own_mail(bench: Bench) {
    let world = world(bench).await;
    let sent = world.ada_writes("Hurry").await;
    world.ada.post("/api/mail.read", &json!({ "mailId": sent["id"] })).await.refused(403, "MAIL_NOT_ADDRESSEE");
    let bob = world.server.owner("bob").await;
    for (path, body) in [
        ("/api/mail.read", json!({ "mailId": sent["id"] })),
        ("/api/mail.reply", json!({ "inReplyToMailId": sent["id"], "body": "x" })),
    ] {
        bob.post(path, &body).await.refused(403, "MAIL_ACCESS_DENIED");
    }
}

async fn nobody_answers_muster(bench: Bench) {
    let world = world(bench).await;
    let call =
        CallTool { call_id: new(), by: world.dev_agent(), tool: "mcp__git__rebase".to_owned(), input: json!({}) };
    let call_id = world.server.executor.run(&world.context(), &call).await.unwrap().outcome;
    let fail = FailTool { call_id, error: "No".to_owned(), details: None, critical: true, escalates: true };
    world.server.executor.run(&world.context(), &fail).await.unwrap();
    // An escalation is the agent's own mail, and may be answered.
    let inbox = world.inbox(&world.ada, "").await;
    let answer = json!({ "inReplyToMailId": inbox["mail"][0]["id"], "body": "I look" });
    world.ada.post("/api/mail.reply", &answer).await.ok();
    let system = muster_writes(&world).await;
    let answer = json!({ "inReplyToMailId": system, "body": "I look" });
    world.ada.post("/api/mail.reply", &answer).await.refused(400, "MAIL_NO_REPLY");
}

/// A mail of Muster itself to people.
async fn muster_writes(world: &World) -> Uuid {
    use domain::mail::{Addressee, Mail, MailCommand, SendMail, Sender};
    let id = Uuid::now_v7();
    let send = SendMail {
        mail_id: id.into(),
        workspace_id: WorkspaceId(world.workspace.parse().unwrap()),
        thread_id: None,
        in_reply_to: None,
        from: Sender::System,
        to: Addressee::Human,
        subject: "Task failed after 5 attempts".to_owned(),
        body: "Add a basket".to_owned(),
        now: world.server.bench.clock.now(),
    };
    let new = commands::New::<Mail> { name: "test", id, command: MailCommand::Send(Box::new(send)) };
    world.server.executor.run(&world.context(), &new).await.unwrap();
    id
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let world = world(bench).await;
    let nothing = Uuid::now_v7();
    world.ada.get(&format!("/api/mail.thread?mailId={nothing}")).await.refused(404, "MAIL_NOT_FOUND");
    world.ada.post("/api/mail.read", &json!({ "mailId": nothing })).await.refused(404, "MAIL_NOT_FOUND");
    world.ada.get(&format!("/api/mail.inbox?workspaceId={nothing}")).await.refused(404, "WORKSPACE_NOT_FOUND");
    let inbox = format!("/api/mail.inbox?workspaceId={}&agentId={nothing}", world.workspace);
    world.ada.get(&inbox).await.refused(404, "AGENT_NOT_FOUND");
    let letter = json!({ "workspaceId": world.workspace, "toAgentId": nothing, "subject": "x", "body": "x" });
    world.ada.post("/api/mail.send", &letter).await.refused(404, "AGENT_NOT_FOUND");
}

async fn bad_input_is_named(bench: Bench) {
    let world = world(bench).await;
    let long = "x".repeat(20_001);
    for (body, fields) in [
        (json!({ "workspaceId": world.workspace, "subject": "", "body": long }), vec!["body", "subject"]),
        (json!({ "workspaceId": world.workspace, "subject": "x", "body": "x" }), vec!["toAgentId"]),
        (
            json!({ "workspaceId": world.workspace, "toAgentId": world.dev_id, "toHuman": true, "subject": "x", "body": "x" }),
            vec!["toAgentId"],
        ),
    ] {
        let refused = world.ada.post("/api/mail.send", &body).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), fields);
    }
}

async fn a_repeated_mail_is_one_mail(bench: Bench) {
    let world = world(bench).await;
    let keyed = world.ada.with("Idempotency-Key", "once");
    let letter = world.letter("Once", "And for all");
    let [first, again] =
        [keyed.post("/api/mail.send", &letter).await.ok(), keyed.post("/api/mail.send", &letter).await.ok()];
    assert_eq!(first.body, again.body);
    assert_eq!(subjects(&world.inbox(&world.dev, "").await).len(), 1);
}

async fn the_decision_log_is_listed_newest_first_in_pages(bench: Bench) {
    let world = world(bench).await;
    for title in ["one", "two", "three"] {
        world.decides(title).await;
        let clock = &world.server.bench.clock;
        clock.set(clock.now() + TimeDelta::minutes(1));
    }
    let list = format!("/api/decision.list?workspaceId={}", world.workspace);
    let head = world.server.head().await.to_string();
    let ada = world.ada.with("X-Min-Position", &head);
    let titles = |body: &Value| -> Vec<String> {
        body["decisions"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
    };
    let first = ada.get(&format!("{list}&limit=2")).await.ok().body;
    assert_eq!(titles(&first), ["three", "two"]);
    let rest = ada.get(&format!("{list}&limit=2&before={}", first["nextBefore"])).await.ok().body;
    assert_eq!((titles(&rest), &rest["nextBefore"]), (vec!["one".to_owned()], &Value::Null));
    let between = ada.get(&format!("{list}&since=2026-03-01T12:01:00Z&until=2026-03-01T12:02:00Z")).await.ok().body;
    assert_eq!(titles(&between), ["two"]);
    ada.get(&format!("{list}&limit=101")).await.refused(400, "VALIDATION_ERROR");
}

async fn a_project_agent_sees_its_own_decisions(bench: Bench) {
    let world = world(bench).await;
    world.decides("mine").await;
    let site = world.ada.project(&world.workspace, "site").await;
    let peer = world.server.agent(&world.ada.new_agent(&world.workspace, Some(&site), "peer").await);
    let head = world.server.head().await.to_string();
    let list = format!("/api/decision.list?workspaceId={}", world.workspace);
    for (by, count) in [(&world.dev, 1), (&world.lead, 1), (&peer, 0)] {
        let listed = by.with("X-Min-Position", &head).get(&list).await.ok().body;
        assert_eq!(listed["decisions"].as_array().unwrap().len(), count);
    }
    peer.get(&format!("{list}&agentId={}", world.dev_id)).await.refused(403, "AGENT_ACCESS_DENIED");
}
