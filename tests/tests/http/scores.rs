//! Scores over HTTP: KPIs, trust, their history, and explanations whose arithmetic adds up.

use std::time::Duration;

use domain::{AgentId, ProjectId, ReviewDecision, UserId, WorkspaceId};
use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use muster_tests::work::Work;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    the_newest_kpis_come_with_their_agent_and_the_ten_last,
    an_agent_without_kpis_has_none_to_show,
    an_owner_has_kpis_calculated_anew,
    a_repeated_recalculation_is_answered_and_not_run,
    every_metric_is_explained_by_the_events_that_count,
    a_record_of_then_is_explained_by_the_facts_of_then,
    the_parts_of_trust_add_up_to_the_score,
    history_is_paged_and_limited_to_a_stretch_of_time,
    an_agent_shows_its_trust_and_its_last_ten_kpis,
    a_repeat_shows_the_trust_of_then,
    another_agents_record_is_not_found,
    the_guides_example_is_what_the_server_says,
);

const PATIENCE: Duration = Duration::from_secs(20);

struct World {
    server: Server,
    ada: Client,
    agent: String,
    work: Work,
}

impl World {
    async fn new(bench: Bench) -> Self {
        let server = Server::start(bench).await;
        let ada = server.owner("ada").await;
        let workspace = ada.workspace("acme").await;
        let project = ada.project(&workspace, "shop").await;
        let agent = ada.new_agent(&workspace, Some(&project), "dev").await["agent"]["id"].as_str().unwrap().to_owned();
        let shown = ada.get(&format!("/api/workspace.get?id={workspace}")).await.ok();
        let work = Work {
            executor: server.executor.clone(),
            clock: server.bench.clock.clone(),
            owner: UserId(uuid(&shown.body["workspace"]["ownerId"])),
            workspace_id: WorkspaceId(workspace.parse().unwrap()),
            project_id: ProjectId(project.parse().unwrap()),
            agent_id: AgentId(agent.parse().unwrap()),
        };
        Self { server, ada, agent, work }
    }

    /// Waits until everything that follows has followed, and is shown.
    async fn settled(&self) {
        let mut done = 0;
        while done < self.server.head().await {
            done = self.server.head().await;
            for reactor in self.server.reactors.status() {
                assert!(self.server.reactors.wait_for(reactor.name, done, PATIENCE).await);
            }
        }
    }

    /// What a query about the agent answers, once everything is shown.
    async fn ask(&self, route: &str, more: &str) -> Value {
        self.settled().await;
        let ada = self.ada.with("X-Min-Position", &self.server.head().await.to_string());
        ada.get(&format!("/api/{route}?agentId={}{more}", self.agent)).await.ok().body
    }

    async fn recalculate(&self) -> Value {
        self.settled().await;
        self.ada.post("/api/kpi.recalculate", &json!({ "agentId": self.agent })).await.ok().body
    }

    /// A task that took 25 minutes, a pull request that was approved at once, and one that was sent back.
    async fn works(&self) {
        let task = self.work.task(Some(12)).await;
        // What follows from each step is to count that step and none after it.
        self.settled().await;
        self.work.start(task).await;
        self.work.pass(chrono::TimeDelta::minutes(25));
        self.work.complete(task).await;
        self.settled().await;
        self.work.opens(1, Some(task), 30, &[]).await;
        self.work.reviews(1, 10, ReviewDecision::Approve).await;
        self.work.opens(2, None, 12, &["Bug"]).await;
        self.work.reviews(2, 20, ReviewDecision::RequestChanges).await;
        self.work.lint_fails(2).await;
        self.work.pushes("abc").await;
        self.work.fails_to_deploy(5, 50, "abc").await;
    }
}

fn uuid(value: &Value) -> Uuid {
    value.as_str().unwrap().parse().unwrap()
}

