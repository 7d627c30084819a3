//! Gives an epic up, and everything that was being done for it.

use domain::epic::{self, EndEpicTask, Epic, EpicCommand, LeaveReview, LeftBecause, TaskEnd};
use domain::errand::Work;
use domain::post::{AgentKind, WorkEnd};
use domain::task::{FactoryCommand, FailTask, Task, TaskCommand, TaskState};
use domain::{EpicId, Party, TaskId};
use serde_json::json;

use super::{acting, errands, letters, owned_epic, staff};
use crate::{Decision, Desk, Stop};

/// An epic that is given up, by its supervisor or by a human.
#[derive(Debug, Clone)]
pub struct FailEpic {
    /// Who asks.
    pub by: Party,
    /// Which epic.
    pub epic_id: EpicId,
    /// Why.
    pub reason: String,
}

impl Decision for FailEpic {
    type Outcome = EpicId;

    fn name(&self) -> &'static str {
        "epic.fail"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<EpicId, Stop> {
        let epic = match self.by {
            Party::User(user) => owned_epic(desk, user, self.epic_id).await?,
            Party::Agent(agent) => {
                acting(desk, agent, AgentKind::Supervisor).await?;
                super::epic(desk, self.epic_id).await?
            }
        };
        let fail = epic::FailEpic { by: self.by, reason: self.reason.clone(), now: desk.now() };
        if desk.run::<Epic>(self.epic_id.0, EpicCommand::Fail(fail)).await?.is_empty() {
            return Ok(self.epic_id);
        }
        let body = json!({
            "epicId": self.epic_id, "reason": self.reason, "taskIds": epic.open_tasks, "to": TaskState::Failed,
        });
        letters::note_of(desk, epic.workspace_id, epic.supervisor_id, "epic_given_up", body).await?;
        letters::epic_given_up(desk, &epic, self.by, &self.reason).await?;
        for task_id in epic.open_tasks {
            give_up(desk, self.epic_id, task_id, &self.reason).await?;
        }
        errands::call_off(desk, Work::on_epic(self.epic_id), "the epic was given up", |_| true).await?;
        if let Some(supervisor) = epic.supervisor_id {
            staff::discharge(desk, supervisor, WorkEnd::Failure).await?;
        }
        Ok(self.epic_id)
    }
}

/// Fails a task with its epic, and lets its worker go.
async fn give_up(desk: &mut Desk<'_>, epic_id: EpicId, task_id: TaskId, reason: &str) -> Result<(), Stop> {
    let worker = desk.load::<Task>(task_id.0).await?.state.live()?.assigned_agent_id;
    let reason = format!("The epic was given up: {reason}");
    let fail = FailTask { reason, conflict_files: vec![], after_death: false, with_epic: true, now: desk.now() };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Fail(fail))).await?;
    end_failed(desk, epic_id, task_id).await?;
    errands::call_off(desk, Work::on_task(task_id), "the epic was given up", |_| true).await?;
    match worker {
        Some(worker) => staff::discharge(desk, worker, WorkEnd::Failure).await,
        None => Ok(()),
    }
}

/// Takes a failed task off its epic's lists.
pub(super) async fn end_failed(desk: &mut Desk<'_>, epic_id: EpicId, task_id: TaskId) -> Result<(), Stop> {
    let now = desk.now();
    let leave = LeaveReview { task_id, because: LeftBecause::Failed, now };
    desk.run::<Epic>(epic_id.0, EpicCommand::LeaveReview(leave)).await?;
    let end = EndEpicTask { task_id, end: TaskEnd::Failed, now };
    desk.run::<Epic>(epic_id.0, EpicCommand::EndTask(end)).await.map(drop)
}
