//! What follows when a task was merged into its epic, or could not be.

use domain::TaskId;
use domain::epic::{EndEpicTask, Epic, EpicCommand, LeaveReview, LeftBecause, LiveEpic, TaskEnd};
use domain::post::{Post, WorkEnd};
use domain::task::{
    FactoryCommand, FailTaskMerge, LiveTask, MergeTask, RequestTaskRebase, Task, TaskCommand, TaskState,
};
use serde_json::json;

use super::{letters, recover_worker, staff};
use crate::{Desk, Stop};

/// The task is completed and its worker done; every other pull request in the queue must be rebased first.
pub(super) async fn merged(desk: &mut Desk<'_>, task_id: TaskId, merge_commit: String) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
    let now = desk.now();
    let merge = MergeTask { merge_commit, now };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Merge(merge))).await?;
    leave(desk, &epic, task_id, LeftBecause::Merged).await?;
    let end = EndEpicTask { task_id, end: TaskEnd::Merged, now };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::EndTask(end)).await?;
    let waiting: Vec<TaskId> = epic.queue.iter().map(|it| it.task_id).filter(|it| *it != task_id).collect();
    for waiting in &waiting {
        rebase_first(desk, &epic, *waiting, Some((task_id, &task.title))).await?;
    }
    if !waiting.is_empty() {
        let body = json!({ "mergedTaskId": task_id, "taskIds": waiting, "to": TaskState::NeedsRebase });
        letters::note_of(desk, epic.workspace_id, epic.supervisor_id, "rebase_required", body).await?;
    }
    match task.assigned_agent_id {
        Some(worker) => staff::discharge(desk, worker, WorkEnd::Success).await,
        None => Ok(()),
    }
}

/// The task goes back to its worker for a rebase.
pub(super) async fn conflicted(desk: &mut Desk<'_>, task_id: TaskId) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
    if is_nobodys(desk, &task).await? {
        return recover_worker::give_up(desk, &task).await;
    }
    rebase_first(desk, &epic, task_id, None).await
}

/// The task waits for review again, first in the queue as before, and its supervisor is told.
pub(super) async fn failed(desk: &mut Desk<'_>, task_id: TaskId, error: &str) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
    if is_nobodys(desk, &task).await? {
        return recover_worker::give_up(desk, &task).await;
    }
    let fail = FailTaskMerge { error: error.to_owned(), now: desk.now() };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::FailMerge(fail))).await?;
    letters::merge_failed(desk, &epic, &task, error).await
}

/// Whether its last worker died while it was being merged: then there is nobody to do any more.
async fn is_nobodys(desk: &mut Desk<'_>, task: &LiveTask) -> Result<bool, Stop> {
    let Some(worker) = task.assigned_agent_id else { return Ok(true) };
    let post = desk.load::<Post>(worker.0).await?;
    desk.rely_on(&post);
    Ok(post.state.held().is_err())
}

async fn rebase_first(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task_id: TaskId,
    merged: Option<(TaskId, &str)>,
) -> Result<(), Stop> {
    let request = RequestTaskRebase { merged_task_id: merged.map(|(id, _)| id), now: desk.now() };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::RequestRebase(request))).await?;
    leave(desk, epic, task_id, LeftBecause::Rebase).await?;
    let task = super::task(desk, task_id).await?;
    letters::rebase_required(desk, epic, &task, merged.map(|(_, title)| title)).await
}

async fn leave(desk: &mut Desk<'_>, epic: &LiveEpic, task_id: TaskId, because: LeftBecause) -> Result<(), Stop> {
    let leave = LeaveReview { task_id, because, now: desk.now() };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::LeaveReview(leave)).await.map(drop)
}
