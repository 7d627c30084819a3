//! Many epics at once, with stand-ins for agents and bench: all of them end, and every task was done once.

use std::collections::BTreeMap;

use muster_tests::both_stores;
use muster_tests::fleet::Fleet;
use muster_tests::standins::Factory;
use muster_tests::stores::Bench;

both_stores!(epics_side_by_side_all_end_and_every_task_is_merged_once);

const EPICS: usize = 4;
const WORKERS: usize = 5;

async fn epics_side_by_side_all_end_and_every_task_is_merged_once(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let factory = Factory::new(&fleet, "acme").await.unwrap();
    let ran = factory.run(EPICS, WORKERS).await.unwrap();
    assert_eq!(ran.tasks, EPICS * WORKERS);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in bench.everything().await {
        *counts.entry(event.event_type).or_default() += 1;
    }
    let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
    assert_eq!((count("TaskCompleted"), count("TaskFailed")), (EPICS * WORKERS, 0), "{counts:?}");
    assert_eq!((count("EpicCreated"), count("EpicCompleted")), (EPICS, EPICS));
    assert_eq!(count("ToolCalled"), count("ToolSucceeded"));
    assert_eq!(count("AgentPosted"), count("AgentDischarged"), "everybody went home");
    bench.log().verify(|_| {}).await.unwrap();
}
