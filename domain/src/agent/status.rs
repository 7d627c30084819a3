//! Statuses: whether an agent may work.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether an agent may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentStatus {
    /// Works as usual.
    Active,
    /// Works, under watch.
    Probation,
    /// Does not work for now.
    Inactive,
    /// Does not work any more.
    Terminated,
}

impl AgentStatus {
    /// Whether an agent of this status may start sessions and be given tasks.
    pub fn may_work(self) -> bool {
        match self {
            Self::Active | Self::Probation => true,
            Self::Inactive | Self::Terminated => false,
        }
    }
}

impl fmt::Display for AgentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Probation => "probation",
            Self::Inactive => "inactive",
            Self::Terminated => "terminated",
        })
    }
}
