//! Lets a worker rebase its task.

use domain::errand::Work;
use domain::post::AgentKind;
use domain::task::{TaskError, TaskState};
use domain::{AgentId, ErrandId};

use super::{acting, epic_at, errands};
use crate::{Decision, Desk, Stop};

/// A rebase of a task onto its epic's branch.
#[derive(Debug, Clone, Copy)]
pub struct RebaseTask {
    /// Who asks: the task is its post's.
    pub by: AgentId,
}

impl Decision for RebaseTask {
    /// The errand that rebases it.
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.rebaseTask"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let post = acting(desk, self.by, AgentKind::Worker).await?;
        let task = super::task(desk, post.task_id.ok_or(TaskError::NotInEpic)?).await?;
        let from = task.of_worker(self.by)?.state;
        if from != TaskState::NeedsRebase {
            return Err(TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview }.into());
        }
        let epic = epic_at(desk, &post).await?;
        epic.in_progress()?;
        errands::order(desk, epic.workspace_id, &epic.bench, Work::Rebase { task_id: task.task_id }).await
    }
}
