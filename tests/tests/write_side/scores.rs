//! Scores follow from what happened: every event that counts is answered once, and the numbers are the document's.

#[path = "../../../domain/tests/typescript/mod.rs"]
mod typescript;

mod history;
mod story;

use domain::ReviewDecision;
use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::{SCORECARD, score_facts};
use store::StoreError;

use story::{JUDGE, Place, days, minutes};

both_stores! {
    a_task_assigned_is_measured_once,
    a_task_completed_is_measured_once,
    a_merged_pull_request_is_measured_once,
    a_stopped_session_is_measured_once,
    a_short_session_without_tasks_is_not_measured,
    whoever_is_measured_is_judged_once,
    two_nodes_measure_and_judge_once,
    a_calculation_that_was_outrun_counts_again,
    a_record_counts_the_facts_up_to_its_event,
    a_change_of_status_reaches_the_agents_key_in_the_same_commit,
    who_is_gone_is_not_measured,
    who_is_set_aside_is_measured_and_stays_so,
}

const ASSIGNED: &str = "recalculate_kpis_on_task_assigned";
const COMPLETED: &str = "recalculate_kpis_on_task_completed";
const MERGED: &str = "recalculate_kpis_on_pull_request_merged";
const STOPPED: &str = "recalculate_kpis_on_session_stopped";

async fn a_task_assigned_is_measured_once(bench: Bench) {
    let place = Place::new(bench).await;
    place.work.task(None).await;
    let reasons = place.reasons_after_crashes(ASSIGNED).await;
    assert_eq!(reasons, ["Task assigned"]);
}

async fn a_task_completed_is_measured_once(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.work.task(None).await;
    place.work.complete(task).await;
    let reasons = place.reasons_after_crashes(COMPLETED).await;
    assert_eq!(reasons.iter().filter(|it| *it == "Task completed").count(), 1);
}

async fn a_merged_pull_request_is_measured_once(bench: Bench) {
    let place = Place::new(bench).await;
    place.work.opens(1, None, 10, &[]).await;
    place.work.merges(1, 10, "abc").await;
    assert_eq!(place.reasons_after_crashes(MERGED).await, ["Pull request merged"]);
}

async fn a_stopped_session_is_measured_once(bench: Bench) {
    let place = Place::new(bench).await;
    let session = place.work.starts_session().await;
    place.work.pass(minutes(6));
    place.work.stops_session(session, vec![]).await;
    assert_eq!(place.reasons_after_crashes(STOPPED).await, ["Session stopped"]);
}

async fn a_short_session_without_tasks_is_not_measured(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.work.task(None).await;
    for (minutes_long, tasks, expected) in [(5, vec![], 0), (1, vec![task], 1), (6, vec![], 2)] {
        let session = place.work.starts_session().await;
        place.work.pass(minutes(minutes_long));
        place.work.stops_session(session, tasks).await;
        let reasons = place.reasons_after_crashes(STOPPED).await;
        assert_eq!(reasons.iter().filter(|it| *it == "Session stopped").count(), expected);
    }
}

async fn whoever_is_measured_is_judged_once(bench: Bench) {
    let place = Place::new(bench).await;
    place.work.task(None).await;
    place.reasons_after_crashes(ASSIGNED).await;
    place.reasons_after_crashes(JUDGE).await;
    let changes = place.scorecard().await.into_iter().filter_map(|event| match event {
        ScorecardEvent::TrustScoreChanged { previous, new, .. } => Some((previous, new)),
        ScorecardEvent::KpiRecalculated { .. } => None,
    });
    // 20 for quality, 30 for completion, 20 for no bugs, 10 for no failures.
    assert_eq!(changes.collect::<Vec<_>>(), [(50.0, 80.0)]);
}

async fn two_nodes_measure_and_judge_once(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.work.task(None).await;
    place.work.complete(task).await;
    let (one, two) = (place.start(), place.start_elsewhere());
    place.settled(&one.1).await;
    place.settled(&two.1).await;
    let events = place.scorecard().await;
    let kpis = events.iter().filter(|it| matches!(it, ScorecardEvent::KpiRecalculated { .. })).count();
    assert_eq!(kpis, 2, "one for the assignment, one for the completion: {events:#?}");
    place.stop(one).await;
    place.stop(two).await;
}

