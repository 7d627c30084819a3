//! Refusals of what agents and people say: mail, tool calls, decisions and notifications.

use domain::decision::DecisionError;
use domain::mail::MailError;
use domain::notification::NotificationError;
use domain::notification_settings::NotificationSettingsError;
use domain::tool_call::ToolCallError;

use super::{ApiError, BadField};
use crate::code::Code;

impl From<MailError> for ApiError {
    fn from(refusal: MailError) -> Self {
        let code = match refusal {
            MailError::NotFound => Code::MailNotFound,
            MailError::AlreadyExists => Code::ConcurrencyConflict,
            MailError::AccessDenied => Code::MailAccessDenied,
            MailError::NotAddressee => Code::MailNotAddressee,
            MailError::Empty => Code::MailEmpty,
            MailError::NoReply => Code::MailNoReply,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<ToolCallError> for ApiError {
    fn from(refusal: ToolCallError) -> Self {
        match refusal {
            ToolCallError::AlreadyCalled | ToolCallError::AlreadyEnded => {
                Self::new(Code::ConcurrencyConflict, refusal.to_string())
            }
            // Muster ends only what it began.
            ToolCallError::NotFound => Self::fault(refusal),
        }
    }
}

impl From<DecisionError> for ApiError {
    fn from(refusal: DecisionError) -> Self {
        match refusal {
            DecisionError::AlreadyLogged => Self::new(Code::ConcurrencyConflict, refusal.to_string()),
            DecisionError::Untitled => Self::validation(vec![BadField::new("title", refusal.to_string())]),
        }
    }
}

impl From<NotificationError> for ApiError {
    fn from(refusal: NotificationError) -> Self {
        match refusal {
            NotificationError::AlreadyRaised | NotificationError::TakenBy(_) => {
                Self::new(Code::ConcurrencyConflict, refusal.to_string())
            }
            // No request names a notification; what reactors name is there.
            NotificationError::NotFound => Self::fault(refusal),
        }
    }
}

impl From<NotificationSettingsError> for ApiError {
    fn from(refusal: NotificationSettingsError) -> Self {
        let field = match refusal {
            NotificationSettingsError::WebhookMissing => "webhookUrl",
            NotificationSettingsError::SoundMissing => "soundFile",
            NotificationSettingsError::OffsetOutOfRange => "utcOffsetMinutes",
        };
        Self::validation(vec![BadField::new(field, refusal.to_string())])
    }
}
