//! Commands on agents: who may give them is for the workspace to say, and keys change with them.

mod change;
mod create;
mod delete;
mod follow_successor;
mod rotate_credentials;

pub use change::ChangeAgent;
pub use create::CreateAgent;
pub use delete::DeleteAgent;
pub use follow_successor::FollowSuccessor;
pub use rotate_credentials::RotateCredentials;

use chrono::{DateTime, Utc};
use domain::agent::{Agent, AgentError, LiveAgent};
use domain::project::{Project, ProjectError};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{AgentId, CredentialId, ProjectId, UserId, WorkspaceId};
use store::{Credential, RowChange};

use crate::{Desk, Stop};

/// A new key as it is stored: the key itself is known only to whoever made it.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Which key.
    pub credential_id: CredentialId,
    /// Its keyed hash.
    pub key_hash: Vec<u8>,
}

impl NewKey {
    pub(crate) fn row(&self, agent: &LiveAgent, now: DateTime<Utc>) -> RowChange {
        RowChange::IssueCredential(Credential {
            credential_id: self.credential_id.0,
            agent_id: agent.agent_id.0,
            workspace_id: agent.workspace_id.0,
            project_id: agent.project_id.map(|id| id.0),
            standing: agent.status.to_string(),
            key_hash: self.key_hash.clone(),
            created_at: now.timestamp_micros(),
        })
    }
}

/// An agent whose workspace is the caller's.
pub(crate) async fn owned(desk: &mut Desk<'_>, by: UserId, agent_id: AgentId) -> Result<LiveAgent, Stop> {
    let agent = desk.load::<Agent>(agent_id.0).await?;
    let live = agent.state.live()?.clone();
    let workspace = desk.load::<Workspace>(live.workspace_id.0).await?;
    workspace.state.admit(by).map_err(|refusal| match refusal {
        WorkspaceError::AccessDenied => AgentError::AccessDenied,
        WorkspaceError::NotFound
        | WorkspaceError::AlreadyExists
        | WorkspaceError::SlugTaken(_)
        | WorkspaceError::NotEmpty
        | WorkspaceError::TextNotSealed => AgentError::NotFound,
    })?;
    Ok(live)
}

/// Makes the commit depend on a project of the workspace that is in use.
async fn rely_on_project(desk: &mut Desk<'_>, workspace_id: WorkspaceId, id: ProjectId) -> Result<(), Stop> {
    let project = desk.load::<Project>(id.0).await?;
    if project.state.live()?.workspace_id != workspace_id {
        return Err(ProjectError::NotFound.into());
    }
    desk.rely_on(&project);
    Ok(())
}

/// Makes the commit depend on a supervisor of the same workspace that is in use.
async fn rely_on_supervisor(desk: &mut Desk<'_>, workspace_id: WorkspaceId, id: AgentId) -> Result<(), Stop> {
    let supervisor = desk.load::<Agent>(id.0).await?;
    if supervisor.state.live()?.workspace_id != workspace_id {
        return Err(AgentError::NotFound.into());
    }
    desk.rely_on(&supervisor);
    Ok(())
}
