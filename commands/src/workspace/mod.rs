//! Commands on workspaces that need more than their stream: those that turn the key of a workspace's text.

mod change;
mod create;
mod erase_text;

pub use change::ChangeWorkspaceAndSeal;
pub use create::CreateWorkspaceSealed;
pub use erase_text::EraseWorkspaceText;

use domain::workspace::{SealText, Workspace, WorkspaceCommand};
use domain::{UserId, WorkspaceId};
use store::{RowChange, TextKey};

use crate::{Desk, Stop};

/// Has the text of a workspace sealed under a key, from this commit on; one that seals its text already keeps its key.
async fn seal_text(desk: &mut Desk<'_>, workspace_id: WorkspaceId, by: UserId, key: &TextKey) -> Result<(), Stop> {
    let now = desk.now();
    let command = WorkspaceCommand::SealText(SealText { by, now });
    if !desk.run::<Workspace>(workspace_id.0, command).await?.is_empty() {
        let (key, created_at) = (key.clone(), now.timestamp_micros());
        desk.write(RowChange::AddTextKey { workspace_id: workspace_id.0, key, created_at });
    }
    Ok(())
}
