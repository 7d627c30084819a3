//! What agents tell one another: `event.publish`, field by field.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores! {
    every_type_is_published_and_shown_as_it_was_said,
    every_bad_field_of_a_content_is_named,
    mentions_are_agents_of_the_workspace,
    problems_and_questions_reach_the_supervisor,
    only_organization_agents_give_advice,
    an_agent_speaks_for_itself_and_under_its_own_name,
}

struct World {
    server: Server,
    ada: Client,
    shop: String,
    lead: Value,
    dev: Value,
}

impl World {
    async fn new(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let shop = ada.project(&workspace, "shop").await;
        let lead = ada.new_agent(&workspace, None, "lead").await;
        let dev = ada.new_agent(&workspace, Some(&shop), "dev").await;
        Self { server, ada, shop, lead, dev }
    }

    /// An agent and the id of a session that it has started.
    async fn at_work(&self, agent: &Value) -> (Client, String) {
        let client = self.server.agent(agent);
        let session = client.start_session(&self.shop).await;
        (client, session)
    }
}

/// A good content of each type, as the agent says it.
fn contents(agent: &Value) -> [(&'static str, Value); 5] {
    let agent = &agent["agent"];
    let by = json!({ "agentId": agent["id"], "agentName": agent["name"] });
    let pull_request = Uuid::now_v7();
    let problem_context = json!({ "file": "a.rs", "lineNumber": 7, "error": "E0502", "stackTrace": "at a.rs" });
    [
        (
            "problem_report",
            json!({ "title": "It burns", "description": "All of it", "context": problem_context,
                "severity": "critical", "category": "bug" }),
        ),
        (
            "advice_given",
            json!({ "topic": "Locks", "advice": "Avoid them", "context": { "a": [1] },
                "relatedTask": Uuid::now_v7(), "confidence": 0.5 }),
        ),
        (
            "question_asked",
            json!({ "question": "Why?", "context": { "relatedTask": Uuid::now_v7(), "relatedFile": "a.rs",
                "whatIVeTried": "nothing" }, "urgency": "high" }),
        ),
        (
            "review_requested",
            json!({ "pullRequestId": pull_request, "githubPullRequestNumber": 7,
                "githubPullRequestUrl": "https://github.com/acme/shop/pull/7", "title": "Basket",
                "description": "Adds it", "changedFiles": 3, "additions": 10, "deletions": 2, "requestedBy": by }),
        ),
        (
            "review_response",
            json!({ "pullRequestId": pull_request, "reviewer": by, "decision": "request_changes",
                "comments": "Almost", "requestedChanges": ["Tests"], "reviewedAt": "2026-01-02T03:04:05Z" }),
        ),
    ]
}

async fn every_type_is_published_and_shown_as_it_was_said(bench: Bench) {
    let world = World::new(bench).await;
    let (lead, session) = world.at_work(&world.lead).await;
    let dev = &world.dev["agent"]["id"];
    for (kind, content) in contents(&world.lead) {
        let body = json!({ "sessionId": session, "type": kind, "content": content, "mentions": [dev, dev] });
        let published = lead.post("/api/event.publish", &body).await.ok();
        let event = &published.body["event"];
        assert_eq!((&event["type"], &event["content"]), (&json!(kind), &content));
        assert_eq!((&event["mentions"], &event["sessionId"]), (&json!([dev]), &json!(session)));
        assert_eq!((&event["authorId"], &event["projectId"]), (&world.lead["agent"]["id"], &json!(world.shop)));
        let ada = world.ada.seeing(&published);
        let shown = ada.get(&format!("/api/event.get?id={}", published.id_of("event"))).await.ok();
        assert_eq!(shown.body["event"], *event, "the read model says the same");
        let listed = ada.get(&format!("/api/event.list?type={kind}")).await.ok();
        assert_eq!(listed.body["events"], json!([event]));
    }
}

async fn every_bad_field_of_a_content_is_named(bench: Bench) {
    let world = World::new(bench).await;
    let (lead, session) = world.at_work(&world.lead).await;
    let refused = async |kind: &str, content: Value| {
        let body = json!({ "sessionId": session, "type": kind, "content": content });
        lead.post("/api/event.publish", &body).await.refused(400, "VALIDATION_ERROR").bad_fields()
    };
    let bad =
        json!({ "title": 1, "context": { "lineNumber": "7", "where": 1 }, "severity": "awful", "category": "bug" });
    assert_eq!(
        refused("problem_report", bad).await,
        [
            "content.context.lineNumber",
            "content.context.where",
            "content.description",
            "content.severity",
            "content.title"
        ]
    );
    let bad = json!({ "topic": "x", "advice": "x", "confidence": 1.5, "relatedTask": "x", "context": [] });
    assert_eq!(refused("advice_given", bad).await, ["content.confidence", "content.context", "content.relatedTask"]);
    let bad = json!({ "question": "x", "context": { "whatIVeTried": null }, "urgency": "x" });
    assert_eq!(refused("question_asked", bad).await, ["content.context.whatIVeTried", "content.urgency"]);
    let bad = json!({ "pullRequestId": 7, "githubPullRequestUrl": "no url", "requestedBy": { "agentId": "x" } });
    let named = refused("review_requested", bad).await;
    for field in ["pullRequestId", "githubPullRequestUrl", "requestedBy.agentId", "requestedBy.agentName", "title"] {
        assert!(named.contains(&format!("content.{field}")), "{field} in {named:?}");
    }
    let bad = json!({ "pullRequestId": Uuid::now_v7(), "decision": "maybe", "reviewedAt": "today" });
    assert_eq!(refused("review_response", bad).await, ["content.decision", "content.reviewedAt", "content.reviewer"]);
    assert_eq!(refused("session_log", json!({})).await, ["type"]);
    let both = json!({ "sessionId": "x", "type": "question_asked", "content": { "question": 1 }, "mentions": [1] });
    let named = lead.post("/api/event.publish", &both).await.refused(400, "VALIDATION_ERROR").bad_fields();
    assert_eq!(named, ["content.context", "content.question", "content.urgency", "mentions.0", "sessionId"]);
}

async fn mentions_are_agents_of_the_workspace(bench: Bench) {
    let world = World::new(bench).await;
    let (dev, session) = world.at_work(&world.dev).await;
    let bob = world.server.owner("bob").await;
    let elsewhere = bob.workspace("elsewhere").await;
    let spy = bob.new_agent(&elsewhere, None, "spy").await;
    let workspace = world.lead["agent"]["workspaceId"].as_str().unwrap();
    let gone = world.ada.new_agent(workspace, None, "gone").await;
    world.ada.delete(&format!("/api/agent.delete?id={}", gone["agent"]["id"].as_str().unwrap())).await.ok();
    let (_, content) = &contents(&world.dev)[2];
    let head = world.server.head().await;
    for unknown in [spy["agent"]["id"].clone(), gone["agent"]["id"].clone(), json!(Uuid::now_v7())] {
        let mentions = [world.lead["agent"]["id"].clone(), unknown];
        let body = json!({ "sessionId": session, "type": "question_asked", "content": content, "mentions": mentions });
        let refused = dev.post("/api/event.publish", &body).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["mentions"]);
    }
    assert_eq!(world.server.head().await, head);
}

