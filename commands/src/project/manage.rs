//! Changes or closes a project of the caller's.

use domain::project::{Project, ProjectCommand, ProjectError};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{ProjectId, UserId};

use crate::{Decision, Desk, Stop};

/// A command on a project that exists.
#[derive(Debug, Clone)]
pub struct ManageProject {
    /// Who asks.
    pub by: UserId,
    /// Which project.
    pub project_id: ProjectId,
    /// What is asked.
    pub command: ProjectCommand,
}

impl Decision for ManageProject {
    type Outcome = ProjectId;

    fn name(&self) -> &'static str {
        match self.command {
            ProjectCommand::Create(_) => "project.create",
            ProjectCommand::Change(_) => "project.update",
            ProjectCommand::Delete(_) => "project.delete",
        }
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ProjectId, Stop> {
        let project = desk.load::<Project>(self.project_id.0).await?;
        let workspace_id = project.state.live()?.workspace_id;
        let workspace = desk.load::<Workspace>(workspace_id.0).await?;
        workspace.state.admit(self.by).map_err(|refusal| match refusal {
            WorkspaceError::AccessDenied => ProjectError::AccessDenied,
            WorkspaceError::NotFound
            | WorkspaceError::AlreadyExists
            | WorkspaceError::SlugTaken(_)
            | WorkspaceError::NotEmpty
            | WorkspaceError::TextNotSealed => ProjectError::NotFound,
        })?;
        desk.run::<Project>(self.project_id.0, self.command.clone()).await?;
        Ok(self.project_id)
    }
}
