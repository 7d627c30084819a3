//! Errors as clients see them: one body, one place where refusals become statuses and codes, and nothing leaked.

mod factory;
mod talk;

use aide::OperationOutput;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use commands::{CommandError, Refusal};
use domain::agent::AgentError;
use domain::project::ProjectError;
use domain::pull_request::PullRequestError;
use domain::scorecard::ScorecardError;
use domain::session::SessionError;
use domain::task::TaskError;
use domain::user::UserError;
use domain::wiki::WikiError;
use domain::workspace::WorkspaceError;
use projections::FactsError;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{CommitError, StoreError};

use crate::code::Code;

/// How long a client should wait for a store that does not answer.
const UNAVAILABLE_RETRY_SECONDS: u64 = 1;

/// An answer that says no.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}: {message}", .code.text())]
pub struct ApiError {
    code: Code,
    message: String,
    details: Option<Value>,
    retry_after_seconds: Option<u64>,
}

/// The body of every error.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    error: ErrorContent,
}

#[derive(Serialize, JsonSchema)]
struct ErrorContent {
    /// What went wrong, for programs.
    code: String,
    /// What went wrong, for people.
    message: String,
    /// More, where there is more: for `VALIDATION_ERROR` a list of `{field, message}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    /// When.
    timestamp: DateTime<Utc>,
}

/// One field of a request that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct BadField {
    /// Its name, with a dot before each inner name.
    pub(crate) field: String,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl BadField {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None, retry_after_seconds: None }
    }

    /// All fields of a request that are not as they must be.
    pub(crate) fn validation(fields: Vec<BadField>) -> Self {
        Self::bad_fields(Code::ValidationError, "the request is not valid", fields)
    }

    pub(crate) fn bad_fields(code: Code, message: &str, fields: Vec<BadField>) -> Self {
        let details = serde_json::to_value(fields).expect("a list of texts is always JSON");
        Self { details: Some(details), ..Self::new(code, message) }
    }

    pub(crate) fn rate_limited(retry_after_seconds: u64) -> Self {
        let message = format!("too many requests; try again in {retry_after_seconds} s");
        Self { retry_after_seconds: Some(retry_after_seconds), ..Self::new(Code::RateLimited, message) }
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        let retry_after_seconds = Some(UNAVAILABLE_RETRY_SECONDS);
        Self { retry_after_seconds, ..Self::new(Code::Unavailable, message) }
    }

    /// Something is broken here: the log gets the cause, the client gets none of it.
    pub(crate) fn fault(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "a request failed");
        Self::new(Code::InternalError, "something went wrong on our side")
    }

    /// Whether it says this.
    pub(crate) fn is(&self, code: Code) -> bool {
        self.code == code
    }

    /// What it says: its code, its words, and more where there is more.
    pub(crate) fn told(&self) -> (Code, &str, Option<&Value>) {
        (self.code, &self.message, self.details.as_ref())
    }

    /// Whether the fault is on our side, so that it says nothing of the caller.
    pub(crate) fn is_ours(&self) -> bool {
        self.code.status().is_server_error()
    }

    fn store_unavailable(cause: &str) -> Self {
        tracing::warn!(cause, "the store is unavailable");
        Self::unavailable("the store is unavailable; try again")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            // The scheme has no registered name; browsers must not open their own password box for it.
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Session"));
        }
        let error = ErrorContent {
            code: self.code.text().to_owned(),
            message: self.message,
            details: self.details,
            timestamp: Utc::now(),
        };
        (self.code.status(), headers, Json(ErrorBody { error })).into_response()
    }
}

// Which errors a route has is documented by its extractors and its row in the route table.
impl OperationOutput for ApiError {
    type Inner = ();
}

