//! Lets a supervisor add a task to its epic.

use domain::epic::{AddEpicTask, Epic, EpicCommand};
use domain::post::AgentKind;
use domain::task::{AddTaskToEpic, CreateTask, FactoryCommand, Task, TaskCommand};
use domain::{AgentId, Settings, TaskId};

use super::{acting, epic_at};
use crate::{Decision, Desk, Stop};

/// A new task of an epic, which gets its worker when this is on record.
#[derive(Debug, Clone)]
pub struct AddTask {
    /// Who asks: the epic is its post's.
    pub by: AgentId,
    /// The id it gets.
    pub task_id: TaskId,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: String,
}

impl Decision for AddTask {
    type Outcome = TaskId;

    fn name(&self) -> &'static str {
        "factory.addTask"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<TaskId, Stop> {
        let post = acting(desk, self.by, AgentKind::Supervisor).await?;
        let epic = epic_at(desk, &post).await?;
        let now = desk.now();
        let add = AddEpicTask { by: self.by, task_id: self.task_id, now };
        desk.run::<Epic>(epic.epic_id.0, EpicCommand::AddTask(add)).await?;
        let create = CreateTask {
            task_id: self.task_id,
            workspace_id: epic.workspace_id,
            project_id: epic.project_id,
            github_issue: None,
            title: self.title.clone(),
            description: Some(self.description.clone()),
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Settings::new(),
            now,
        };
        desk.begin::<Task>(self.task_id.0, TaskCommand::Create(create)).await?;
        let join = FactoryCommand::AddToEpic(AddTaskToEpic { epic_id: epic.epic_id, now });
        desk.run::<Task>(self.task_id.0, TaskCommand::Factory(join)).await?;
        Ok(self.task_id)
    }
}
