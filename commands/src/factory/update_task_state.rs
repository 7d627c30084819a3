//! Lets a worker say how far its task has come.

use domain::epic::{Epic, EpicCommand, LeaveReview, LeftBecause};
use domain::errand::Work;
use domain::post::AgentKind;
use domain::task::{
    FactoryCommand, FactoryTask, LiveTask, RequestTaskRebase, StartFactoryTask, Task, TaskCommand, TaskError, TaskState,
};
use domain::{AgentId, ErrandId, TaskId};
use serde::{Deserialize, Serialize};

use super::{acting, epic_at, errands};
use crate::{Decision, Desk, Stop};

/// A state that a worker gives its task.
#[derive(Debug, Clone, Copy)]
pub struct UpdateTaskState {
    /// Who asks: the task is its post's.
    pub by: AgentId,
    /// How far it has come.
    pub to: TaskState,
}

/// A task as its worker left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Updated {
    /// Which task.
    pub task_id: TaskId,
    /// How far it has come.
    pub state: TaskState,
    /// The errand that takes it further, if one does.
    pub errand: Option<ErrandId>,
}

impl Decision for UpdateTaskState {
    type Outcome = Updated;

    fn name(&self) -> &'static str {
        "factory.updateTaskState"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Updated, Stop> {
        let post = acting(desk, self.by, AgentKind::Worker).await?;
        let task_id = post.task_id.ok_or(TaskError::NotInEpic)?;
        let task = super::task(desk, task_id).await?;
        let factory = task.of_worker(self.by)?.clone();
        let epic = epic_at(desk, &post).await?;
        epic.in_progress()?;
        let illegal = TaskError::InvalidFactoryTransition { from: factory.state, to: self.to };
        let mut errand = None;
        match (factory.state, self.to) {
            (_, TaskState::InProgress) => {
                let start = StartFactoryTask { by: self.by, now: desk.now() };
                desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Start(start))).await?;
            }
            (TaskState::PendingReview, TaskState::PendingReview) | (TaskState::NeedsRebase, TaskState::NeedsRebase) => {
            }
            // What was changed since is committed and submitted as before, so that this commit is the one reviewed.
            (TaskState::InProgress, TaskState::PendingReview) => {
                errand = Some(errands::order(desk, epic.workspace_id, &epic.bench, resubmit(&task, factory)?).await?);
            }
            // Only a rebase says that it is rebased; one that has nothing left to do ends at once.
            (TaskState::NeedsRebase, TaskState::PendingReview) => {
                errand = Some(errands::order(desk, epic.workspace_id, &epic.bench, Work::Rebase { task_id }).await?);
            }
            (TaskState::PendingReview, TaskState::NeedsRebase) => {
                let request = RequestTaskRebase { merged_task_id: None, now: desk.now() };
                desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::RequestRebase(request))).await?;
                let leave = LeaveReview { task_id, because: LeftBecause::Rebase, now: desk.now() };
                desk.run::<Epic>(epic.epic_id.0, EpicCommand::LeaveReview(leave)).await?;
            }
            _ => return Err(illegal.into()),
        }
        let state = desk.load::<Task>(task_id.0).await?.state.live()?.in_epic()?.state;
        Ok(Updated { task_id, state, errand })
    }
}

/// Opens the pull request that is there already once more, in the words of the last time.
fn resubmit(task: &LiveTask, factory: FactoryTask) -> Result<Work, TaskError> {
    if factory.pr_url.is_none() {
        return Err(TaskError::OtherPullRequest(None));
    }
    let title = factory.pr_title.unwrap_or_else(|| task.title.clone());
    Ok(Work::OpenPullRequest { task_id: task.task_id, title, description: factory.pr_description.unwrap_or_default() })
}