async fn the_newest_kpis_come_with_their_agent_and_the_ten_last(bench: Bench) {
    let world = World::new(bench).await;
    for _ in 0..12 {
        world.recalculate().await;
    }
    let shown = world.ask("kpi.get", "").await;
    assert_eq!(shown["historicalKPIs"].as_array().unwrap().len(), 10);
    assert_eq!(shown["kpi"], shown["historicalKPIs"][0]);
    assert_eq!((&shown["agent"]["id"], &shown["kpi"]["agentId"]), (&json!(world.agent), &json!(world.agent)));
    let metrics = json!({ "tasksCompleted": 0, "codeQualityScore": 50.0, "positiveFeedbackCount": 0,
        "featureCompletionRate": 1.0, "bugsIntroduced": 0, "deploymentFailures": 0, "codeChurn": 0,
        "averageTaskDuration": 0 });
    assert_eq!(shown["kpi"]["metrics"], metrics);
    let trends = json!({ "tasksCompletedTrend": "stable", "codeQualityTrend": "stable", "overallTrend": "stable" });
    assert_eq!(shown["kpi"]["trendData"], trends);
    assert_eq!((&shown["kpi"]["formulaVersion"], &shown["kpi"]["reason"]), (&json!(1), &json!("Manual recalculation")));
    assert_eq!(shown["kpi"]["calculatedAt"], "2026-03-01T12:00:00Z");
}

async fn an_agent_without_kpis_has_none_to_show(bench: Bench) {
    let world = World::new(bench).await;
    for route in ["kpi.get", "kpi.explain", "trust.explain"] {
        let path = format!("/api/{route}?agentId={}", world.agent);
        world.ada.get(&path).await.refused(404, "KPI_NOT_FOUND");
    }
    for (route, list) in [("kpi.history", "kpis"), ("trust.history", "changes")] {
        let shown = world.ask(route, "").await;
        assert_eq!((&shown[list], &shown["total"], &shown["hasMore"]), (&json!([]), &json!(0), &json!(false)));
    }
    let nobody = Uuid::now_v7();
    for route in ["kpi.get", "kpi.explain", "trust.explain", "kpi.history", "trust.history"] {
        let path = format!("/api/{route}?agentId={nobody}");
        world.ada.get(&path).await.refused(404, "AGENT_NOT_FOUND");
    }
    let body = json!({ "agentId": nobody });
    world.ada.post("/api/kpi.recalculate", &body).await.refused(404, "AGENT_NOT_FOUND");
}

async fn an_owner_has_kpis_calculated_anew(bench: Bench) {
    let world = World::new(bench).await;
    let first = world.recalculate().await;
    assert_eq!((&first["previousKPIs"], &first["changeReason"]), (&Value::Null, &json!("Manual recalculation")));
    world.works().await;
    let second = world.recalculate().await;
    let before = world.ask("kpi.history", "&limit=2").await["kpis"].clone();
    assert_eq!((&second["newKPIs"], &second["previousKPIs"]), (&before[0], &before[1]));
    let metrics = &second["newKPIs"]["metrics"];
    // 50, and 10 for an approval at once, less 5 for a request for changes and 10 for a linter.
    assert_eq!((&metrics["codeQualityScore"], &metrics["averageTaskDuration"]), (&json!(45.0), &json!(25)));
    assert_eq!((&metrics["bugsIntroduced"], &metrics["deploymentFailures"]), (&json!(1), &json!(1)));
    assert_eq!((&metrics["codeChurn"], &metrics["tasksCompleted"]), (&json!(42), &json!(1)));
}

async fn a_repeated_recalculation_is_answered_and_not_run(bench: Bench) {
    let world = World::new(bench).await;
    let ada = world.ada.with("Idempotency-Key", "again");
    let body = json!({ "agentId": world.agent });
    let first = ada.post("/api/kpi.recalculate", &body).await.ok();
    world.recalculate().await;
    world.settled().await;
    let head = world.server.head().await;
    let again = ada.post("/api/kpi.recalculate", &body).await.ok();
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    assert_eq!(world.server.head().await, head);
}

