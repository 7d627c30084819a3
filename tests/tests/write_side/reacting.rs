//! Reactors: every event gets its reactions once, whatever crashes and however many nodes there are.

use std::sync::Arc;
use std::time::Duration;

use domain::AgentId;
use domain::agent::AgentEvent;
use muster_tests::both_stores;
use muster_tests::fleet::Fleet;
use muster_tests::stores::Bench;
use projections::Engine;
use reactors::Runner;
use store::StoredEvent;

const PATIENCE: Duration = Duration::from_secs(20);
const REACTOR: &str = "free_reports_on_agent_deleted";

both_stores! {
    those_who_reported_to_a_deleted_agent_report_to_nobody,
    a_reaction_names_its_cause,
    a_second_delivery_does_nothing_twice,
    two_nodes_react_once,
}

async fn those_who_reported_to_a_deleted_agent_report_to_nobody(bench: Bench) {
    let (fleet, reports, deleted_at) = deleted_lead(&bench).await;
    let (engine, runner) = start(&bench, &fleet);
    assert!(runner.wait_for(REACTOR, deleted_at, PATIENCE).await, "{:?}", runner.status());
    let freed: Vec<AgentId> = losses(&bench).await.iter().map(agent).collect();
    assert_eq!(freed, reports);
    stop(engine, runner).await;
}

async fn a_reaction_names_its_cause(bench: Bench) {
    let (fleet, _, deleted_at) = deleted_lead(&bench).await;
    let (engine, runner) = start(&bench, &fleet);
    assert!(runner.wait_for(REACTOR, deleted_at, PATIENCE).await);
    let cause = &bench.everything().await[deleted_at as usize - 1];
    let cause_metadata: serde_json::Value = serde_json::from_str(&cause.metadata).unwrap();
    for loss in losses(&bench).await {
        let metadata: serde_json::Value = serde_json::from_str(&loss.metadata).unwrap();
        assert_eq!(metadata["actor_type"], "system");
        assert_eq!(metadata["actor_id"], REACTOR);
        assert_eq!(metadata["causation_id"], cause.event_id.to_string());
        assert_eq!(metadata["correlation_id"], cause_metadata["correlation_id"]);
    }
    stop(engine, runner).await;
}

async fn a_second_delivery_does_nothing_twice(bench: Bench) {
    let (fleet, reports, deleted_at) = deleted_lead(&bench).await;
    for _ in 0..2 {
        let (engine, runner) = start(&bench, &fleet);
        assert!(runner.wait_for(REACTOR, deleted_at, PATIENCE).await);
        stop(engine, runner).await;
        // As after a crash between the reaction and the note of it.
        bench.run_raw("delete from reactor_checkpoints").await.unwrap();
    }
    assert_eq!(losses(&bench).await.len(), reports.len());
}

async fn two_nodes_react_once(bench: Bench) {
    let (fleet, reports, deleted_at) = deleted_lead(&bench).await;
    let there = fleet.elsewhere(bench.log());
    let (one, two) = (start(&bench, &fleet), start(&bench, &there));
    assert!(one.1.wait_for(REACTOR, deleted_at, PATIENCE).await);
    assert!(two.1.wait_for(REACTOR, deleted_at, PATIENCE).await);
    assert_eq!(losses(&bench).await.len(), reports.len());
    stop(one.0, one.1).await;
    stop(two.0, two.1).await;
}

/// A lead with three reports is deleted; one of them has found another lead before.
async fn deleted_lead(bench: &Bench) -> (Fleet, Vec<AgentId>, i64) {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let lead = fleet.agent(acme, None, "lead", None).await.unwrap();
    let mut reports = vec![];
    for code in ["one", "two", "three"] {
        reports.push(fleet.agent(acme, None, code, Some(lead)).await.unwrap());
    }
    fleet.agent(acme, None, "alone", None).await.unwrap();
    let deleted_at = fleet.dismiss(lead).await.unwrap();
    (fleet, reports, deleted_at)
}

fn start(bench: &Bench, fleet: &Fleet) -> (Arc<Engine>, Runner) {
    let views = bench.stores().views.clone();
    let engine = Engine::start(bench.log(), views.clone(), projections::all(), Default::default());
    let engine = Arc::new(engine);
    let runner = Runner::start(reactors::all(), fleet.executor.clone(), views, engine.clone());
    (engine, runner)
}

async fn stop(engine: Arc<Engine>, runner: Runner) {
    runner.shutdown().await;
    engine.shutdown().await;
}

async fn losses(bench: &Bench) -> Vec<StoredEvent> {
    let mut events = bench.everything().await;
    events.retain(|event| event.event_type == "AgentSupervisorLost");
    events
}

fn agent(event: &StoredEvent) -> AgentId {
    let decoded: AgentEvent = domain::decode(&event.event_type, &event.event_version, &event.payload).unwrap();
    assert!(matches!(decoded, AgentEvent::AgentSupervisorLost { .. }));
    AgentId(event.stream.aggregate_id.parse().unwrap())
}
