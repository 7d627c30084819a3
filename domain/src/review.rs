//! Reviews: what a reviewer says of a pull request.

use serde::{Deserialize, Serialize};

/// What a reviewer says of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// It may be merged.
    Approve,
    /// It may not be merged as it is.
    RequestChanges,
    /// Neither: only words.
    Comment,
}
