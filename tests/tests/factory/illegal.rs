//! What is not allowed is refused by name: every state against every request.

use commands::factory::{RequestChanges, UpdateTaskState};
use commands::task::{AssignTask, ChangeTask, Move, MoveTask};
use domain::errand::WorkResult;
use domain::session::Caller;
use domain::task::{self, TaskError, TaskState, TaskStatus};
use domain::{AgentId, TaskId};
use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};

use crate::floor::{Floor, refused, submit};

both_stores! {
    every_request_in_every_state_is_served_or_refused_by_name,
    agentflows_own_moves_of_a_task_in_an_epic_are_refused,
    the_owner_still_edits_the_details_of_a_task_in_an_epic,
}

/// A task that has come as far as that, and its worker.
async fn task_in(floor: &Floor, state: TaskState) -> (TaskId, AgentId) {
    match state {
        TaskState::Pending => {
            let task = floor.task("It").await;
            (task, floor.worker(task).await.agent_id)
        }
        TaskState::InProgress => floor.begun("It").await,
        TaskState::PendingReview => floor.submitted("It").await,
        TaskState::NeedsRebase => {
            let (other, _) = floor.submitted("Other").await;
            let it = floor.submitted("It").await;
            floor.merges(other).await;
            it
        }
        TaskState::Approved => {
            let it = floor.submitted("It").await;
            floor.approve(it.0).await.unwrap();
            it
        }
        TaskState::Completed => {
            let it = floor.submitted("It").await;
            floor.merges(it.0).await;
            it
        }
        TaskState::Failed => {
            let it = Box::pin(task_in(floor, TaskState::NeedsRebase)).await;
            let errand = floor.rebase(it.1).await.unwrap();
            floor.finish(errand, WorkResult::RebaseConflicted { files: vec![] }).await.unwrap();
            it
        }
    }
}

async fn every_request_in_every_state_is_served_or_refused_by_name(bench: Bench) {
    use TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};
    let floor = Floor::open(bench).await;
    let illegal = |from, to| refused(TaskError::InvalidFactoryTransition { from, to });
    for from in TaskState::ALL {
        let (task_id, worker) = task_in(&floor, from).await;
        assert_eq!(floor.state(task_id).await, from);
        let is_over = matches!(from, Completed | Failed);
        let over = || refused(domain::post::PostError::Discharged);
        if from != InProgress {
            let expected = if is_over { over() } else { illegal(from, PendingReview) };
            assert_eq!(floor.agent(worker, &submit(worker)).await, Err(expected), "submit {from}");
        }
        if from != NeedsRebase {
            let expected = if is_over { over() } else { illegal(from, PendingReview) };
            assert_eq!(floor.rebase(worker).await, Err(expected), "rebase {from}");
        }
        if !matches!(from, PendingReview | Approved) {
            assert_eq!(floor.approve(task_id).await, Err(illegal(from, Approved)), "approve {from}");
        }
        if from != PendingReview {
            let request = RequestChanges { by: floor.supervisor, task_id, feedback: "More".to_owned() };
            let refusal = floor.agent(floor.supervisor, &request).await;
            assert_eq!(refusal, Err(illegal(from, InProgress)), "changes {from}");
        }
        if !matches!(from, Pending | InProgress) {
            let start = UpdateTaskState { by: worker, to: InProgress };
            let expected = if is_over { over() } else { illegal(from, InProgress) };
            assert_eq!(floor.agent(worker, &start).await, Err(expected), "start {from}");
        }
        // Out of the way of the next one.
        if from == PendingReview {
            floor.merges(task_id).await;
        }
        if from == Approved {
            let errand = floor.approve(task_id).await.unwrap();
            floor.finish(errand, crate::floor::merged()).await.unwrap();
        }
    }
}

async fn agentflows_own_moves_of_a_task_in_an_epic_are_refused(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task_id, worker) = floor.begun("It").await;
    let in_epic = || Err(refused(TaskError::InEpic(floor.epic)));
    let by = Caller { agent_id: worker, workspace_id: floor.acme };
    let block = Move::Block { blocker: "Tired".to_owned(), severity: domain::Severity::Low, requires_attention: false };
    for to in [Move::Start, block, Move::Complete { success_criteria_met: vec![] }] {
        let step = MoveTask { by, task_id, session_id: None, to };
        assert_eq!(floor.agent(worker, &step).await.map(drop), in_epic());
    }
    let other = floor.fleet.agent(floor.acme, Some(floor.shop), "dev", None).await.unwrap();
    let assign = AssignTask { by: floor.fleet.owner, task_id, agent_id: other };
    assert_eq!(floor.human(&assign).await.map(drop), in_epic());
    let cancel = ChangeTask {
        change: task::ChangeTask { status: Some(TaskStatus::Cancelled), ..change(&floor) },
        ..of(task_id, &floor)
    };
    assert_eq!(floor.human(&cancel).await.map(drop), in_epic());
    assert_eq!(floor.state(task_id).await, TaskState::InProgress);
}

async fn the_owner_still_edits_the_details_of_a_task_in_an_epic(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task_id, _) = floor.begun("It").await;
    let title = Some("Better".to_owned());
    let edit = ChangeTask { change: task::ChangeTask { title, ..change(&floor) }, ..of(task_id, &floor) };
    floor.human(&edit).await.unwrap();
    assert_eq!(floor.live_task(task_id).await.title, "Better");
}

fn of(task_id: TaskId, floor: &Floor) -> ChangeTask {
    ChangeTask { task_id, agent_id: None, change: change(floor) }
}

fn change(floor: &Floor) -> task::ChangeTask {
    task::ChangeTask {
        by: floor.fleet.owner,
        title: None,
        description: None,
        priority: None,
        deadline: None,
        success_criteria: None,
        metadata: None,
        agent: None,
        status: None,
        now: noon(),
    }
}