async fn every_metric_is_explained_by_the_events_that_count(bench: Bench) {
    let world = World::new(bench).await;
    world.works().await;
    world.recalculate().await;
    let explained = world.ask("kpi.explain", "").await;
    assert_eq!(explained["recountsAlike"], true, "{explained:#}");
    let metrics = explained["metrics"].as_array().unwrap();
    assert_eq!(metrics.len(), 8);
    let events = world.server.bench.everything().await;
    let counted = |metric: &Value| -> Vec<String> {
        let positions = metric["positions"].as_array().unwrap();
        assert_eq!(metric["positionCount"], positions.len());
        positions.iter().map(|it| events[it.as_i64().unwrap() as usize - 1].event_type.clone()).collect()
    };
    for (metric, expected) in [
        ("tasksCompleted", vec!["TaskCompleted"]),
        ("codeQualityScore", vec!["PullRequestReviewed", "PullRequestReviewed", "PullRequestLintFailed"]),
        ("positiveFeedbackCount", vec!["PullRequestReviewed"]),
        ("featureCompletionRate", vec![]),
        ("bugsIntroduced", vec!["PullRequestOpened"]),
        ("deploymentFailures", vec!["DeploymentStatusReported"]),
        ("codeChurn", vec!["PullRequestOpened", "PullRequestOpened"]),
        ("averageTaskDuration", vec!["TaskStarted", "TaskCompleted"]),
    ] {
        let found = metrics.iter().find(|it| it["metric"] == metric).unwrap_or_else(|| panic!("no {metric}"));
        assert_eq!(found["value"].as_f64(), explained["kpi"]["metrics"][metric].as_f64(), "{metric}");
        assert_eq!(counted(found), expected, "{metric}");
        for (name, value) in found["inputs"].as_object().unwrap() {
            assert_eq!(*value, explained["kpi"]["inputs"][name], "{metric} {name}");
        }
    }
    let of = |metric: &str| metrics.iter().find(|it| it["metric"] == metric).unwrap();
    let n = |name: &str| of("codeQualityScore")["inputs"][name].as_f64().unwrap();
    let quality = 50.0 + 10.0 * n("approvedOnFirstReview") - 5.0 * n("changesRequested") - 10.0 * n("withLintErrors");
    assert_eq!(of("codeQualityScore")["value"], quality);
}

async fn a_record_of_then_is_explained_by_the_facts_of_then(bench: Bench) {
    let world = World::new(bench).await;
    world.works().await;
    let then = world.recalculate().await["newKPIs"]["id"].as_str().unwrap().to_owned();
    let explained = world.ask("kpi.explain", &format!("&kpiId={then}")).await;
    world.works_more().await;
    world.recalculate().await;
    let again = world.ask("kpi.explain", &format!("&kpiId={then}")).await;
    assert_eq!(again, explained);
    assert_eq!(again["recountsAlike"], true);
}

async fn the_parts_of_trust_add_up_to_the_score(bench: Bench) {
    let world = World::new(bench).await;
    world.works().await;
    for _ in 0..3 {
        world.work.pass(chrono::TimeDelta::days(2));
        world.works_more().await;
        world.recalculate().await;
        let explained = world.ask("trust.explain", "").await;
        let n = |part: &str, name: &str| explained[part][name].as_f64().unwrap();
        let base = n("base", "codeQuality")
            + n("base", "featureCompletionRate")
            + n("base", "bugsIntroduced")
            + n("base", "deploymentFailures");
        assert_eq!(n("base", "total"), base);
        let trend = n("trend", "overall") + n("trend", "codeQuality") + n("trend", "tasksCompleted");
        assert_eq!(n("trend", "total"), trend);
        let sum = base + trend + n("consistency", "bonus");
        assert_eq!(explained["sum"], sum);
        assert_eq!(explained["score"], (sum.clamp(0.0, 100.0) * 100.0).round() / 100.0);
        assert_eq!(explained["trustScore"], explained["score"]);
        let last = &explained["lastChange"];
        let impacts: f64 = last["factors"].as_array().unwrap().iter().map(|it| it["impact"].as_f64().unwrap()).sum();
        assert!((impacts - last["change"].as_f64().unwrap()).abs() < 0.05, "{last:#}");
        assert_eq!(explained["factors"], last["factors"]);
        assert_eq!(explained["arithmetic"].as_array().unwrap().len(), 8);
    }
}

