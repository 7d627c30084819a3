//! Commands on wiki entries: agents and the owner propose, the owner decides.

mod approve;
mod propose;
mod propose_next;
mod reject;

pub use approve::ApproveEntry;
pub use propose::ProposeEntry;
pub use propose_next::ProposeNextVersion;
pub use reject::RejectEntry;

use domain::agent::{Agent, LiveAgent};
use domain::project::{Project, ProjectError};
use domain::wiki::{EntryVersion, WikiEntry, WikiError};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{AgentId, ProjectId, UserId, WikiEntryId, WorkspaceId};

use crate::{Desk, Stop};

/// A version whose workspace is the caller's.
async fn owned(desk: &mut Desk<'_>, by: UserId, id: WikiEntryId) -> Result<EntryVersion, Stop> {
    let entry = desk.load::<WikiEntry>(id.0).await?;
    let version = entry.state.version()?.clone();
    admit(desk, by, version.workspace_id).await?;
    Ok(version)
}

/// Lets only the owner of an entry's workspace go on.
async fn admit(desk: &mut Desk<'_>, by: UserId, workspace_id: WorkspaceId) -> Result<(), Stop> {
    let workspace = desk.load::<Workspace>(workspace_id.0).await?;
    let admitted = workspace.state.admit(by).map_err(|refusal| match refusal {
        WorkspaceError::AccessDenied => WikiError::AccessDenied,
        WorkspaceError::NotFound
        | WorkspaceError::AlreadyExists
        | WorkspaceError::SlugTaken(_)
        | WorkspaceError::NotEmpty
        | WorkspaceError::TextNotSealed => WikiError::NotFound,
    });
    Ok(admitted?)
}

/// The agent that writes: one that is deleted meanwhile adds nothing.
async fn rely_on_agent(desk: &mut Desk<'_>, id: AgentId) -> Result<LiveAgent, Stop> {
    let agent = desk.load::<Agent>(id.0).await?;
    let live = agent.state.live()?.clone();
    desk.rely_on(&agent);
    Ok(live)
}

/// The project whose wiki it is: one that is deleted meanwhile gains nothing.
async fn rely_on_project(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    project_id: Option<ProjectId>,
) -> Result<(), Stop> {
    let Some(id) = project_id else { return Ok(()) };
    let project = desk.load::<Project>(id.0).await?;
    if project.state.live()?.workspace_id != workspace_id {
        return Err(ProjectError::NotFound.into());
    }
    desk.rely_on(&project);
    Ok(())
}
