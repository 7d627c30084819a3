//! What follows when a task was rebased onto its epic, or could not be.

use domain::TaskId;
use domain::epic::{Epic, EpicCommand, QueueReview};
use domain::post::WorkEnd;
use domain::task::{FactoryCommand, FailTask, RebaseTask, Task, TaskCommand, TaskError};

use super::{fail_epic, letters, staff};
use crate::{Desk, Stop};

/// The task waits for review again, last in the queue, and its supervisor is told.
pub(super) async fn rebased(
    desk: &mut Desk<'_>,
    task_id: TaskId,
    pr_url: Option<String>,
    head: Option<String>,
) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let factory = task.in_epic()?.clone();
    let epic = super::epic(desk, factory.epic_id).await?;
    let worker = task.assigned_agent_id.ok_or(TaskError::AccessDenied)?;
    let now = desk.now();
    let rebase = RebaseTask { by: worker, pr_url: pr_url.clone(), head, now };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Rebase(rebase))).await?;
    let pr_url = pr_url.or(factory.pr_url).ok_or(TaskError::OtherPullRequest(None))?;
    let queue = QueueReview { task_id, pr_url, now };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::QueueReview(queue)).await?;
    letters::rebased(desk, &epic, &task, worker).await
}

/// The task failed, its supervisor is told, and its worker is done.
pub(super) async fn conflicted(desk: &mut Desk<'_>, task_id: TaskId, files: Vec<String>) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
    let fail = FailTask {
        reason: "Its rebase onto the epic's branch conflicts".to_owned(),
        conflict_files: files.clone(),
        after_death: false,
        with_epic: false,
        now: desk.now(),
    };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Fail(fail))).await?;
    fail_epic::end_failed(desk, epic.epic_id, task_id).await?;
    let Some(worker) = task.assigned_agent_id else { return Ok(()) };
    letters::rebase_failed(desk, &epic, &task, worker, &files).await?;
    staff::discharge(desk, worker, WorkEnd::Failure).await
}
