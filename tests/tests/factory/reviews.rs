//! Reviews: one at a time, in the order of submission, and a rebase for everybody else after each merge.

use commands::factory::{FailErrand, RequestChanges, UpdateTaskState};
use domain::epic::EpicError;
use domain::errand::{ErrandError, WorkResult};
use domain::post::PostState;
use domain::task::{CompletionCause, TaskError, TaskEvent, TaskState, TaskStatus};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use store::StreamId;

use crate::floor::{Floor, decoded, merged, refused, submit, url};

both_stores! {
    a_submitted_task_waits_in_the_order_of_submission_and_its_supervisor_is_told,
    only_the_first_in_the_queue_is_approved,
    a_merge_completes_its_task_and_sends_everybody_else_to_rebase,
    a_rebased_task_is_last_in_the_queue,
    a_rebase_that_conflicts_fails_its_task,
    a_merge_that_conflicts_sends_its_task_to_rebase,
    a_merge_that_fails_sends_its_task_back_to_the_head_of_the_queue,
    changes_are_requested_of_the_first_and_submitted_again_last,
    a_repeated_request_finds_the_errand_that_is_under_way,
    what_came_of_an_errand_counts_once,
    a_worker_may_put_its_own_pull_request_back,
}

async fn a_submitted_task_waits_in_the_order_of_submission_and_its_supervisor_is_told(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, first) = floor.begun("One").await;
    let (two, _) = floor.submitted("Two").await;
    floor.submits(one, first).await;
    assert_eq!(floor.queue().await, [two, one]);
    assert_eq!(floor.mails().await, ["PR Ready for Review", "PR Ready for Review"]);
    let live = floor.live_task(one).await;
    assert_eq!((live.status, live.in_epic().unwrap().pr_url.clone()), (TaskStatus::InProgress, Some(url(one))));
}

async fn only_the_first_in_the_queue_is_approved(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let refusal = EpicError::NotFirstInQueue { first: Some(one) };
    assert_eq!(floor.approve(two).await, Err(refused(refusal.clone())));
    let errand = floor.approve(one).await.unwrap();
    assert_eq!(floor.state(one).await, TaskState::Approved);
    // It is still being merged: nobody else is reviewed.
    assert_eq!(floor.approve(two).await, Err(refused(refusal)));
    floor.finish(errand, merged()).await.unwrap();
    assert_eq!(floor.queue().await, []);
}

async fn a_merge_completes_its_task_and_sends_everybody_else_to_rebase(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let (three, _) = floor.submitted("Three").await;
    let (four, _) = floor.begun("Four").await;
    floor.merges(one).await;
    let states = [floor.state(one).await, floor.state(two).await, floor.state(three).await, floor.state(four).await];
    use TaskState::{Completed, InProgress, NeedsRebase};
    assert_eq!(states, [Completed, NeedsRebase, NeedsRebase, InProgress]);
    assert_eq!(floor.queue().await, []);
    let told: Vec<_> = floor.mails().await.into_iter().filter(|it| it == "Rebase Required").collect();
    assert_eq!(told.len(), 2);
    let events = floor.bench.stream(&StreamId::new("task", one.0)).await;
    let TaskEvent::TaskCompleted { cause, .. } = decoded::<domain::task::Task>(events.last().unwrap()) else {
        panic!("the last event of a merged task completes it")
    };
    assert_eq!(cause, CompletionCause::MergedIntoEpic { merge_commit: "fff000".to_owned() });
    assert_eq!((floor.live_epic().await.open_tasks, floor.live_epic().await.merged), (vec![two, three, four], 1));
}

async fn a_rebased_task_is_last_in_the_queue(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, second)) = (floor.submitted("One").await, floor.submitted("Two").await);
    floor.merges(one).await;
    let (three, _) = floor.submitted("Three").await;
    let errand = floor.rebase(second).await.unwrap();
    floor.finish(errand, WorkResult::Rebased { pr_url: None, head: Some("def".to_owned()) }).await.unwrap();
    assert_eq!(floor.queue().await, [three, two]);
    assert_eq!(floor.state(two).await, TaskState::PendingReview);
    assert_eq!(floor.mails().await.last().unwrap(), "Rebased and ready for review");
}

async fn a_rebase_that_conflicts_fails_its_task(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, second)) = (floor.submitted("One").await, floor.submitted("Two").await);
    floor.merges(one).await;
    let errand = floor.rebase(second).await.unwrap();
    floor.finish(errand, WorkResult::RebaseConflicted { files: vec!["cart.rs".to_owned()] }).await.unwrap();
    let live = floor.live_task(two).await;
    assert_eq!((live.in_epic().unwrap().state, live.status), (TaskState::Failed, TaskStatus::Blocked));
    assert_eq!(floor.mails().await.last().unwrap(), "Rebase failed: Two");
    assert_eq!(floor.post(second).await.state, PostState::Done);
    assert_eq!(floor.live_epic().await.open_tasks, []);
}

async fn a_merge_that_conflicts_sends_its_task_to_rebase(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, first), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let errand = floor.approve(one).await.unwrap();
    floor.finish(errand, WorkResult::MergeConflicted { files: vec!["cart.rs".to_owned()] }).await.unwrap();
    assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::NeedsRebase, vec![two]));
    let errand = floor.rebase(first).await.unwrap();
    floor.finish(errand, WorkResult::Rebased { pr_url: None, head: None }).await.unwrap();
    assert_eq!(floor.queue().await, [two, one]);
}

