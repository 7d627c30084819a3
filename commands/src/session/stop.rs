//! Stops a session.

use domain::session::{self, Caller, Session, SessionCommand, SessionError};
use domain::task::Task;
use domain::{SessionId, TaskId};

use crate::{Decision, Desk, Stop};

/// The end of a session.
#[derive(Debug, Clone)]
pub struct StopSession {
    /// Who asks.
    pub by: Caller,
    /// Which session.
    pub session_id: SessionId,
    /// What the agent worked on.
    pub tasks_worked_on: Vec<TaskId>,
    /// What it did, in its own words.
    pub summary: Option<String>,
}

impl Decision for StopSession {
    type Outcome = SessionId;

    fn name(&self) -> &'static str {
        "session.stop"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<SessionId, Stop> {
        let session = desk.load::<Session>(self.session_id.0).await?;
        let project_id = session.state.admit(self.by)?.project_id;
        for id in &self.tasks_worked_on {
            // Not relied on: a task never leaves its project.
            let task = desk.load::<Task>(id.0).await?;
            if task.state.live().ok().is_none_or(|it| it.project_id != project_id) {
                return Err(SessionError::UnknownTask(*id).into());
            }
        }
        let stop = session::StopSession {
            by: self.by,
            tasks_worked_on: self.tasks_worked_on.clone(),
            summary: self.summary.clone(),
            now: desk.now(),
        };
        desk.run::<Session>(self.session_id.0, SessionCommand::Stop(stop)).await?;
        Ok(self.session_id)
    }
}
