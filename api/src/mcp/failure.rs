//! How a tool fails: an answer that the agent can do something with, and whether to try again or to call for help.

use serde::Serialize;
use serde_json::{Value, json};

use super::bench::BenchError;
use crate::code::Code;
use crate::error::ApiError;

/// The bench will not do it, or could not.
pub(super) const BENCH_REFUSED: &str = "BENCH_REFUSED";
/// The bench is busy with something else.
pub(super) const BENCH_BUSY: &str = "BENCH_BUSY";
/// The bench that has the worktree is not on this node.
pub(super) const BENCH_NOT_HERE: &str = "BENCH_NOT_HERE";
/// The bench is still at it; calling again waits for the same.
pub(super) const STILL_GOING_ON: &str = "STILL_GOING_ON";
/// The rebase was undone, because files are in conflict.
pub(super) const REBASE_CONFLICT: &str = "REBASE_CONFLICT";
/// The pull request cannot be merged as it is.
pub(super) const MERGE_CONFLICT: &str = "MERGE_CONFLICT";
/// The agent has no such thing: a supervisor no task, an orchestrator no epic.
pub(super) const NOT_YOURS: &str = "NOT_YOURS";

/// What the agent is told of a failure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Told {
    /// Always false.
    success: bool,
    /// What went wrong.
    pub(super) error: String,
    /// The same, for programs.
    code: &'static str,
    /// More, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<String>,
}

/// Why a tool has nothing to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Failure {
    /// It may not be called, or not like this: nothing was tried.
    NotCalled(Told),
    /// A rule or the bench says no.
    Refused(Told),
    /// It was done and did not succeed, which its output says itself.
    Unsuccessful {
        /// Of the form of the tool's output.
        output: Value,
        /// The same in words.
        told: Told,
    },
    /// Something that passes by itself.
    Passing(Told),
    /// The bench is still at it.
    GoingOn(Told),
    /// Whoever did not want it any more called it off.
    CalledOff(Told),
    /// Something that should not happen; the cause is in our log alone.
    Unexpected(Told),
}

impl Told {
    pub(super) fn new(code: &'static str, error: impl Into<String>) -> Self {
        Self { success: false, error: error.into(), code, details: None }
    }

    pub(super) fn with(self, details: impl Into<String>) -> Self {
        Self { details: Some(details.into()), ..self }
    }
}

impl Failure {
    /// No by a rule of the tool itself.
    pub(super) fn refused(code: Code, error: impl Into<String>) -> Self {
        Self::Refused(Told::new(code.text(), error))
    }

    /// Something that should not happen.
    pub(super) fn unexpected(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "a tool failed");
        Self::Unexpected(Told::new(Code::InternalError.text(), "Internal tool error"))
    }

    /// Whether anybody but the agent may have to hear of it.
    pub(super) fn escalates(&self) -> bool {
        match self {
            Self::NotCalled(_) | Self::GoingOn(_) | Self::CalledOff(_) => false,
            Self::Refused(_) | Self::Unsuccessful { .. } | Self::Passing(_) | Self::Unexpected(_) => true,
        }
    }

    /// What the agent is told.
    pub(super) fn told(&self) -> &Told {
        match self {
            Self::NotCalled(told)
            | Self::Refused(told)
            | Self::Unsuccessful { told, .. }
            | Self::Passing(told)
            | Self::GoingOn(told)
            | Self::CalledOff(told)
            | Self::Unexpected(told) => told,
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let (code, message, details) = error.told();
        let told = Told { details: details.map(in_words), ..Told::new(code.text(), message) };
        if error.is(Code::InternalError) {
            // Its cause was logged where it was found.
            return Self::Unexpected(Told::new(code.text(), "Internal tool error"));
        }
        // Other work on the same branch ends by itself, too.
        let passing = [Code::Unavailable, Code::ConcurrencyConflict, Code::RateLimited, Code::ErrandUnderway];
        if passing.iter().any(|it| error.is(*it)) {
            return Self::Passing(told);
        }
        Self::Refused(told)
    }
}

impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        ApiError::from(error).into()
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Refused(text) => Self::Refused(Told::new(BENCH_REFUSED, text)),
            BenchError::Busy(text) => Self::Passing(Told::new(BENCH_BUSY, text)),
            BenchError::Broken(cause) => Self::unexpected(&cause),
        }
    }
}

/// `[{"field": "title", "message": "is required"}]` as `title is required`; anything else as JSON.
fn in_words(details: &Value) -> String {
    let complaint = |it: &Value| Some(format!("{} {}", it.get("field")?.as_str()?, it.get("message")?.as_str()?));
    let complaints: Option<Vec<String>> = details.as_array().and_then(|all| all.iter().map(complaint).collect());
    complaints.map_or_else(|| details.to_string(), |all| all.join("; "))
}

/// As the agent reads it.
impl From<&Told> for Value {
    fn from(told: &Told) -> Self {
        serde_json::to_value(told).unwrap_or_else(|_| json!({ "success": false }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BadField;

    #[test]
    fn a_refusal_keeps_its_words_and_a_fault_none() {
        let bad = ApiError::validation(vec![BadField::new("title", "is required"), BadField::new("x", "is not known")]);
        let told = Value::from(Failure::from(bad).told());
        let wanted = json!({ "success": false, "error": "the request is not valid", "code": "VALIDATION_ERROR",
            "details": "title is required; x is not known" });
        assert_eq!(told, wanted);
        let fault = Failure::from(ApiError::fault("the disk is on fire"));
        assert!(matches!(&fault, Failure::Unexpected(told) if told.error == "Internal tool error"));
    }

    #[test]
    fn only_what_passes_by_itself_is_tried_again() {
        assert!(matches!(Failure::from(ApiError::unavailable("x")), Failure::Passing(_)));
        assert!(matches!(Failure::from(BenchError::Busy("x".into())), Failure::Passing(_)));
        assert!(matches!(Failure::from(BenchError::Refused("x".into())), Failure::Refused(_)));
        assert!(matches!(Failure::from(BenchError::Broken("x".into())), Failure::Unexpected(_)));
        assert!(matches!(Failure::from(ApiError::new(Code::TaskNotFound, "x")), Failure::Refused(_)));
    }
}
