//! Proposes a new entry for a wiki of the caller's workspace.

use domain::WikiEntryId;
use domain::agent::AgentLevel;
use domain::wiki::{self, Author, WikiCommand, WikiEntry};
use domain::workspace::{Workspace, WorkspaceError};

use super::{rely_on_agent, rely_on_project};
use crate::{Decision, Desk, Stop};

/// A new entry.
#[derive(Debug, Clone)]
pub struct ProposeEntry {
    /// What is asked; how far its author reaches is found out here.
    pub entry: wiki::ProposeEntry,
}

impl Decision for ProposeEntry {
    type Outcome = WikiEntryId;

    fn name(&self) -> &'static str {
        "wiki.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<WikiEntryId, Stop> {
        let mut asked = self.entry.clone();
        let workspace = desk.load::<Workspace>(asked.workspace_id.0).await?;
        workspace.state.live()?;
        asked.level = match asked.by {
            Author::User(owner) => {
                workspace.state.admit(owner)?;
                None
            }
            Author::Agent(id) => {
                let agent = rely_on_agent(desk, id).await?;
                if agent.workspace_id != asked.workspace_id {
                    return Err(WorkspaceError::AccessDenied.into());
                }
                let organization = agent.is_organization_level();
                Some(if organization { AgentLevel::Organization } else { AgentLevel::Project })
            }
        };
        // A workspace deleted meanwhile must not gain an entry.
        desk.rely_on(&workspace);
        if asked.level != Some(AgentLevel::Project) {
            // Who may not propose at all is told so, whatever the project.
            rely_on_project(desk, asked.workspace_id, asked.project_id).await?;
        }
        let entry_id = asked.entry_id;
        desk.begin::<WikiEntry>(entry_id.0, WikiCommand::Propose(asked)).await?;
        Ok(entry_id)
    }
}
