//! Gives a task of an epic its worker.

use domain::TaskId;
use domain::agent::Agent;
use domain::epic::{EpicError, LiveEpic};
use domain::post::{AgentKind, Profiles};
use domain::task::{AssignWorker, FactoryCommand, LiveTask, Task, TaskCommand};

use super::missions;
use super::staff::{self, Appointed, Wanted};
use crate::{Decision, Desk, Stop};

/// A task's one worker; who has the task already is the answer too.
#[derive(Debug, Clone)]
pub struct AppointWorker {
    /// Which task.
    pub task_id: TaskId,
    /// How the node runs agents.
    pub profiles: Profiles,
}

impl Decision for AppointWorker {
    type Outcome = Appointed;

    fn name(&self) -> &'static str {
        "factory.appointWorker"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Appointed, Stop> {
        let task = super::task(desk, self.task_id).await?;
        let epic = super::epic(desk, task.in_epic()?.epic_id).await?;
        if let Some(worker) = task.assigned_agent_id {
            return staff::present(desk, worker).await;
        }
        epic.in_progress()?;
        let supervisor = epic.supervisor_id.ok_or(EpicError::NotSupervisor)?;
        let appointed = staff::appoint(desk, wanted(&epic, &task, 1, &self.profiles)).await?;
        let agent = desk.load::<Agent>(appointed.agent_id.0).await?.state.live()?.clone();
        let assign = AssignWorker { by: supervisor, agent, now: desk.now() };
        let command = TaskCommand::Factory(FactoryCommand::AssignWorker(Box::new(assign)));
        desk.run::<Task>(self.task_id.0, command).await?;
        Ok(appointed)
    }
}

/// The worker that a task wants.
pub(super) fn wanted<'a>(epic: &LiveEpic, task: &LiveTask, attempt: u32, profiles: &'a Profiles) -> Wanted<'a> {
    Wanted {
        workspace_id: epic.workspace_id,
        project_id: Some(epic.project_id),
        kind: AgentKind::Worker,
        seat: task.task_id.0,
        epic_id: Some(epic.epic_id),
        task_id: Some(task.task_id),
        bench: epic.bench.clone(),
        name: format!("Worker: {}", task.title),
        mission: missions::worker(task),
        supervisor: epic.supervisor_id,
        attempt,
        replaces: None,
        profiles,
    }
}
