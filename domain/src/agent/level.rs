//! Levels: how far an agent reaches.

use serde::{Deserialize, Serialize};

use crate::ProjectId;

/// How far an agent reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentLevel {
    /// Works in every project of its workspace.
    Organization,
    /// Works in one project.
    Project,
}

impl AgentLevel {
    /// Whether an agent of this level has this project, or has none.
    pub fn fits(self, project: Option<ProjectId>) -> bool {
        match self {
            Self::Organization => project.is_none(),
            Self::Project => project.is_some(),
        }
    }
}
