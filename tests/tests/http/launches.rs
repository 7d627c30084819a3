//! Launches over HTTP: people have an agent started after all, which its bench could not do.

use commands::Actor;
use commands::factory::{AddTask, AppointWorker, FailErrand, FinishErrand};
use commands::tool_call::CallTool;
use domain::errand::WorkResult;
use domain::post::Profiles;
use domain::{AgentId, ErrandId, TaskId, ToolCallId};
use muster_tests::both_served_stores;
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::epics::{Place, with_a_bench};

both_served_stores!(
    an_agent_whose_launch_failed_is_launched_again,
    a_repeated_request_orders_one_launch,
    who_started_itself_and_was_heard_of_is_not_started_beside_itself,
    a_launch_that_makes_no_sense_is_refused_by_name,
    a_launch_on_a_bench_that_is_not_on_this_node_is_ordered_with_a_warning,
    a_launch_on_the_bench_of_this_node_needs_no_warning,
);

impl Place {
    /// A worker whose launch failed.
    async fn unstarted(&self) -> AgentId {
        let supervisor = self.supervisor().await;
        let (title, description) = ("One".to_owned(), String::new());
        let add = AddTask { by: supervisor, task_id: TaskId(Uuid::now_v7()), title, description };
        let task_id = self.run(Actor::Agent(supervisor), &add).await;
        let worker = self.system(&AppointWorker { task_id, profiles: Profiles::default() }).await;
        let error = "no disk left".to_owned();
        self.system(&FailErrand { errand_id: worker.launch.unwrap(), error, details: None }).await;
        worker.agent_id
    }

    async fn launch_of(&self, agent: AgentId) -> Value {
        let health = self.seen(&format!("/api/agent.health?workspaceId={}", self.workspace)).await;
        let agents = health["agents"].as_array().unwrap();
        agents.iter().find(|it| it["agentId"] == json!(agent)).unwrap()["launch"].clone()
    }
}

async fn an_agent_whose_launch_failed_is_launched_again(bench: Bench) {
    let place = Place::new(bench).await;
    let worker = place.unstarted().await;
    assert_eq!(place.launch_of(worker).await, "failed");
    let inbox = place.seen(&format!("/api/mail.inbox?workspaceId={}", place.workspace)).await;
    let told = inbox["mail"][0]["body"].as_str().unwrap();
    assert!(told.contains(&worker.to_string()) && told.contains("agent.launch"), "{inbox}");
    let ordered = place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.ok().body;
    assert_eq!(ordered["agentId"], json!(worker));
    assert_eq!(place.launch_of(worker).await, "ordered");
    place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.refused(409, "ERRAND_UNDERWAY");
    let errand_id = ErrandId(ordered["errandId"].as_str().unwrap().parse().unwrap());
    place.system(&FinishErrand { errand_id, result: WorkResult::Launched { started: true } }).await;
    assert_eq!(place.launch_of(worker).await, "started");
    place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.refused(409, "AGENT_ALREADY_LAUNCHED");
    let entries = place.seen(&format!("/api/event.list?projectId={}&type=agent_launch_ordered", place.shop)).await;
    assert_eq!(entries["events"].as_array().unwrap().len(), 1, "{entries}");
}

async fn a_repeated_request_orders_one_launch(bench: Bench) {
    let place = Place::new(bench).await;
    let worker = place.unstarted().await;
    let ada = place.ada.with("Idempotency-Key", "again");
    let first = ada.post("/api/agent.launch", &json!({ "id": worker })).await.ok().body;
    let second = ada.post("/api/agent.launch", &json!({ "id": worker })).await.ok().body;
    assert_eq!(first, second);
}

async fn who_started_itself_and_was_heard_of_is_not_started_beside_itself(bench: Bench) {
    let place = Place::new(bench).await;
    let worker = place.unstarted().await;
    let (call_id, tool) = (ToolCallId(Uuid::now_v7()), "mcp__agent__get_status".to_owned());
    place.run(Actor::Agent(worker), &CallTool { call_id, by: worker, tool, input: json!({}) }).await;
    place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.refused(409, "AGENT_ALREADY_LAUNCHED");
}

async fn a_launch_that_makes_no_sense_is_refused_by_name(bench: Bench) {
    let place = Place::new(bench).await;
    let worker = place.unstarted().await;
    let bob = place.server.owner("bob").await;
    bob.post("/api/agent.launch", &json!({ "id": worker })).await.refused(403, "AGENT_ACCESS_DENIED");
    let launch = async |id: Value| place.ada.post("/api/agent.launch", &json!({ "id": id })).await;
    launch(json!(Uuid::now_v7())).await.refused(404, "AGENT_NOT_FOUND");
    let dev = place.ada.new_agent(&place.workspace, Some(&place.shop), "dev").await;
    launch(dev["agent"]["id"].clone()).await.refused(404, "AGENT_NOT_POSTED");
    place.ada.post("/api/epic.fail", &json!({ "id": place.epic, "reason": "Too large" })).await.ok();
    launch(json!(worker)).await.refused(403, "AGENT_RELIEVED");
}

async fn a_launch_on_a_bench_that_is_not_on_this_node_is_ordered_with_a_warning(bench: Bench) {
    let place = Place::new(bench).await;
    let worker = place.unstarted().await;
    let elsewhere = place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.ok().body;
    assert_eq!(elsewhere["warnings"][0]["code"], "BENCH_NOT_HERE", "{elsewhere}");
    assert!(elsewhere["warnings"][0]["message"].as_str().unwrap().contains("no bench main"), "{elsewhere}");
    assert_eq!(place.launch_of(worker).await, "ordered");
}

async fn a_launch_on_the_bench_of_this_node_needs_no_warning(bench: Bench) {
    let (place, _folder) = with_a_bench(bench).await;
    let worker = place.unstarted().await;
    let here = place.ada.post("/api/agent.launch", &json!({ "id": worker })).await.ok().body;
    assert!(here["errandId"].is_string() && here["warnings"].is_null(), "{here}");
}
