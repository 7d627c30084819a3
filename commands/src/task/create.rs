//! Adds a task to a project of the caller's.

use chrono::{DateTime, Utc};
use domain::project::{Project, ProjectError};
use domain::task::{self, GithubIssue, Priority, Task, TaskCommand};
use domain::{ProjectId, Settings, TaskId, UserId};

use super::admit;
use crate::{Decision, Desk, Stop};

/// A new task.
#[derive(Debug, Clone)]
pub struct CreateTask {
    /// Who asks.
    pub by: UserId,
    /// The id it gets.
    pub task_id: TaskId,
    /// The project it becomes part of.
    pub project_id: ProjectId,
    /// The GitHub issue that it is.
    pub github_issue: Option<GithubIssue>,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// What comes first.
    pub priority: Option<Priority>,
    /// When it is due.
    pub deadline: Option<DateTime<Utc>>,
    /// How to tell that it is done.
    pub success_criteria: Vec<String>,
    /// What else its maker noted.
    pub metadata: Settings,
}

impl Decision for CreateTask {
    type Outcome = TaskId;

    fn name(&self) -> &'static str {
        "task.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<TaskId, Stop> {
        let project = desk.load::<Project>(self.project_id.0).await?;
        let workspace_id = project.state.live()?.workspace_id;
        admit(desk, self.by, workspace_id, ProjectError::AccessDenied, ProjectError::NotFound).await?;
        // A project deleted meanwhile must not gain a task.
        desk.rely_on(&project);
        let asked = self.clone();
        let create = task::CreateTask {
            task_id: asked.task_id,
            workspace_id,
            project_id: asked.project_id,
            github_issue: asked.github_issue,
            title: asked.title,
            description: asked.description,
            priority: asked.priority,
            deadline: asked.deadline,
            success_criteria: asked.success_criteria,
            metadata: asked.metadata,
            now: desk.now(),
        };
        desk.begin::<Task>(self.task_id.0, TaskCommand::Create(create)).await?;
        Ok(self.task_id)
    }
}
