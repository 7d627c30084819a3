//! Commands on tasks: the owner makes, changes and gives them, and the agent that has one moves it.

mod advance;
mod assign;
mod change;
mod create;

pub use advance::{Move, MoveTask};
pub use assign::AssignTask;
pub use change::ChangeTask;
pub use create::CreateTask;

use domain::agent::{Agent, AgentError, AgentStatus, LiveAgent};
use domain::task::{Task, TaskError};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{AgentId, TaskId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{Desk, Stop};

/// A task that was changed, and what is to be said of the agent that it was given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Which task.
    pub task_id: TaskId,
    /// Whether that agent is on probation.
    pub agent_on_probation: bool,
}

impl Given {
    fn to(task_id: TaskId, agent: Option<&LiveAgent>) -> Self {
        Self { task_id, agent_on_probation: agent.is_some_and(|it| it.status == AgentStatus::Probation) }
    }
}

/// Lets only the owner of the task's workspace go on.
async fn admit_owner(desk: &mut Desk<'_>, by: UserId, task_id: TaskId) -> Result<(), Stop> {
    let task = desk.load::<Task>(task_id.0).await?;
    let workspace_id = task.state.live()?.workspace_id;
    admit(desk, by, workspace_id, TaskError::AccessDenied, TaskError::NotFound).await
}

/// An agent of the caller's, on which the commit depends from now on.
async fn rely_on_agent(desk: &mut Desk<'_>, by: UserId, agent_id: AgentId) -> Result<LiveAgent, Stop> {
    let agent = desk.load::<Agent>(agent_id.0).await?;
    let live = agent.state.live()?.clone();
    admit(desk, by, live.workspace_id, AgentError::AccessDenied, AgentError::NotFound).await?;
    // An agent deleted or set aside meanwhile must not gain a task.
    desk.rely_on(&agent);
    Ok(live)
}

/// Lets only a workspace's owner go on; what others are told is for what they asked for to say.
async fn admit<E: Into<crate::Refusal>>(
    desk: &mut Desk<'_>,
    by: UserId,
    workspace_id: WorkspaceId,
    denied: E,
    not_found: E,
) -> Result<(), Stop> {
    let workspace = desk.load::<Workspace>(workspace_id.0).await?;
    let admitted = workspace.state.admit(by).map_err(|refusal| match refusal {
        WorkspaceError::AccessDenied => denied,
        WorkspaceError::NotFound
        | WorkspaceError::AlreadyExists
        | WorkspaceError::SlugTaken(_)
        | WorkspaceError::NotEmpty
        | WorkspaceError::TextNotSealed => not_found,
    });
    Ok(admitted?)
}
