//! Destroys the key of a workspace's text, and gives it a new one for what is to come.

use domain::WorkspaceId;
use domain::workspace::{EraseText, Workspace, WorkspaceCommand};
use store::{RowChange, TextKey};
use uuid::Uuid;

use crate::{Decision, Desk, Stop};

/// Erases everything that a workspace has sealed so far.
#[derive(Debug, Clone)]
pub struct EraseWorkspaceText {
    /// Which workspace.
    pub workspace_id: WorkspaceId,
    /// A key that nobody has.
    pub next: TextKey,
}

impl Decision for EraseWorkspaceText {
    type Outcome = Uuid;

    fn name(&self) -> &'static str {
        "admin.erase"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Uuid, Stop> {
        let (workspace_id, now) = (self.workspace_id.0, desk.now());
        desk.run::<Workspace>(workspace_id, WorkspaceCommand::EraseText(EraseText { now })).await?;
        let at = now.timestamp_micros();
        desk.write(RowChange::DestroyTextKeys { workspace_id, destroyed_at: at });
        desk.write(RowChange::AddTextKey { workspace_id, key: self.next.clone(), created_at: at });
        Ok(workspace_id)
    }
}
