//! Parties: who acts, where both people and agents may.

use serde::{Deserialize, Serialize};

use crate::{AgentId, UserId};

/// A person or an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// A person.
    User(UserId),
    /// An agent.
    Agent(AgentId),
}