async fn a_calculation_that_was_outrun_counts_again(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.work.task(None).await;
    let completed_at = place.work.complete(task).await;
    // Only the later event is answered at first, as by a reactor that is faster than the others.
    let (engine, runner) = place.start_only(COMPLETED);
    assert!(runner.wait_for(COMPLETED, completed_at, story::PATIENCE).await);
    place.stop((engine, runner)).await;
    let all = place.start();
    place.settled(&all.1).await;
    let positions: Vec<(String, i64)> = place.kpis().await.into_iter().map(|it| (it.reason, it.position)).collect();
    assert_eq!(positions.len(), 2);
    assert_eq!(positions[0], ("Task completed".to_owned(), completed_at));
    assert!(positions[1].0 == "Task assigned" && positions[1].1 >= completed_at, "{positions:?}");
    place.stop(all).await;
}

async fn a_record_counts_the_facts_up_to_its_event(bench: Bench) {
    let place = Place::new(bench).await;
    let first = place.work.task(None).await;
    let at = place.work.complete(first).await;
    let second = place.work.task(None).await;
    place.work.complete(second).await;
    let (engine, runner) = place.start_only(COMPLETED);
    assert!(runner.wait_for(COMPLETED, place.head().await, story::PATIENCE).await);
    let kpis = place.kpis().await;
    assert_eq!((kpis[0].position, kpis[0].inputs.completed_tasks), (at, 1));
    assert_eq!(kpis[1].inputs.completed_tasks, 2);
    // The same rows tell the facts of then and of now.
    let then = score_facts::load_as_of(place.views(), place.work.agent_id, at).await.unwrap();
    assert_eq!((then.0.tasks.len(), then.1), (1, at));
    let now: Result<_, StoreError> = score_facts::load(place.views(), place.work.agent_id).await;
    assert_eq!(now.unwrap().0.tasks.len(), 2);
    place.stop((engine, runner)).await;
}

async fn who_is_gone_is_not_measured(bench: Bench) {
    let place = Place::new(bench).await;
    place.work.opens(1, None, 1, &[]).await;
    place.fleet.dismiss(place.work.agent_id).await.unwrap();
    place.work.merges(1, 1, "abc").await;
    assert_eq!(place.reasons_after_crashes(MERGED).await, Vec::<String>::new());
}

async fn who_is_set_aside_is_measured_and_stays_so(bench: Bench) {
    let place = Place::new(bench).await;
    let running = place.start();
    for number in 1..=7 {
        place.work.opens(number, None, 1, &[]).await;
        place.work.reviews(number, number, ReviewDecision::RequestChanges).await;
    }
    place.fleet.set_status(place.work.agent_id, AgentStatus::Inactive).await.unwrap();
    place.work.merges(7, 1, "abc").await;
    place.settled(&running.1).await;
    // Quality is 50 - 7 x 5 = 15, which would put an active agent on probation: 6 + 30 + 20 + 10.
    assert_eq!(place.standing(&running.0).await, (66.0, AgentStatus::Inactive));
    place.stop(running).await;
}

async fn a_change_of_status_reaches_the_agents_key_in_the_same_commit(bench: Bench) {
    let place = Place::new(bench).await;
    let running = place.start();
    for number in 1..=3 {
        place.work.opens(number, None, 1, &[]).await;
        place.work.pass(minutes(1));
        place.work.rejects(number).await;
    }
    place.work.pass(days(1));
    place.work.task(None).await;
    place.settled(&running.1).await;
    let events = place.bench.everything().await;
    let at = events.iter().position(|it| it.event_type == "AgentStatusChanged").expect("the agent's status changed");
    assert_eq!(events[at - 1].event_type, "TrustScoreChanged");
    assert_eq!(events[at - 1].stream.aggregate_type, SCORECARD);
    assert_eq!(events[at - 1].recorded_at, events[at].recorded_at);
    let credential = place.bench.log().accounts().credential(place.work.agent_id.0).await;
    assert_eq!(credential.unwrap().expect("the agent has a key").standing, "probation");
    place.stop(running).await;
}
