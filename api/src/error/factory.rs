//! Refusals of the factory: epics, posts and errands.

use domain::epic::EpicError;
use domain::errand::ErrandError;
use domain::post::PostError;
use serde_json::json;

use super::ApiError;
use crate::code::Code;

impl From<EpicError> for ApiError {
    fn from(refusal: EpicError) -> Self {
        let with = |code, details| Self { details: Some(details), ..Self::new(code, refusal.to_string()) };
        let code = match &refusal {
            EpicError::NotFound => Code::EpicNotFound,
            // A supervisor that is not the epic's any more was outrun by its successor.
            EpicError::AlreadyExists | EpicError::WorktreeTaken(_) | EpicError::HasSupervisor(_) => {
                Code::ConcurrencyConflict
            }
            EpicError::AccessDenied | EpicError::NotSupervisor => Code::EpicAccessDenied,
            EpicError::InvalidTransition { from, to } => {
                return with(Code::EpicInvalidStateTransition, json!({ "from": from, "to": to }));
            }
            EpicError::NotInProgress(state) => return with(Code::EpicNotInProgress, json!({ "state": state })),
            EpicError::UnknownTask(_) => Code::TaskNotInEpic,
            EpicError::NotFirstInQueue { first } => return with(Code::EpicNotFirstInQueue, json!({ "first": first })),
            EpicError::TasksOpen(open) => return with(Code::EpicTasksOpen, json!({ "open": open })),
            EpicError::NothingMerged => Code::EpicNothingMerged,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<PostError> for ApiError {
    fn from(refusal: PostError) -> Self {
        let code = match &refusal {
            PostError::NotPosted => Code::AgentNotPosted,
            PostError::AlreadyPosted | PostError::SeatTaken(_) => Code::ConcurrencyConflict,
            PostError::Relieved { .. } | PostError::Discharged => Code::AgentRelieved,
            PostError::LaunchUnderway => Code::ErrandUnderway,
            PostError::AlreadyLaunched => Code::AgentAlreadyLaunched,
            PostError::WrongKind { .. } | PostError::AccessDenied => Code::AgentAccessDenied,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<ErrandError> for ApiError {
    fn from(refusal: ErrandError) -> Self {
        let code = match &refusal {
            ErrandError::AlreadyExists => Code::ConcurrencyConflict,
            ErrandError::Underway(_) => Code::ErrandUnderway,
            // Only a bench ends errands, and no route is one.
            ErrandError::NotFound | ErrandError::Cancelled | ErrandError::Over | ErrandError::WrongResult(_) => {
                Code::InternalError
            }
        };
        Self::new(code, refusal.to_string())
    }
}
