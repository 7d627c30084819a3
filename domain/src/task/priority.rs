//! Priorities: what comes first.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What comes first; `P0` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Priority {
    /// Before everything.
    P0,
    /// Before most.
    P1,
    /// In its turn.
    #[default]
    P2,
    /// When there is time.
    P3,
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
        })
    }
}
