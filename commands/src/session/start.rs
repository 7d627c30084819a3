//! Starts a session of an agent in a project.

use domain::agent::Agent;
use domain::project::Project;
use domain::pull::role_changes;
use domain::session::{self, AgentSnapshot, PulledCounts, Session, SessionCommand};
use domain::{AgentId, ProjectId, SessionId};

use crate::{Decision, Desk, Stop};

/// A new session.
#[derive(Debug, Clone)]
pub struct StartSession {
    /// The id it gets.
    pub session_id: SessionId,
    /// Who is to work.
    pub agent_id: AgentId,
    /// Where.
    pub project_id: ProjectId,
    /// How many tasks the agent is given.
    pub tasks: u32,
    /// How many messages the agent is given.
    pub messages: u32,
    /// The log position up to which the agent is given its messages.
    pub delivered_up_to: i64,
    /// The role that the agent was told it has when it last started; none when it never did.
    pub told: Option<AgentSnapshot>,
}

impl Decision for StartSession {
    type Outcome = SessionId;

    fn name(&self) -> &'static str {
        "session.start"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<SessionId, Stop> {
        let agent = desk.load::<Agent>(self.agent_id.0).await?;
        let live = agent.state.live()?.clone();
        let project = desk.load::<Project>(self.project_id.0).await?;
        let project_workspace_id = project.state.live()?.workspace_id;
        // An agent that is deleted or sent home meanwhile must not begin, and none in a project that is gone.
        desk.rely_on(&agent);
        desk.rely_on(&project);
        let role = AgentSnapshot { capabilities: live.capabilities.clone(), settings: live.settings.clone() };
        let changes = role_changes(self.told.as_ref(), &role).len();
        let role_changes = u32::try_from(changes).unwrap_or(u32::MAX);
        let start = session::StartSession {
            session_id: self.session_id,
            project_id: self.project_id,
            project_workspace_id,
            agent: live,
            pulled: PulledCounts { tasks: self.tasks, messages: self.messages, role_changes },
            delivered_up_to: self.delivered_up_to,
            now: desk.now(),
        };
        desk.begin::<Session>(self.session_id.0, SessionCommand::Start(start)).await?;
        Ok(self.session_id)
    }
}
