//! How a command ends when it does not land: refused, outrun, repeated wrongly, or failed.

use domain::agent::AgentError;
use domain::decision::DecisionError;
use domain::epic::EpicError;
use domain::errand::ErrandError;
use domain::mail::MailError;
use domain::notification::NotificationError;
use domain::notification_settings::NotificationSettingsError;
use domain::post::PostError;
use domain::project::ProjectError;
use domain::pull_request::PullRequestError;
use domain::repository::RepositoryError;
use domain::scorecard::ScorecardError;
use domain::session::SessionError;
use domain::task::TaskError;
use domain::tool_call::ToolCallError;
use domain::user::UserError;
use domain::wiki::WikiError;
use domain::workspace::WorkspaceError;
use store::StoreError;

/// A rule that says no. Nothing was written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A rule of users.
    #[error(transparent)]
    User(#[from] UserError),
    /// A rule of workspaces.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A rule of projects.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A rule of agents.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A rule of sessions.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A rule of tasks.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A rule of wiki entries.
    #[error(transparent)]
    Wiki(#[from] WikiError),
    /// A rule of scorecards.
    #[error(transparent)]
    Scorecard(#[from] ScorecardError),
    /// A rule of pull requests.
    #[error(transparent)]
    PullRequest(#[from] PullRequestError),
    /// A rule of repositories.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A rule of epics.
    #[error(transparent)]
    Epic(#[from] EpicError),
    /// A rule of posts in the factory.
    #[error(transparent)]
    Post(#[from] PostError),
    /// A rule of errands.
    #[error(transparent)]
    Errand(#[from] ErrandError),
    /// A rule of mail.
    #[error(transparent)]
    Mail(#[from] MailError),
    /// A rule of tool calls.
    #[error(transparent)]
    ToolCall(#[from] ToolCallError),
    /// A rule of the decision log.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// A rule of notifications.
    #[error(transparent)]
    Notification(#[from] NotificationError),
    /// A rule of settings for notifications.
    #[error(transparent)]
    NotificationSettings(#[from] NotificationSettingsError),
    /// Another account has this e-mail address.
    #[error("this e-mail address belongs to an account")]
    EmailTaken,
    /// The GitHub identity opens another account.
    #[error("this GitHub identity belongs to an account")]
    GithubIdentityTaken,
}

/// Why a decision did not come to an end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Stop {
    /// A rule says no.
    #[error(transparent)]
    Refused(Refusal),
    /// The store could not be read.
    #[error(transparent)]
    Fault(#[from] StoreError),
}

impl<E: Into<Refusal>> From<E> for Stop {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Why a command did not land.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// A rule says no.
    #[error(transparent)]
    Refused(Refusal),
    /// Other commands were faster, again and again.
    #[error("other changes came first; read and try again")]
    Conflict,
    /// The key was used for another request.
    #[error("this idempotency key was used for another request")]
    KeyReused,
    /// The same command is being run now.
    #[error("a request with this idempotency key is being answered now")]
    InFlight,
    /// The store does not answer. Whether the command landed is not known; a repeat under the same key tells.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Something is broken here.
    #[error("{0}")]
    Fault(String),
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(what) => Self::Unavailable(what),
            other => Self::Fault(other.to_string()),
        }
    }
}