async fn a_merge_that_fails_sends_its_task_back_to_the_head_of_the_queue(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, first), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    for _ in 0..2 {
        let errand_id = floor.approve(one).await.unwrap();
        let fail = FailErrand { errand_id, error: "the forge refuses".to_owned(), details: None };
        floor.system(&fail).await.unwrap();
        floor.system(&fail).await.unwrap();
        assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::PendingReview, vec![one, two]));
        assert_eq!(floor.mails().await.last().unwrap(), "Merge failed: One");
    }
    assert_eq!(floor.count("TaskMergeFailed").await, 2, "once for each merge");
    // Every way of a review is open again.
    let request = RequestChanges { by: floor.supervisor, task_id: one, feedback: "Make it fit".to_owned() };
    floor.agent(floor.supervisor, &request).await.unwrap();
    assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::InProgress, vec![two]));
    floor.submits(one, first).await;
    floor.merges(two).await;
    assert_eq!(floor.state(one).await, TaskState::NeedsRebase);
}

async fn changes_are_requested_of_the_first_and_submitted_again_last(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, first), (two, _)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let request = |task_id| RequestChanges { by: floor.supervisor, task_id, feedback: "More wheels".to_owned() };
    let refusal = EpicError::NotFirstInQueue { first: Some(one) };
    assert_eq!(floor.agent(floor.supervisor, &request(two)).await, Err(refused(refusal)));
    floor.agent(floor.supervisor, &request(one)).await.unwrap();
    assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::InProgress, vec![two]));
    assert_eq!(floor.mails().await.last().unwrap(), "Changes Requested: One");
    // Its pull request is there: it only says that it is ready again.
    let again = UpdateTaskState { by: first, to: TaskState::PendingReview };
    let updated = floor.agent(first, &again).await.unwrap();
    assert_eq!((updated.state, floor.queue().await), (TaskState::InProgress, vec![two]), "not before it is submitted");
    let opened = WorkResult::PullRequestOpened { pr_url: url(one), head: Some("def".to_owned()) };
    floor.finish(updated.errand.unwrap(), opened).await.unwrap();
    assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::PendingReview, vec![two, one]));
    let factory = floor.live_task(one).await.in_epic().unwrap().clone();
    assert_eq!((factory.pr_url, factory.head), (Some(url(one)), Some("def".to_owned())), "the commit is pinned");
    assert_eq!(factory.pr_title.as_deref(), Some("A pull request"), "in the words of the last time");
    assert_eq!(floor.mails().await.last().unwrap(), "PR Ready for Review");
}

async fn a_repeated_request_finds_the_errand_that_is_under_way(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, worker) = floor.begun("One").await;
    let errand = floor.agent(worker, &submit(worker)).await.unwrap();
    assert_eq!(floor.agent(worker, &submit(worker)).await, Ok(errand));
    floor.finish(errand, WorkResult::PullRequestOpened { pr_url: url(one), head: None }).await.unwrap();
    let merge = floor.approve(one).await.unwrap();
    assert_eq!(floor.approve(one).await, Ok(merge));
    assert_eq!(floor.count("TaskApproved").await, 1);
}

async fn what_came_of_an_errand_counts_once(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, _) = floor.submitted("One").await;
    let errand = floor.approve(one).await.unwrap();
    let wrong = floor.finish(errand, WorkResult::Stopped).await;
    assert_eq!(wrong, Err(refused(ErrandError::WrongResult("merge"))));
    for _ in 0..3 {
        floor.finish(errand, merged()).await.unwrap();
    }
    assert_eq!((floor.count("TaskCompleted").await, floor.count("ErrandDone").await), (1, 2));
    let other = WorkResult::Merged { merge_commit: "000".to_owned() };
    assert_eq!(floor.finish(errand, other).await, Err(refused(ErrandError::Over)));
}

async fn a_worker_may_put_its_own_pull_request_back(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, worker) = floor.submitted("One").await;
    let rebase = UpdateTaskState { by: worker, to: TaskState::NeedsRebase };
    floor.agent(worker, &rebase).await.unwrap();
    floor.agent(worker, &rebase).await.unwrap();
    assert_eq!((floor.state(one).await, floor.queue().await), (TaskState::NeedsRebase, vec![]));
    // Only a rebase says that it is rebased.
    let ready = UpdateTaskState { by: worker, to: TaskState::PendingReview };
    let updated = floor.agent(worker, &ready).await.unwrap();
    assert_eq!(updated.state, TaskState::NeedsRebase);
    floor.finish(updated.errand.unwrap(), WorkResult::Rebased { pr_url: None, head: None }).await.unwrap();
    assert_eq!(floor.queue().await, [one]);
    let never = UpdateTaskState { by: worker, to: TaskState::Completed };
    let refusal = TaskError::InvalidFactoryTransition { from: TaskState::PendingReview, to: TaskState::Completed };
    assert_eq!(floor.agent(worker, &never).await, Err(refused(refusal)));
}