impl From<CommandError> for ApiError {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Refused(refusal) => refusal.into(),
            CommandError::Conflict => Self::new(Code::ConcurrencyConflict, error.to_string()),
            CommandError::KeyReused => Self::new(Code::IdempotencyKeyReused, error.to_string()),
            CommandError::InFlight => Self::new(Code::ConcurrencyConflict, error.to_string()),
            CommandError::Unavailable(cause) => Self::store_unavailable(&cause),
            CommandError::Fault(cause) => Self::fault(cause),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::User(it) => it.into(),
            Refusal::Workspace(it) => it.into(),
            Refusal::Project(it) => it.into(),
            Refusal::Agent(it) => it.into(),
            Refusal::Session(it) => it.into(),
            Refusal::Task(it) => it.into(),
            Refusal::Wiki(it) => it.into(),
            Refusal::Epic(it) => it.into(),
            Refusal::Post(it) => it.into(),
            Refusal::Errand(it) => it.into(),
            Refusal::Scorecard(it) => it.into(),
            Refusal::PullRequest(PullRequestError::NotFound) => Self::fault(refusal),
            Refusal::Repository(it) => match it {},
            Refusal::Mail(it) => it.into(),
            Refusal::ToolCall(it) => it.into(),
            Refusal::Decision(it) => it.into(),
            Refusal::Notification(it) => it.into(),
            Refusal::NotificationSettings(it) => it.into(),
            Refusal::EmailTaken => Self::new(Code::AuthEmailAlreadyExists, refusal.to_string()),
            Refusal::GithubIdentityTaken => Self::new(Code::ConcurrencyConflict, refusal.to_string()),
        }
    }
}

