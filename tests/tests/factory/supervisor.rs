//! A dead supervisor: the cascade, row by row of the table.

use commands::factory::{AppointWorker, RequestChanges, Verdict};
use domain::AgentId;
use domain::errand::{ErrandError, WorkResult};
use domain::post::{PostError, PostState, Profiles};
use domain::task::TaskState;
use muster_tests::both_stores;
use muster_tests::stores::Bench;

use crate::floor::{Floor, merged, refused};
use crate::health::{check, dead};

both_stores! {
    the_cascade_follows_the_table_row_by_row,
    a_successor_reviews_what_waited_for_review,
    an_orchestrator_that_is_dead_has_a_successor,
    a_silent_supervisor_is_replaced_by_checks_alone,
}

async fn the_cascade_follows_the_table_row_by_row(bench: Bench) {
    let mut floor = Floor::open(bench).await;
    // COMPLETED, and with it NEEDS_REBASE.
    let ((completed, _), (needs_rebase, rebasing)) = (floor.submitted("Done").await, floor.submitted("Rebase").await);
    floor.merges(completed).await;
    // FAILED: its worker died five times.
    let (failed, mut worker) = floor.begun("Lost").await;
    while let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() {
        worker = successor;
    }
    let (approved, approved_by) = floor.submitted("Approved").await;
    let merge = floor.approve(approved).await.unwrap();
    let (pending_review, reviewed) = floor.submitted("Review").await;
    let (in_progress, at_work) = floor.begun("Work").await;
    let Verdict::Recovered { successor: at_work } = floor.system(&dead(at_work)).await.unwrap() else {
        panic!("no successor")
    };
    let pending = floor.task("Later").await;
    let waiting = floor.worker(pending).await.agent_id;

    let old = floor.supervisor;
    let Verdict::Recovered { successor } = floor.system(&dead(old)).await.unwrap() else { panic!("no successor") };
    for (task, state) in [
        (completed, TaskState::Completed),
        (pending_review, TaskState::PendingReview),
        (in_progress, TaskState::Pending),
        (needs_rebase, TaskState::Pending),
        (approved, TaskState::Pending),
        (failed, TaskState::Failed),
        (pending, TaskState::Pending),
    ] {
        assert_eq!(floor.state(task).await, state, "{task}");
    }
    // Attempts begin anew for what was reset.
    assert_eq!(floor.live_task(in_progress).await.in_epic().unwrap().attempts, 0);
    assert_eq!(floor.queue().await, [pending_review]);
    for gone in [rebasing, approved_by, reviewed, at_work, waiting, old] {
        assert_eq!(floor.post(gone).await.state, PostState::Failed, "{gone}");
    }
    assert_eq!(floor.live_epic().await.supervisor_id, Some(successor));
    assert_eq!(floor.post(successor).await.mission, floor.post(old).await.mission);
    assert_eq!(floor.mails().await.last().unwrap(), "Supervisor crashed and recovered for epic: Shopping");
    // What was being merged was not merged: it must be reviewed again.
    assert_eq!(floor.finish(merge, merged()).await, Err(refused(ErrandError::Cancelled)));
    let fenced = RequestChanges { by: old, task_id: pending_review, feedback: "No".to_owned() };
    let relieved = refused(PostError::Relieved { successor: Some(successor) });
    assert_eq!(floor.agent(old, &fenced).await, Err(relieved));
    // Workers are created for all that is pending.
    floor.supervisor = successor;
    for task_id in [in_progress, needs_rebase, approved, pending] {
        assert_eq!(floor.live_task(task_id).await.assigned_agent_id, None);
        floor.system(&AppointWorker { task_id, profiles: Profiles::default() }).await.unwrap();
    }
}

async fn a_successor_reviews_what_waited_for_review(bench: Bench) {
    let mut floor = Floor::open(bench).await;
    let ((one, _), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let verdict = floor.system(&dead(floor.supervisor)).await.unwrap();
    let Verdict::Recovered { successor } = verdict else { panic!("{verdict:?}") };
    floor.supervisor = successor;
    floor.merges(one).await;
    let worker: AgentId = floor.live_task(two).await.assigned_agent_id.unwrap();
    assert_eq!(
        (floor.state(two).await, floor.post(worker).await.state),
        (TaskState::NeedsRebase, PostState::InProgress)
    );
    let errand = floor.rebase(worker).await.unwrap();
    floor.finish(errand, WorkResult::Rebased { pr_url: None, head: None }).await.unwrap();
    floor.merges(two).await;
    assert_eq!(floor.live_epic().await.merged, 2);
}

async fn an_orchestrator_that_is_dead_has_a_successor(bench: Bench) {
    let floor = Floor::open(bench).await;
    let old = floor.orchestrator().await;
    let Verdict::Recovered { successor } = floor.system(&dead(old)).await.unwrap() else { panic!("no successor") };
    assert_eq!(floor.orchestrator().await, successor);
    assert_eq!(floor.mails().await.last().unwrap(), "ORCHESTRATOR crashed and recovered");
}

async fn a_silent_supervisor_is_replaced_by_checks_alone(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, worker) = floor.begun("One").await;
    floor.started(floor.supervisor).await;
    assert_eq!(floor.system_at(3, &check(floor.supervisor)).await, Ok(Verdict::Asked));
    let verdict = floor.system_at(5, &check(floor.supervisor)).await.unwrap();
    assert!(matches!(verdict, Verdict::Recovered { .. }), "{verdict:?}");
    assert_eq!((floor.state(task).await, floor.post(worker).await.state), (TaskState::Pending, PostState::Failed));
}
