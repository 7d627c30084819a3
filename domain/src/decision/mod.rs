//! A decision that an agent, or Muster for it, put on record in words. What agents do by tools is in [`tool_call`](crate::tool_call).

mod log;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use log::{LONGEST_BODY, LONGEST_TITLE, LogDecision};

use crate::catalogue::event_kinds;
use crate::{AgentId, DecisionId, Demand, Entity, WorkspaceId};

/// The life of an entry in the decision log: it is written, and stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecisionEntry {
    /// Not written yet.
    #[default]
    Absent,
    /// On record.
    Logged {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
    },
}

/// What is asked of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionCommand {
    /// See [`LogDecision`].
    Log(LogDecision),
}

/// What happened to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecisionEvent {
    /// It is on record.
    DecisionLogged {
        /// Which entry it is.
        decision_id: DecisionId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// Whose decision it is; none when Muster decided for nobody in particular.
        agent_id: Option<AgentId>,
        /// What was decided.
        title: String,
        /// Why, and with what.
        body: String,
        /// When it happened.
        logged_at: DateTime<Utc>,
    },
}

event_kinds! { DecisionEvent of DecisionEntry {
    DecisionLogged "1" "An agent, or Muster for it, put a decision and its reasons on record." {
        text["title", "body"]
        plain[]
    }
}}

/// Why a command on an entry is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecisionError {
    /// A stream with this id has begun already.
    #[error("the decision is on record already")]
    AlreadyLogged,
    /// Nothing is left of its title without what is not text.
    #[error("the decision has no title")]
    Untitled,
}

impl DecisionEntry {
    fn decide(&self, command: DecisionCommand) -> Result<Vec<DecisionEvent>, DecisionError> {
        match command {
            DecisionCommand::Log(it) => log::decide(self, it),
        }
    }
}

impl Aggregate for DecisionEntry {
    const TYPE: &'static str = "decision";
    type Command = DecisionCommand;
    type Event = DecisionEvent;
    type Error = DecisionError;
    type Services = ();

    async fn handle(&mut self, command: DecisionCommand, (): &(), sink: &EventSink<Self>) -> Result<(), DecisionError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: DecisionEvent) {
        match event {
            DecisionEvent::DecisionLogged { workspace_id, .. } => *self = Self::Logged { workspace_id },
        }
    }
}

impl Entity for DecisionEntry {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Logged { workspace_id } => Some(*workspace_id),
        }
    }

    fn demands(&self, event: &DecisionEvent) -> Vec<Demand<DecisionError>> {
        match event {
            DecisionEvent::DecisionLogged { .. } => vec![],
        }
    }
}
