//! Says in a session what its agent is doing.

use domain::session::{self, Caller, Session, SessionCommand};
use domain::{SessionId, Settings};

use crate::{Decision, Desk, Stop};

/// What an agent is doing.
#[derive(Debug, Clone)]
pub struct LogProgress {
    /// Who says so.
    pub by: Caller,
    /// In which session.
    pub session_id: SessionId,
    /// In its own words.
    pub message: String,
    /// What goes with it.
    pub context: Option<Settings>,
}

impl Decision for LogProgress {
    type Outcome = SessionId;

    const TELLS_EVENTS: bool = true;

    fn name(&self) -> &'static str {
        "session.log"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<SessionId, Stop> {
        let Self { by, session_id, message, context } = self.clone();
        let log = session::LogProgress { by, message, context, now: desk.now() };
        desk.run::<Session>(session_id.0, SessionCommand::Log(log)).await?;
        Ok(session_id)
    }
}
