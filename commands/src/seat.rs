//! Who sits where: the agent that acts, the seat it has, and who holds a seat now.

use domain::agent::{Agent, AgentError, LiveAgent};
use domain::epic::Epic;
use domain::mail::{Addressee, Correspondent};
use domain::post::{AgentKind, LivePost, Post, PostState, seat_claim};
use domain::{AgentId, WorkspaceId};

use crate::{Desk, Stop};

/// An agent that acts for itself: one that is deleted or relieved of its post does nothing more, and one to which that
/// happens meanwhile does nothing either.
pub(crate) async fn acting(desk: &mut Desk<'_>, agent_id: AgentId) -> Result<LiveAgent, Stop> {
    let agent = desk.load::<Agent>(agent_id.0).await?;
    let live = agent.state.live()?.clone();
    let post = desk.load::<Post>(agent_id.0).await?;
    match &*post.state {
        // Not every agent is one of the factory's.
        Post::Absent => {}
        Post::Live(_) => drop(post.state.held()?),
    }
    desk.rely_on(&agent);
    desk.rely_on(&post);
    Ok(live)
}

/// An agent as one that gets and answers mail.
pub(crate) async fn correspondent(desk: &mut Desk<'_>, agent_id: AgentId) -> Result<Correspondent, Stop> {
    let post = desk.load::<Post>(agent_id.0).await?;
    let seat = match &*post.state {
        Post::Absent => agent_id.0,
        Post::Live(post) => post.seat,
    };
    Ok(Correspondent::Agent { agent_id, seat })
}

/// Where a mail to an agent of the workspace goes: to its seat, and so to whoever holds that. Nothing of it is relied
/// on, because a mail to a seat arrives whoever takes it next.
pub(crate) async fn addressee(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    agent_id: AgentId,
) -> Result<Addressee, Stop> {
    let post = desk.load::<Post>(agent_id.0).await?;
    let Post::Live(post) = &*post.state else {
        let agent = desk.load::<Agent>(agent_id.0).await?;
        if agent.state.live()?.workspace_id != workspace_id {
            return Err(AgentError::AccessDenied.into());
        }
        return Ok(Addressee::Agent { agent_id, seat: agent_id.0 });
    };
    if post.workspace_id != workspace_id {
        return Err(AgentError::AccessDenied.into());
    }
    let holder = match post.state {
        PostState::InProgress => Some(agent_id),
        PostState::Done | PostState::Failed => {
            let holder = desk.holder::<Post>(seat_claim(post.kind, post.seat)).await?;
            holder.map(AgentId)
        }
    };
    // Nobody there yet: the mail waits for whoever comes.
    Ok(Addressee::Agent { agent_id: holder.unwrap_or(agent_id), seat: post.seat })
}

/// Who looks after an agent of the factory now: a worker's supervisor, a supervisor's orchestrator. Nobody of the factory
/// looks after an orchestrator.
pub(crate) async fn overseer(desk: &mut Desk<'_>, post: &LivePost) -> Result<Option<AgentId>, Stop> {
    match (post.kind, post.epic_id) {
        (AgentKind::Worker, Some(epic_id)) => {
            let epic = desk.load::<Epic>(epic_id.0).await?;
            Ok(epic.state.live().ok().and_then(|it| it.supervisor_id))
        }
        (AgentKind::Supervisor, _) => orchestrator(desk, post.workspace_id).await,
        (AgentKind::Worker, None) | (AgentKind::Orchestrator, _) => Ok(None),
    }
}

/// The orchestrator of a workspace, if it has one. Nothing of it is relied on.
pub(crate) async fn orchestrator(desk: &mut Desk<'_>, workspace_id: WorkspaceId) -> Result<Option<AgentId>, Stop> {
    let holder = desk.holder::<Post>(seat_claim(AgentKind::Orchestrator, workspace_id.0)).await?;
    Ok(holder.map(AgentId))
}

/// What there is above an agent on the floor.
pub(crate) struct Above {
    /// What kind of agent it is, where it is one of the factory's.
    pub(crate) kind: Option<AgentKind>,
    /// Its supervisor, if it has one.
    pub(crate) supervisor: Option<AgentId>,
}

/// What there is above an agent. A worker has the supervisor of its epic; whoever else there is has people.
pub(crate) async fn above(desk: &mut Desk<'_>, agent_id: AgentId) -> Result<Above, Stop> {
    let post = desk.load::<Post>(agent_id.0).await?;
    let Post::Live(post) = &*post.state else { return Ok(Above { kind: None, supervisor: None }) };
    let supervisor = match post.kind {
        AgentKind::Worker => overseer(desk, post).await?,
        AgentKind::Supervisor | AgentKind::Orchestrator => None,
    };
    Ok(Above { kind: Some(post.kind), supervisor })
}
