//! Opens a workspace whose text is sealed from its first word on.

use domain::workspace::{CreateWorkspace, Workspace, WorkspaceCommand};
use store::TextKey;
use uuid::Uuid;

use super::seal_text;
use crate::{Decision, Desk, Stop};

/// Opens a workspace that keeps its text under a key of its own.
#[derive(Debug, Clone)]
pub struct CreateWorkspaceSealed {
    /// How it begins.
    pub create: CreateWorkspace,
    /// A key that nobody has.
    pub key: TextKey,
}

impl Decision for CreateWorkspaceSealed {
    type Outcome = Uuid;

    fn name(&self) -> &'static str {
        "workspace.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Uuid, Stop> {
        let (id, owner) = (self.create.workspace_id, self.create.owner);
        desk.begin::<Workspace>(id.0, WorkspaceCommand::Create(self.create.clone())).await?;
        seal_text(desk, id, owner, &self.key).await?;
        Ok(id.0)
    }
}