async fn history_is_paged_and_limited_to_a_stretch_of_time(bench: Bench) {
    let world = World::new(bench).await;
    for number in 0..5 {
        world.work.opens(number, None, 1, &[]).await;
        world.work.reviews(number, number, ReviewDecision::RequestChanges).await;
        world.recalculate().await;
        world.work.pass(chrono::TimeDelta::hours(1));
    }
    let hours = |list: &Value, field: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it[field].as_str().unwrap()[11..13].to_owned()).collect()
    };
    for (route, list, field) in [("kpi.history", "kpis", "calculatedAt"), ("trust.history", "changes", "changedAt")] {
        let all = world.ask(route, "").await;
        assert_eq!(hours(&all[list], field), ["16", "15", "14", "13", "12"]);
        assert_eq!(
            (&all["total"], &all["hasMore"], &all["totalIsLowerBound"]),
            (&json!(5), &json!(false), &json!(false))
        );
        let page = world.ask(route, "&limit=2&offset=1").await;
        assert_eq!(
            (hours(&page[list], field), &page["hasMore"]),
            (vec!["15".to_owned(), "14".to_owned()], &json!(true))
        );
        let span = world.ask(route, "&from=2026-03-01T13:00:00Z&to=2026-03-01T15:00:00%2B00:00").await;
        assert_eq!((hours(&span[list], field).len(), &span["total"]), (3, &json!(3)));
        let path = format!("/api/{route}?agentId={}", world.agent);
        for (bad, fields) in [("&limit=101", ["limit"]), ("&from=yesterday", ["from"]), ("&offset=-1", ["offset"])] {
            let answer = world.ada.get(&format!("{path}{bad}")).await.refused(400, "VALIDATION_ERROR");
            assert_eq!(answer.bad_fields(), fields);
        }
    }
    let changes = world.ask("trust.history", "").await["changes"].clone();
    for pair in changes.as_array().unwrap().windows(2) {
        assert_eq!(pair[0]["previousTrustScore"], pair[1]["newTrustScore"]);
    }
}

async fn an_agent_shows_its_trust_and_its_last_ten_kpis(bench: Bench) {
    let world = World::new(bench).await;
    for _ in 0..11 {
        world.recalculate().await;
    }
    world.settled().await;
    let ada = world.ada.with("X-Min-Position", &world.server.head().await.to_string());
    let shown = ada.get(&format!("/api/agent.get?id={}", world.agent)).await.ok().body;
    // 80 for the KPIs of one who has done nothing, and 5 for being steady.
    assert_eq!((&shown["agent"]["trustScore"], &shown["agent"]["status"]), (&json!(85.0), &json!("active")));
    assert_eq!(shown["recentKPIs"].as_array().unwrap().len(), 10);
    assert_eq!(shown["recentKPIs"], world.ask("kpi.get", "").await["historicalKPIs"]);
}

async fn a_repeat_shows_the_trust_of_then(bench: Bench) {
    let world = World::new(bench).await;
    let rename = json!({ "id": world.agent, "name": "Dev Uno" });
    let before = world.ada.with("Idempotency-Key", "before");
    let first = before.put("/api/agent.update", &rename).await.ok();
    world.recalculate().await;
    world.settled().await;
    let after = world.ada.with("Idempotency-Key", "after");
    let second = after.put("/api/agent.update", &json!({ "id": world.agent, "name": "Dev Due" })).await.ok();
    world.recalculate().await;
    assert_eq!(before.put("/api/agent.update", &rename).await.ok().body, first.body);
    let rename = json!({ "id": world.agent, "name": "Dev Due" });
    assert_eq!(after.put("/api/agent.update", &rename).await.ok().body, second.body);
    assert_eq!(first.body["agent"]["trustScore"], 50.0);
    assert_eq!(second.body["agent"]["trustScore"], 80.0);
}

async fn another_agents_record_is_not_found(bench: Bench) {
    let world = World::new(bench).await;
    let kpi = world.recalculate().await["newKPIs"]["id"].as_str().unwrap().to_owned();
    let workspace = world.work.workspace_id.to_string();
    let other = world.ada.new_agent(&workspace, None, "lead").await["agent"]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/kpi.explain?agentId={other}&kpiId={kpi}");
    world.ada.get(&path).await.refused(404, "KPI_NOT_FOUND");
}

/// The worked example of docs/guides/scores.md.
async fn the_guides_example_is_what_the_server_says(bench: Bench) {
    let world = World::new(bench).await;
    world.recalculate().await;
    world.works().await;
    world.recalculate().await;
    let explained = world.ask("trust.explain", "").await;
    let guide = include_str!("../../../docs/guides/scores.md");
    for line in explained["arithmetic"].as_array().unwrap() {
        assert!(guide.contains(line.as_str().unwrap()), "docs/guides/scores.md should have {line}");
    }
    assert_eq!(explained["trustScore"], explained["score"]);
}

impl World {
    async fn works_more(&self) {
        let number = 100 + self.server.head().await;
        let task = self.work.task(None).await;
        self.work.complete(task).await;
        self.work.opens(number, Some(task), 5, &[]).await;
        self.work.reviews(number, number, ReviewDecision::Approve).await;
        self.work.labels(12, &["bug"]).await;
    }
}
