//! Lets a worker submit its task.

use domain::errand::Work;
use domain::post::AgentKind;
use domain::task::{TaskError, TaskState};
use domain::{AgentId, ErrandId};

use super::{acting, epic_at, errands};
use crate::{Decision, Desk, Stop};

/// The pull request of a task. The task waits for review when it is there.
#[derive(Debug, Clone)]
pub struct SubmitTask {
    /// Who asks: the task is its post's.
    pub by: AgentId,
    /// What the pull request is to be called.
    pub title: String,
    /// What it does.
    pub description: String,
}

impl Decision for SubmitTask {
    /// The errand that opens the pull request.
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.submitTask"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let post = acting(desk, self.by, AgentKind::Worker).await?;
        let task = super::task(desk, post.task_id.ok_or(TaskError::NotInEpic)?).await?;
        let from = task.of_worker(self.by)?.state;
        if from != TaskState::InProgress {
            return Err(TaskError::InvalidFactoryTransition { from, to: TaskState::PendingReview }.into());
        }
        let epic = epic_at(desk, &post).await?;
        epic.in_progress()?;
        let work = Work::OpenPullRequest {
            task_id: task.task_id,
            title: self.title.clone(),
            description: self.description.clone(),
        };
        errands::order(desk, epic.workspace_id, &epic.bench, work).await
    }
}
