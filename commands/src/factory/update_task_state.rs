//! Lets a worker say how far its task has come.

use domain::epic::{Epic, EpicCommand, LeaveReview, LeftBecause, QueueReview};
use domain::errand::Work;
use domain::post::AgentKind;
use domain::task::{
    FactoryCommand, FactoryTask, LiveTask, RequestTaskRebase, StartFactoryTask, SubmitTask, Task, TaskCommand,
    TaskError, TaskState,
};
use domain::{AgentId, ErrandId, TaskId};
use serde::{Deserialize, Serialize};

use super::{acting, epic_at, errands, letters};
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
            (TaskState::InProgress, TaskState::PendingReview) => {
                resubmit(desk, &task, &factory, self.by).await?;
                letters::ready_for_review(desk, &epic, &task, self.by, factory.pr_url.as_deref().unwrap_or_default())
                    .await?;
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

/// Puts a task whose pull request is there already back into review: the branch has moved, and the request with it.
async fn resubmit(desk: &mut Desk<'_>, task: &LiveTask, factory: &FactoryTask, worker: AgentId) -> Result<(), Stop> {
    let pr_url = factory.pr_url.clone().ok_or(TaskError::OtherPullRequest(None))?;
    let submit = SubmitTask {
        by: worker,
        pr_url: pr_url.clone(),
        pr_title: task.title.clone(),
        pr_description: String::new(),
        head: None,
        now: desk.now(),
    };
    desk.run::<Task>(task.task_id.0, TaskCommand::Factory(FactoryCommand::Submit(submit))).await?;
    let queue = QueueReview { task_id: task.task_id, pr_url, now: desk.now() };
    desk.run::<Epic>(factory.epic_id.0, EpicCommand::QueueReview(queue)).await.map(drop)
}
