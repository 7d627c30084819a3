//! Kinds and states of the factory's agents.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an agent does in the factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentKind {
    /// Looks after the supervisors of a workspace.
    Orchestrator,
    /// Looks after an epic and its workers.
    Supervisor,
    /// Does a task.
    Worker,
}

impl AgentKind {
    /// Every kind, from the top.
    pub const ALL: [Self; 3] = [Self::Orchestrator, Self::Supervisor, Self::Worker];

    /// The kind in small letters, for names of agents and sessions.
    pub fn in_small_letters(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::Supervisor => "supervisor",
            Self::Worker => "worker",
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Orchestrator => "ORCHESTRATOR",
            Self::Supervisor => "SUPERVISOR",
            Self::Worker => "WORKER",
        })
    }
}

/// How an agent stands in the factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PostState {
    /// At its post.
    InProgress,
    /// Its work is over.
    Done,
    /// Dead, and replaced or given up.
    Failed,
}

impl fmt::Display for PostState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Done => "DONE",
            Self::Failed => "FAILED",
        })
    }
}

/// How an agent's work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEnd {
    /// What it was made for is done.
    Success,
    /// What it was made for failed, through no death of its own.
    Failure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_states_read_as_they_are_stored() {
        for kind in AgentKind::ALL {
            assert_eq!(serde_json::to_string(&kind).expect("JSON"), format!("\"{kind}\""));
        }
        for state in [PostState::InProgress, PostState::Done, PostState::Failed] {
            assert_eq!(serde_json::to_string(&state).expect("JSON"), format!("\"{state}\""));
        }
    }
}
