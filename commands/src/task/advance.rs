//! Moves a task as the agent that has it, under a session of its own or under none.

use chrono::{DateTime, Utc};
use domain::session::{Caller, Session};
use domain::task::{BlockTask, CompleteTask, StartTask, Task, TaskCommand};
use domain::{SessionId, Severity, TaskId};

use crate::{Decision, Desk, Stop};

/// A move of an agent's task.
#[derive(Debug, Clone)]
pub struct MoveTask {
    /// Who asks.
    pub by: Caller,
    /// Which task.
    pub task_id: TaskId,
    /// The session that the agent is in.
    pub session_id: Option<SessionId>,
    /// Where to.
    pub to: Move,
}

/// Where an agent may move its task to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// It works on it.
    Start,
    /// It cannot go on.
    Block {
        /// What is in the way.
        blocker: String,
        /// How bad that is.
        severity: Severity,
        /// Whether a person must look at it.
        requires_attention: bool,
    },
    /// It is done.
    Complete {
        /// Which of its success criteria are met.
        success_criteria_met: Vec<String>,
    },
}

impl Decision for MoveTask {
    type Outcome = TaskId;

    fn name(&self) -> &'static str {
        match self.to {
            Move::Start => "task.start",
            Move::Block { .. } => "task.block",
            Move::Complete { .. } => "task.complete",
        }
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<TaskId, Stop> {
        if let Some(session_id) = self.session_id {
            // Says exactly what is wrong with the session; that it still is the agent's is checked at the append.
            desk.load::<Session>(session_id.0).await?.state.admit(self.by)?;
        }
        let command = self.command(desk.now());
        desk.run::<Task>(self.task_id.0, command).await?;
        Ok(self.task_id)
    }
}

impl MoveTask {
    fn command(&self, now: DateTime<Utc>) -> TaskCommand {
        let (by, session_id) = (self.by.agent_id, self.session_id);
        match self.to.clone() {
            Move::Start => TaskCommand::Start(StartTask { by, session_id, now }),
            Move::Block { blocker, severity, requires_attention } => {
                TaskCommand::Block(BlockTask { by, session_id, blocker, severity, requires_attention, now })
            }
            Move::Complete { success_criteria_met } => {
                TaskCommand::Complete(CompleteTask { by, session_id, success_criteria_met, now })
            }
        }
    }
}
