//! What happens to an errand.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Errand, Work, WorkResult};
use crate::catalogue::event_kinds;
use crate::{ErrandId, Slug, WorkspaceId};

/// What happened to an errand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrandEvent {
    /// Something is to be done outside.
    ErrandOrdered {
        /// Which errand it is.
        errand_id: ErrandId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The bench that is to do it.
        bench: Slug,
        /// What is to be done.
        work: Work,
        /// When it happened.
        ordered_at: DateTime<Utc>,
    },
    /// It was tried in vain, and will be again.
    ErrandTried {
        /// The how-manieth time.
        attempt: u32,
        /// What went wrong.
        error: String,
        /// When it is to be tried again.
        retry_at: DateTime<Utc>,
        /// When it happened.
        tried_at: DateTime<Utc>,
    },
    /// It was done.
    ErrandDone {
        /// What came of it.
        result: WorkResult,
        /// When it happened.
        done_at: DateTime<Utc>,
    },
    /// It cannot be done.
    ErrandFailed {
        /// What went wrong.
        error: String,
        /// What else is known.
        details: Option<String>,
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
    /// Nobody wants it any more.
    ErrandCancelled {
        /// Why.
        reason: String,
        /// When it happened.
        cancelled_at: DateTime<Utc>,
    },
}

event_kinds! { ErrandEvent of Errand {
    ErrandOrdered "1" "Something is to be done outside, on a bench." {
        text["work.title", "work.description"]
        plain["bench", "work.kind", "work.tmux_session"]
    }
    ErrandTried "1" "An errand was tried in vain and will be tried again." {
        text["error"]
        plain[]
    }
    ErrandDone "2" "An errand was done." {
        text["result.files"]
        plain["result.kind", "result.pr_url", "result.head", "result.merge_commit"]
    }
    ErrandFailed "1" "An errand cannot be done." {
        text["error", "details"]
        plain[]
    }
    ErrandCancelled "1" "An errand is no longer wanted." {
        text["reason"]
        plain[]
    }
}}
