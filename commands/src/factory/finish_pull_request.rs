//! What follows when a pull request is there.

use domain::epic::{Epic, EpicCommand, EpicError, QueueReview, SubmitEpic};
use domain::task::{FactoryCommand, SubmitTask, Task, TaskCommand, TaskError};
use domain::{EpicId, TaskId};

use super::letters;
use crate::{Desk, Stop};

/// A pull request that was opened.
pub(super) struct Opened {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) pr_url: String,
    pub(super) head: Option<String>,
}

/// The task waits for review, last in the queue, and its supervisor is told.
pub(super) async fn of_task(desk: &mut Desk<'_>, task_id: TaskId, opened: Opened) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
    let worker = task.assigned_agent_id.ok_or(TaskError::AccessDenied)?;
    let now = desk.now();
    let Opened { title, description, pr_url, head } = opened;
    let submit =
        SubmitTask { by: worker, pr_url: pr_url.clone(), pr_title: title, pr_description: description, head, now };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Submit(submit))).await?;
    let queue = QueueReview { task_id, pr_url: pr_url.clone(), now };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::QueueReview(queue)).await?;
    letters::ready_for_review(desk, &epic, &task, worker, &pr_url).await
}

/// The epic waits for a human, who is told.
pub(super) async fn of_epic(desk: &mut Desk<'_>, epic_id: EpicId, opened: Opened) -> Result<(), Stop> {
    let epic = super::epic(desk, epic_id).await?;
    let Opened { title, description, pr_url, head } = opened;
    let submit = SubmitEpic {
        by: epic.supervisor_id.ok_or(EpicError::NotSupervisor)?,
        pr_url: pr_url.clone(),
        title,
        description,
        head,
        now: desk.now(),
    };
    desk.run::<Epic>(epic_id.0, EpicCommand::Submit(submit)).await?;
    letters::epic_complete(desk, &epic, &pr_url).await
}
