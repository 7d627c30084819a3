//! Has a workspace's text sealed from now on, and changes its details if that is asked too.

use domain::WorkspaceId;
use domain::workspace::{ChangeWorkspace, Workspace, WorkspaceCommand};
use store::TextKey;
use uuid::Uuid;

use super::seal_text;
use crate::{Decision, Desk, Stop};

/// Gives a workspace new details, sealed already.
#[derive(Debug, Clone)]
pub struct ChangeWorkspaceAndSeal {
    /// Which workspace.
    pub workspace_id: WorkspaceId,
    /// What else changes.
    pub change: ChangeWorkspace,
    /// A key that nobody has.
    pub key: TextKey,
}

impl Decision for ChangeWorkspaceAndSeal {
    type Outcome = Uuid;

    fn name(&self) -> &'static str {
        "workspace.update"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Uuid, Stop> {
        seal_text(desk, self.workspace_id, self.change.by, &self.key).await?;
        desk.run::<Workspace>(self.workspace_id.0, WorkspaceCommand::Change(self.change.clone())).await?;
        Ok(self.workspace_id.0)
    }
}
