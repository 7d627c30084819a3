//! Why a forge did not do as asked, and whether and when to ask again.

use std::time::Duration;

use crate::git::GitError;

/// What went wrong, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    /// Not the address of a pull request here.
    #[error("{0:?} is no pull request of this repository")]
    NotOurs(String),
    /// Not an id that fits into an address.
    #[error("{0:?} is no id")]
    BadId(String),
    /// The token is wrong, too old, or may not do this.
    #[error("the forge does not let us ({status}): {message}")]
    NotAllowed {
        /// 401 or 403.
        status: u16,
        /// The forge's words.
        message: String,
    },
    /// The forge understood and will not.
    #[error("the forge refuses ({status}): {message}")]
    Refused {
        /// Such as 404, 405, 409, 422.
        status: u16,
        /// The forge's words.
        message: String,
    },
    /// Too many requests, or trouble over there.
    #[error("the forge is busy ({status}): {message}")]
    Busy {
        /// 429, 403 with a limit, or 5xx.
        status: u16,
        /// The forge's words.
        message: String,
        /// When to ask again, if the forge said so.
        retry_after: Option<Duration>,
    },
    /// No answer.
    #[error("the forge could not be reached: {0}")]
    Unreachable(String),
    /// An answer that makes no sense.
    #[error("the forge's answer makes no sense: {0}")]
    BadAnswer(String),
    /// The settings cannot work.
    #[error("the forge's settings cannot work: {0}")]
    BadSettings(String),
    /// The repository here.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl ForgeError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Unreachable(_) => true,
            Self::Git(it) => it.is_transient(),
            Self::NotOurs(_)
            | Self::BadId(_)
            | Self::NotAllowed { .. }
            | Self::Refused { .. }
            | Self::BadAnswer(_)
            | Self::BadSettings(_) => false,
        }
    }

    /// When to try again, if the forge said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
