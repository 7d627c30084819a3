//! What Muster decides on the floor is on record in the same commit, as the decision of whoever looks after the agent.

use commands::factory::{CheckHealth, FailEpic, FailErrand, Verdict};
use domain::{AgentId, Party};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::floor::{Floor, at};
use crate::health::{check, dead};

both_stores! {
    an_agent_that_comes_and_one_that_goes_are_on_record,
    what_a_look_at_an_agent_leads_to_is_on_record,
    a_crash_is_on_record_with_whoever_looks_after_the_dead,
    the_cascade_is_on_record_row_by_row,
    a_merge_says_whom_it_asks_for_a_rebase,
    an_errand_that_is_given_up_is_on_record,
    an_epic_that_is_given_up_says_what_falls_with_it,
}

/// The bodies of what was put on record under a title.
async fn told(floor: &Floor, title: &str) -> Vec<(Option<AgentId>, Value)> {
    let all = floor.decisions().await.into_iter();
    all.filter(|it| it.1 == title).map(|(agent, _, body)| (agent, body)).collect()
}

async fn an_agent_that_comes_and_one_that_goes_are_on_record(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    let (task, worker) = floor.submitted("One").await;
    let created = told(&floor, "agent_created").await;
    let whose: Vec<_> = created.iter().map(|(agent, body)| (agent.unwrap(), body["type"].as_str().unwrap())).collect();
    // The supervisor came before there was an orchestrator.
    let wanted = [(floor.supervisor, "SUPERVISOR"), (orchestrator, "ORCHESTRATOR"), (floor.supervisor, "WORKER")];
    assert_eq!(whose, wanted);
    let body = &created[2].1;
    assert_eq!((&body["agentId"], &body["taskId"], &body["attempt"]), (&json!(worker), &json!(task), &json!(1)));
    floor.merges(task).await;
    let gone = json!({ "result": "success", "workerId": worker });
    assert_eq!(told(&floor, "agent_discharged").await, [(Some(floor.supervisor), gone)]);
}

async fn what_a_look_at_an_agent_leads_to_is_on_record(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    floor.started(worker).await;
    let busy = |minute| CheckHealth { process_alive: Some(true), last_output_at: Some(at(minute)), ..check(worker) };
    floor.system_at(3, &busy(3)).await.unwrap();
    floor.system_at(5, &busy(5)).await.unwrap();
    floor.system_at(7, &busy(7)).await.unwrap();
    floor.system_at(9, &check(worker)).await.unwrap();
    let titles = floor.titles_of(floor.supervisor).await;
    let looks: Vec<_> = titles.iter().filter(|it| !it.starts_with("agent_created")).collect();
    let wanted =
        ["health_check_sent", "agent_reported_silent", "agent_declared_dead", "agent_killed", "worker_crash_detected"];
    assert_eq!(looks, wanted);
    let (_, verdict) = told(&floor, "agent_declared_dead").await.remove(0);
    assert_eq!((&verdict["workerId"], &verdict["minutesSinceHeartbeat"]), (&json!(worker), &json!(9)));
    assert_eq!(verdict["evidence"]["checks_missed"], 4);
}

async fn a_crash_is_on_record_with_whoever_looks_after_the_dead(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    let (_, worker) = floor.begun("One").await;
    floor.system_at(5, &dead(worker)).await.unwrap();
    let (whose, body) = told(&floor, "worker_crash_detected").await.remove(0);
    assert_eq!((whose, &body["workerId"], &body["attempts"]), (Some(floor.supervisor), &json!(worker), &json!(1)));
    floor.system_at(5, &dead(floor.supervisor)).await.unwrap();
    let (whose, body) = told(&floor, "supervisor_crash_detected").await.remove(0);
    assert_eq!((whose, &body["supervisorId"]), (Some(orchestrator), &json!(floor.supervisor)));
    assert_eq!((&body["minutesSinceHeartbeat"], &body["action"]), (&json!(5), &json!("cascading_worker_reset")));
    floor.system_at(5, &dead(orchestrator)).await.unwrap();
    assert_eq!(told(&floor, "orchestrator_crash_detected").await.remove(0).0, Some(orchestrator));
}

async fn the_cascade_is_on_record_row_by_row(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (reviewed, _) = floor.submitted("Review").await;
    let (at_work, worker) = floor.begun("Work").await;
    let pending = floor.task("Later").await;
    let Verdict::Recovered { successor } = floor.system(&dead(floor.supervisor)).await.unwrap() else {
        panic!("no successor")
    };
    let handed = told(&floor, "task_handed_over").await;
    assert_eq!(handed.len(), 1);
    assert_eq!((handed[0].0, &handed[0].1["taskId"]), (Some(successor), &json!(reviewed)));
    let reset = told(&floor, "task_reset").await;
    let rows: Vec<_> =
        reset.iter().map(|(_, it)| (it["taskId"].clone(), it["from"].clone(), it["to"].clone())).collect();
    let wanted = [(at_work, "IN_PROGRESS", "PENDING"), (pending, "PENDING", "PENDING")];
    assert_eq!(rows, wanted.map(|(task, from, to)| (json!(task), json!(from), json!(to))));
    let killed = told(&floor, "agent_killed").await;
    assert!(
        killed.iter().any(|(whose, it)| *whose == Some(successor) && it["workerId"] == json!(worker)),
        "{killed:?}"
    );
}

async fn a_merge_says_whom_it_asks_for_a_rebase(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, _), (three, _)) =
        (floor.submitted("One").await, floor.submitted("Two").await, floor.submitted("Three").await);
    floor.merges(one).await;
    let body = json!({ "mergedTaskId": one, "taskIds": [two, three], "to": "NEEDS_REBASE" });
    assert_eq!(told(&floor, "rebase_required").await, [(Some(floor.supervisor), body)]);
}

async fn an_errand_that_is_given_up_is_on_record(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, _) = floor.submitted("One").await;
    let launch = floor.worker(floor.task("Two").await).await.launch.unwrap();
    let merge = floor.approve(task).await.unwrap();
    for errand_id in [launch, merge] {
        let (error, details) = ("no disk left".to_owned(), None);
        floor.system(&FailErrand { errand_id, error, details }).await.unwrap();
    }
    let failed = told(&floor, "errand_failed").await;
    assert!(failed.iter().all(|(whose, it)| *whose == Some(floor.supervisor) && it["error"] == "no disk left"));
    let kinds: Vec<_> = failed.iter().map(|(_, it)| it["work"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["launch", "merge"]);
}

async fn an_epic_that_is_given_up_says_what_falls_with_it(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, _) = floor.begun("One").await;
    let two = floor.task("Two").await;
    let (by, reason) = (Party::User(floor.fleet.owner), "No shop".to_owned());
    floor.human(&FailEpic { by, epic_id: floor.epic, reason }).await.unwrap();
    let body = json!({ "epicId": floor.epic, "reason": "No shop", "taskIds": [one, two], "to": "FAILED" });
    assert_eq!(told(&floor, "epic_given_up").await, [(Some(floor.supervisor), body)]);
}