async fn problems_and_questions_reach_the_supervisor(bench: Bench) {
    let world = World::new(bench).await;
    let lead = &world.lead["agent"]["id"];
    let update = json!({ "id": world.dev["agent"]["id"], "supervisorAgentId": lead });
    world.ada.put("/api/agent.update", &update).await.ok();
    let (dev, session) = world.at_work(&world.dev).await;
    for (kind, content) in contents(&world.dev).into_iter().filter(|it| it.0 != "advice_given") {
        let body = json!({ "sessionId": session, "type": kind, "content": content });
        let mentions = dev.post("/api/event.publish", &body).await.ok().body["event"]["mentions"].clone();
        let heard = kind == "problem_report" || kind == "question_asked";
        assert_eq!(mentions, if heard { json!([lead]) } else { json!([]) }, "{kind}");
    }
}

async fn only_organization_agents_give_advice(bench: Bench) {
    let world = World::new(bench).await;
    let (dev, session) = world.at_work(&world.dev).await;
    let (kind, content) = &contents(&world.dev)[1];
    let body = json!({ "sessionId": session, "type": kind, "content": content });
    dev.post("/api/event.publish", &body).await.refused(403, "AGENT_NOT_ORGANIZATION_LEVEL");
}

async fn an_agent_speaks_for_itself_and_under_its_own_name(bench: Bench) {
    let world = World::new(bench).await;
    let (dev, session) = world.at_work(&world.dev).await;
    for (at, field) in [(3, "requestedBy"), (4, "reviewer")] {
        let (kind, mut content) = contents(&world.dev)[at].clone();
        content[field]["agentName"] = "Somebody Else".into();
        let body = json!({ "sessionId": session, "type": kind, "content": content });
        let published = dev.post("/api/event.publish", &body).await.ok();
        assert_eq!(published.body["event"]["content"][field]["agentName"], world.dev["agent"]["name"]);
        content[field]["agentId"] = world.lead["agent"]["id"].clone();
        let body = json!({ "sessionId": session, "type": kind, "content": content });
        let refused = dev.post("/api/event.publish", &body).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.bad_fields(), ["content"]);
    }
}
