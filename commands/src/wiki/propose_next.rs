//! Proposes the next version of an entry that the caller reaches.

use chrono::{DateTime, Utc};
use domain::WikiEntryId;
use domain::wiki::{self, Author, WikiCommand, WikiEntry, WikiError};

use super::{admit, rely_on_agent, rely_on_project};
use crate::{Decision, Desk, Stop};

/// The next version of an entry; what is not given stays.
#[derive(Debug, Clone)]
pub struct ProposeNextVersion {
    /// Who asks.
    pub by: Author,
    /// The id that the next version gets.
    pub entry_id: WikiEntryId,
    /// The version it is the next of.
    pub parent_entry_id: WikiEntryId,
    /// The title wanted.
    pub title: Option<String>,
    /// The content wanted.
    pub content: Option<String>,
    /// The tags wanted, all of them.
    pub tags: Option<Vec<String>>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

impl Decision for ProposeNextVersion {
    type Outcome = WikiEntryId;

    fn name(&self) -> &'static str {
        "wiki.update"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<WikiEntryId, Stop> {
        let parent = desk.load::<WikiEntry>(self.parent_entry_id.0).await?;
        let version = parent.state.version()?;
        match self.by {
            Author::User(owner) => admit(desk, owner, version.workspace_id).await?,
            Author::Agent(id) => {
                let agent = rely_on_agent(desk, id).await?;
                // A project agent writes in its project's wiki, and reads that of the whole workspace.
                let reaches = agent.is_organization_level() || agent.project_id == version.project_id;
                if agent.workspace_id != version.workspace_id || !reaches {
                    return Err(WikiError::AccessDenied.into());
                }
            }
        }
        rely_on_project(desk, version.workspace_id, version.project_id).await?;
        let propose = wiki::ProposeNextVersion {
            entry_id: self.entry_id,
            parent: WikiEntry::clone(&parent.state),
            by: self.by,
            title: self.title.clone(),
            content: self.content.clone(),
            tags: self.tags.clone(),
            now: self.now,
        };
        desk.begin::<WikiEntry>(self.entry_id.0, WikiCommand::ProposeNext(Box::new(propose))).await?;
        Ok(self.entry_id)
    }
}
