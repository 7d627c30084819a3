//! What happens at the same time: one approval lands, and whoever dies meanwhile changes nothing.

use commands::Executor;
use commands::factory::{ApproveTask, Verdict};
use commands::{Actor, Context};
use domain::errand::WorkResult;
use domain::task::TaskState;
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};

use crate::floor::{Floor, submit, url};
use crate::health::dead;

both_stores! {
    of_many_approvals_at_once_one_lands,
    many_submissions_at_once_are_all_queued_once,
    a_worker_that_dies_while_it_submits_submits_or_is_dead,
    a_supervisor_that_dies_during_a_merge_leaves_one_end,
}

const ROUNDS: usize = 6;

async fn of_many_approvals_at_once_one_lands(bench: Bench) {
    let floor = Floor::open(bench).await;
    let mut tasks = vec![];
    for n in 0..4 {
        tasks.push(floor.submitted(&format!("Task {n}")).await.0);
    }
    // From several nodes, for every task of the queue.
    let nodes: Vec<Executor> = (0..3).map(|_| Executor::new(floor.bench.log())).collect();
    let asked = nodes.iter().flat_map(|node| tasks.iter().map(move |task| (node, *task)));
    let approvals = join_all(asked.map(|(node, task_id)| {
        let approve = ApproveTask { by: floor.supervisor, task_id, pr_url: url(task_id) };
        async move { node.run(&Context::new(Actor::Agent(approve.by), noon()), &approve).await.map(|it| it.outcome) }
    }))
    .await;
    let mut errands: Vec<_> = approvals.into_iter().filter_map(Result::ok).collect();
    errands.sort();
    errands.dedup();
    assert_eq!((errands.len(), floor.count("TaskApproved").await), (1, 1));
    assert_eq!(floor.state(tasks[0]).await, TaskState::Approved);
}

async fn many_submissions_at_once_are_all_queued_once(bench: Bench) {
    let floor = Floor::open(bench).await;
    let mut begun = vec![];
    for n in 0..6 {
        begun.push(floor.begun(&format!("Task {n}")).await);
    }
    join_all(begun.iter().map(|(task, worker)| floor.submits(*task, *worker))).await;
    let mut queue = floor.queue().await;
    queue.sort();
    let mut tasks: Vec<_> = begun.iter().map(|(task, _)| *task).collect();
    tasks.sort();
    assert_eq!(queue, tasks);
}

async fn a_worker_that_dies_while_it_submits_submits_or_is_dead(bench: Bench) {
    let floor = Floor::open(bench).await;
    for n in 0..ROUNDS {
        let (task, worker) = floor.begun(&format!("Task {n}")).await;
        let errand = floor.agent(worker, &submit(worker)).await.unwrap();
        let opened = WorkResult::PullRequestOpened { pr_url: url(task), head: None };
        let (finished, died) = tokio::join!(floor.finish(errand, opened), async { floor.system(&dead(worker)).await });
        let Verdict::Recovered { successor } = died.unwrap() else { panic!("no successor") };
        let state = if finished.is_ok() { TaskState::PendingReview } else { TaskState::InProgress };
        let live = floor.live_task(task).await;
        assert_eq!((live.in_epic().unwrap().state, live.assigned_agent_id), (state, Some(successor)));
    }
}

async fn a_supervisor_that_dies_during_a_merge_leaves_one_end(bench: Bench) {
    let mut floor = Floor::open(bench).await;
    for n in 0..ROUNDS {
        let (task, _) = floor.submitted(&format!("Task {n}")).await;
        let merge = floor.approve(task).await.unwrap();
        let death = dead(floor.supervisor);
        let (merged, died) = tokio::join!(floor.finish(merge, crate::floor::merged()), floor.system(&death));
        let Verdict::Recovered { successor } = died.unwrap() else { panic!("no successor") };
        let state = if merged.is_ok() { TaskState::Completed } else { TaskState::Pending };
        assert_eq!(floor.state(task).await, state);
        assert_eq!(floor.queue().await, []);
        floor.supervisor = successor;
    }
}
