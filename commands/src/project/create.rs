//! Starts a project in a workspace of the caller's.

use domain::project::{self, Project, ProjectCommand};
use domain::workspace::Workspace;
use domain::{ProjectId, UserId};

use crate::{Decision, Desk, Stop};

/// A new project.
#[derive(Debug, Clone)]
pub struct CreateProject {
    /// Who asks.
    pub by: UserId,
    /// What is asked.
    pub project: project::CreateProject,
}

impl Decision for CreateProject {
    type Outcome = ProjectId;

    fn name(&self) -> &'static str {
        "project.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ProjectId, Stop> {
        let workspace = desk.load::<Workspace>(self.project.workspace_id.0).await?;
        workspace.state.admit(self.by)?;
        // A workspace deleted meanwhile must not gain a project.
        desk.rely_on(&workspace);
        let project_id = self.project.project_id;
        desk.begin::<Project>(project_id.0, ProjectCommand::Create(self.project.clone())).await?;
        Ok(project_id)
    }
}
