//! Pulled updates: what an agent that starts a session is given.

use commands::Done;
use domain::agent::AgentStatus;
use domain::pull::role_changes;
use domain::session::AgentSnapshot;
use domain::{ProjectId, SessionId};
use projections::agents;
use projections::sessions::{self, SessionView};
use projections::tasks::{self, TaskView};
use projections::timeline::{self, Doc};

use super::bodies::{PulledUpdates, RoleChangeBody, StartedSession};
use crate::App;
use crate::answer::Warning;
use crate::auth::AgentCaller;
use crate::error::ApiError;

/// The most tasks that are pulled at a time.
const TASKS: i64 = 100;
/// The most messages that are pulled at a time; the others come with the next pull.
const MESSAGES: i64 = 100;

/// What was read for an agent before its session started.
pub(super) struct Pull {
    pub(super) tasks: Vec<TaskView>,
    pub(super) messages: Vec<Doc>,
    /// The position up to which nothing is left to give.
    pub(super) delivered_up_to: i64,
    /// The agent's last session.
    last: Option<SessionView>,
}

impl Pull {
    /// The role that the agent was told it has.
    pub(super) fn told(&self) -> Option<AgentSnapshot> {
        self.last.as_ref().map(|it| it.agent_snapshot.clone())
    }
}

impl App {
    /// Reads what is new for an agent, from read models that show everything up to now: also its own last write.
    pub(super) async fn pull(&self, by: &AgentCaller, project: ProjectId) -> Result<Pull, ApiError> {
        let now = self.log.head().await?.position;
        let read_models = [sessions::NAME, timeline::NAME, tasks::NAME, agents::NAME];
        if !self.engine.wait_for(&read_models, now, self.settings.patience).await {
            return Err(ApiError::unavailable("what is new is not shown yet; try again"));
        }
        let last = sessions::last_before(&self.views, by.agent_id, i64::MAX).await?;
        let tasks = tasks::assigned_to(&self.views, by.agent_id, project, TASKS).await?;
        let given = last.as_ref().map_or(0, |it| it.delivered_up_to);
        let messages = timeline::mentioning(&self.views, by.agent_id, given, MESSAGES).await?;
        let newest = messages.last().map_or(given, |it| it.position);
        // A full page may not be all: what comes after it waits for the next pull.
        let delivered_up_to = if messages.len() as i64 == MESSAGES { newest } else { newest.max(now) };
        Ok(Pull { tasks, messages, delivered_up_to, last })
    }

    /// The session as it started, told by its own event, with what was pulled for it.
    pub(super) async fn started(&self, done: &Done<SessionId>, pull: Pull) -> Result<StartedSession, ApiError> {
        let session: Option<SessionView> = self.as_of(done.outcome.0, done.position).await?;
        let session = session.ok_or_else(|| ApiError::fault("a session that started is not there"))?;
        let pull = if done.replayed { self.pulled_again(&session, pull.tasks).await? } else { pull };
        let agent = agents::find(&self.views, session.agent_id).await?;
        let agent = agent.ok_or_else(|| ApiError::fault("a session has no agent"))?;
        let changes = role_changes(pull.told().as_ref(), &session.agent_snapshot);
        let updates = PulledUpdates {
            tasks: pull.tasks.into_iter().map(Into::into).collect(),
            messages: self.entries(pull.messages).await?,
            role_changes: changes.into_iter().map(|it| RoleChangeBody::new(it, agent.updated_at)).collect(),
        };
        let warnings = Warning::of_probation(agent.status == AgentStatus::Probation);
        Ok(StartedSession { session: session.into(), pulled_updates: updates, warnings })
    }

    /// The messages that a session was given when it started; its tasks are shown as they are now.
    async fn pulled_again(&self, session: &SessionView, tasks: Vec<TaskView>) -> Result<Pull, ApiError> {
        let last = sessions::last_before(&self.views, session.agent_id, session.started_position).await?;
        let given = last.as_ref().map_or(0, |it| it.delivered_up_to);
        let mut messages = timeline::mentioning(&self.views, session.agent_id, given, MESSAGES).await?;
        messages.retain(|it| it.position <= session.delivered_up_to);
        Ok(Pull { tasks, messages, delivered_up_to: session.delivered_up_to, last })
    }
}