impl From<UserError> for ApiError {
    fn from(refusal: UserError) -> Self {
        match refusal {
            UserError::NotFound => Self::new(Code::AuthInvalidToken, refusal.to_string()),
            UserError::AlreadySignedUp => Self::new(Code::ConcurrencyConflict, refusal.to_string()),
        }
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(refusal: WorkspaceError) -> Self {
        let code = match refusal {
            WorkspaceError::NotFound => Code::WorkspaceNotFound,
            WorkspaceError::AlreadyExists => Code::ConcurrencyConflict,
            WorkspaceError::AccessDenied => Code::WorkspaceAccessDenied,
            WorkspaceError::SlugTaken(_) => Code::WorkspaceSlugAlreadyExists,
            WorkspaceError::NotEmpty => Code::WorkspaceNotEmpty,
            // No route erases; the command line does.
            WorkspaceError::TextNotSealed => Code::InternalError,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<ProjectError> for ApiError {
    fn from(refusal: ProjectError) -> Self {
        let code = match refusal {
            ProjectError::NotFound => Code::ProjectNotFound,
            ProjectError::AlreadyExists => Code::ConcurrencyConflict,
            ProjectError::AccessDenied => Code::ProjectAccessDenied,
            ProjectError::SlugTaken(_) => Code::ProjectSlugAlreadyExists,
            ProjectError::RepositoryLinked(_) => Code::ProjectRepositoryAlreadyLinked,
            ProjectError::InvalidGithubInstallation(_) => Code::ProjectInvalidGithubInstallation,
            ProjectError::HasActiveAgents => Code::ProjectHasActiveAgents,
            ProjectError::HasActiveTasks => Code::ProjectHasActiveTasks,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<AgentError> for ApiError {
    fn from(refusal: AgentError) -> Self {
        let code = match refusal {
            AgentError::NotFound => Code::AgentNotFound,
            AgentError::AlreadyExists => Code::ConcurrencyConflict,
            AgentError::AccessDenied => Code::AgentAccessDenied,
            AgentError::CodeTaken(_) => Code::AgentCodeAlreadyExists,
            AgentError::InvalidLevel => Code::AgentInvalidLevel,
            AgentError::HasActiveSession => Code::AgentHasActiveSession,
            AgentError::HasAssignedTasks => Code::AgentHasAssignedTasks,
            AgentError::SupervisorIsSelf => {
                return Self::validation(vec![BadField::new("supervisorAgentId", refusal.to_string())]);
            }
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<SessionError> for ApiError {
    fn from(refusal: SessionError) -> Self {
        let bad = |field: &str| Self::validation(vec![BadField::new(field, refusal.to_string())]);
        let code = match &refusal {
            SessionError::NotFound => Code::SessionNotFound,
            SessionError::AlreadyExists => Code::ConcurrencyConflict,
            SessionError::AccessDenied => Code::SessionAccessDenied,
            SessionError::Mismatch => Code::AgentSessionMismatch,
            SessionError::AlreadyStopped => Code::SessionAlreadyStopped,
            SessionError::AgentHasActiveSession => Code::AgentHasActiveSession,
            SessionError::AgentInactive(_) => Code::AgentInactive,
            SessionError::ProjectAccessDenied => Code::ProjectAccessDenied,
            SessionError::NotOrganizationLevel => Code::AgentNotOrganizationLevel,
            SessionError::SpeaksForAnother(_) => return bad("content"),
            SessionError::UnknownMention(_) => return bad("mentions"),
            SessionError::UnknownTask(_) => return bad("tasksWorkedOn"),
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<TaskError> for ApiError {
    fn from(refusal: TaskError) -> Self {
        let code = match &refusal {
            TaskError::NotFound => Code::TaskNotFound,
            TaskError::AlreadyExists => Code::ConcurrencyConflict,
            TaskError::AccessDenied => Code::TaskAccessDenied,
            TaskError::AlreadyLinked(_) => Code::TaskAlreadyExists,
            TaskError::InvalidTransition { from, to } => {
                let details = Some(serde_json::json!({"from": from, "to": to}));
                return Self { details, ..Self::new(Code::TaskInvalidTransition, refusal.to_string()) };
            }
            TaskError::InvalidAgentAssignment => Code::TaskInvalidAgentAssignment,
            TaskError::AgentInactive(_) => Code::AgentInactive,
            TaskError::SessionOver(_) => Code::SessionAlreadyStopped,
            TaskError::InEpic(_) => Code::TaskInEpic,
            TaskError::NotInEpic => Code::TaskNotInEpic,
            TaskError::InvalidFactoryTransition { from, to } => {
                let details = Some(serde_json::json!({"from": from, "to": to}));
                return Self { details, ..Self::new(Code::TaskInvalidStateTransition, refusal.to_string()) };
            }
            TaskError::HasWorker(_) | TaskError::WorktreeTaken(_) => Code::ConcurrencyConflict,
            TaskError::OtherPullRequest(_) => Code::TaskPullRequestMismatch,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<WikiError> for ApiError {
    fn from(refusal: WikiError) -> Self {
        let code = match refusal {
            WikiError::NotFound => Code::WikiEntryNotFound,
            WikiError::AlreadyExists => Code::ConcurrencyConflict,
            WikiError::AccessDenied => Code::WikiEntryAccessDenied,
            WikiError::NotOrganizationLevel => Code::AgentNotOrganizationLevel,
            WikiError::SlugTaken(_) => Code::WikiEntrySlugAlreadyExists,
            WikiError::AlreadyApproved => Code::WikiEntryAlreadyApproved,
            WikiError::AlreadyRejected => Code::WikiEntryAlreadyRejected,
            WikiError::NotCurrent => Code::WikiEntryNotCurrent,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<ScorecardError> for ApiError {
    fn from(refusal: ScorecardError) -> Self {
        let code = match refusal {
            ScorecardError::NotFound => Code::KpiNotFound,
            ScorecardError::Outdated { .. } => Code::ConcurrencyConflict,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(cause) => Self::store_unavailable(&cause),
            other => Self::fault(other),
        }
    }
}

impl From<FactsError> for ApiError {
    fn from(error: FactsError) -> Self {
        match error {
            FactsError::Store(it) => it.into(),
            FactsError::Poison(it) => Self::fault(it),
        }
    }
}

/// For commits of rows alone, which break no rule of the domain.
impl From<CommitError> for ApiError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Unavailable(cause) => Self::store_unavailable(&cause),
            other => Self::fault(other),
        }
    }
}
