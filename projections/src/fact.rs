//! A fact: one stored event as a projection sees it, decoded and with who caused it.

use chrono::{DateTime, Utc};
use domain::agent::AgentEvent;
use domain::decision::DecisionEvent;
use domain::epic::EpicEvent;
use domain::errand::ErrandEvent;
use domain::mail::MailEvent;
use domain::notification::NotificationEvent;
use domain::notification_settings::NotificationSettingsEvent;
use domain::post::PostEvent;
use domain::project::ProjectEvent;
use domain::pull_request::PullRequestEvent;
use domain::repository::RepositoryEvent;
use domain::scorecard::ScorecardEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
use domain::tool_call::ToolCallEvent;
use domain::user::UserEvent;
use domain::wiki::WikiEvent;
use domain::workspace::WorkspaceEvent;
use domain::{AgentId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::{EventLog, StoreError, StoredEvent, StreamId};
use uuid::Uuid;

/// The kind of stream that users have.
pub const USER: &str = UserEvent::KINDS[0].aggregate;
/// The kind of stream that workspaces have.
pub const WORKSPACE: &str = WorkspaceEvent::KINDS[0].aggregate;
/// The kind of stream that projects have.
pub const PROJECT: &str = ProjectEvent::KINDS[0].aggregate;
/// The kind of stream that agents have.
pub const AGENT: &str = AgentEvent::KINDS[0].aggregate;
/// The kind of stream that sessions have.
pub const SESSION: &str = SessionEvent::KINDS[0].aggregate;
/// The kind of stream that tasks have.
pub const TASK: &str = TaskEvent::KINDS[0].aggregate;
/// The kind of stream that wiki entries have.
pub const WIKI: &str = WikiEvent::KINDS[0].aggregate;
/// The kind of stream that scorecards have; its id is the agent's.
pub const SCORECARD: &str = ScorecardEvent::KINDS[0].aggregate;
/// The kind of stream that pull requests have.
pub const PULL_REQUEST: &str = PullRequestEvent::KINDS[0].aggregate;
/// The kind of stream that repositories have; its id is the project's.
pub const REPOSITORY: &str = RepositoryEvent::KINDS[0].aggregate;

/// The kind of stream that epics have.
pub const EPIC: &str = EpicEvent::KINDS[0].aggregate;
/// The kind of stream that posts in the factory have; its id is the agent's.
pub const POST: &str = PostEvent::KINDS[0].aggregate;
/// The kind of stream that errands have.
pub const ERRAND: &str = ErrandEvent::KINDS[0].aggregate;
/// The kind of stream that mails have.
pub const MAIL: &str = MailEvent::KINDS[0].aggregate;
/// The kind of stream that tool calls have.
pub const TOOL_CALL: &str = ToolCallEvent::KINDS[0].aggregate;
/// The kind of stream that entries of the decision log have.
pub const DECISION: &str = DecisionEvent::KINDS[0].aggregate;
/// The kind of stream that notifications have.
pub const NOTIFICATION: &str = NotificationEvent::KINDS[0].aggregate;
/// The kind of stream that settings for notifications have; its id is the user's.
pub const NOTIFICATION_SETTINGS: &str = NotificationSettingsEvent::KINDS[0].aggregate;

/// One stored event, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The place in the log.
    pub position: i64,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Which aggregate the stream is about.
    pub subject: Uuid,
    /// The place within the stream.
    pub sequence: i64,
    /// The event's id.
    pub event_id: Uuid,
    /// The event's stored name.
    pub event_type: String,
    /// The tenant it belongs to, if any.
    pub workspace_id: Option<WorkspaceId>,
    /// When it was committed.
    pub recorded_at: DateTime<Utc>,
    /// Who caused it, and in what connection.
    pub metadata: Metadata,
    /// What happened.
    pub of: FactOf,
}

/// What happened, by the kind of aggregate that it happened to.
#[derive(Debug, Clone, PartialEq)]
pub enum FactOf {
    /// To a user.
    User(UserEvent),
    /// To a workspace.
    Workspace(WorkspaceEvent),
    /// To a project.
    Project(ProjectEvent),
    /// To an agent.
    Agent(AgentEvent),
    /// To, or in, a session.
    Session(SessionEvent),
    /// To a task.
    Task(TaskEvent),
    /// To a wiki entry.
    Wiki(WikiEvent),
    /// To an agent's scorecard.
    Scorecard(ScorecardEvent),
    /// To a pull request.
    PullRequest(PullRequestEvent),
    /// In a repository.
    Repository(RepositoryEvent),
    /// To an epic.
    Epic(EpicEvent),
    /// To an agent at its post.
    Post(PostEvent),
    /// To an errand.
    Errand(ErrandEvent),
    /// To a mail.
    Mail(MailEvent),
    /// To a tool call.
    ToolCall(ToolCallEvent),
    /// To an entry of the decision log.
    Decision(DecisionEvent),
    /// To a notification.
    Notification(NotificationEvent),
    /// To a person's settings for notifications.
    NotificationSettings(NotificationSettingsEvent),
}

/// Who caused an event, and in what connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// What kind of actor it was.
    pub actor_type: ActorType,
    /// The id of the user or agent, or the name of the part of Muster.
    pub actor_id: Option<String>,
    /// The command that it came from.
    pub command_id: Option<String>,
    /// Shared by everything that followed from one request.
    pub correlation_id: Option<String>,
    /// The event that caused the command.
    pub causation_id: Option<String>,
    /// The trace of the request.
    pub trace_id: Option<String>,
}

/// What kind of actor caused an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorType {
    /// A person.
    User,
    /// An agent.
    Agent,
    /// Muster itself.
    #[default]
    System,
}

/// An event that a projection cannot apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event_type} at position {position} ({stream}): {reason}")]
pub struct Poison {
    /// Its place in the log.
    pub position: i64,
    /// Its stream.
    pub stream: StreamId,
    /// Its place in the stream.
    pub sequence: i64,
    /// Its stored name.
    pub event_type: String,
    /// What is wrong.
    pub reason: String,
}

/// Why a stream's facts could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// The log does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An event is not one that this code knows.
    #[error(transparent)]
    Poison(#[from] Poison),
}

/// A stream's facts, oldest first, as they stood at a position of the log.
pub async fn facts_of(log: &EventLog, stream: &StreamId, up_to: i64) -> Result<Vec<Fact>, FactsError> {
    let mut events = log.read_stream(stream, 1, None).await?;
    events.retain(|event| event.position <= up_to);
    Ok(events.into_iter().map(Fact::read).collect::<Result<_, _>>()?)
}

impl Fact {
    /// Decodes a stored event.
    pub fn read(stored: StoredEvent) -> Result<Self, Poison> {
        let decoded = decode(&stored);
        let poison = |reason| Poison {
            position: stored.position,
            stream: stored.stream.clone(),
            sequence: stored.sequence,
            event_type: stored.event_type.clone(),
            reason,
        };
        let (of, metadata, subject) = decoded.map_err(poison)?;
        Ok(Self {
            position: stored.position,
            stream: stored.stream,
            subject,
            sequence: stored.sequence,
            event_id: stored.event_id,
            event_type: stored.event_type,
            workspace_id: stored.workspace_id.map(WorkspaceId),
            recorded_at: store::from_micros(stored.recorded_at),
            metadata,
            of,
        })
    }

    /// The same fact as something that could not be applied.
    pub(crate) fn poison(&self, reason: impl ToString) -> Poison {
        Poison {
            position: self.position,
            stream: self.stream.clone(),
            sequence: self.sequence,
            event_type: self.event_type.clone(),
            reason: reason.to_string(),
        }
    }
}

impl Metadata {
    /// The user or agent who acted; none when Muster did.
    pub fn author(&self) -> Option<Uuid> {
        match self.actor_type {
            ActorType::User | ActorType::Agent => self.actor_id.as_deref().and_then(|id| Uuid::try_parse(id).ok()),
            ActorType::System => None,
        }
    }

    /// The agent who acted, if one did.
    pub fn acting_agent(&self) -> Option<AgentId> {
        self.author().filter(|_| self.actor_type == ActorType::Agent).map(AgentId)
    }
}

fn decode(stored: &StoredEvent) -> Result<(FactOf, Metadata, Uuid), String> {
    let (name, version, payload) = (&stored.event_type, &stored.event_version, &stored.payload);
    let of = match stored.stream.aggregate_type.as_str() {
        USER => FactOf::User(domain::decode(name, version, payload).map_err(explain)?),
        WORKSPACE => FactOf::Workspace(domain::decode(name, version, payload).map_err(explain)?),
        PROJECT => FactOf::Project(domain::decode(name, version, payload).map_err(explain)?),
        AGENT => FactOf::Agent(domain::decode(name, version, payload).map_err(explain)?),
        SESSION => FactOf::Session(domain::decode(name, version, payload).map_err(explain)?),
        TASK => FactOf::Task(domain::decode(name, version, payload).map_err(explain)?),
        WIKI => FactOf::Wiki(domain::decode(name, version, payload).map_err(explain)?),
        SCORECARD => FactOf::Scorecard(domain::decode(name, version, payload).map_err(explain)?),
        PULL_REQUEST => FactOf::PullRequest(domain::decode(name, version, payload).map_err(explain)?),
        REPOSITORY => FactOf::Repository(domain::decode(name, version, payload).map_err(explain)?),
        EPIC => FactOf::Epic(domain::decode(name, version, payload).map_err(explain)?),
        POST => FactOf::Post(domain::decode(name, version, payload).map_err(explain)?),
        ERRAND => FactOf::Errand(domain::decode(name, version, payload).map_err(explain)?),
        MAIL => FactOf::Mail(domain::decode(name, version, payload).map_err(explain)?),
        TOOL_CALL => FactOf::ToolCall(domain::decode(name, version, payload).map_err(explain)?),
        DECISION => FactOf::Decision(domain::decode(name, version, payload).map_err(explain)?),
        NOTIFICATION => FactOf::Notification(domain::decode(name, version, payload).map_err(explain)?),
        NOTIFICATION_SETTINGS => FactOf::NotificationSettings(domain::decode(name, version, payload).map_err(explain)?),
        unknown => return Err(format!("this muster knows no streams of the kind {unknown}")),
    };
    let metadata = serde_json::from_str(&stored.metadata).map_err(|e| format!("its metadata cannot be read: {e}"))?;
    let id = &stored.stream.aggregate_id;
    let subject = Uuid::try_parse(id).map_err(|_| format!("its stream is named by no id: {id:?}"))?;
    Ok((of, metadata, subject))
}

fn explain(error: domain::DecodeError) -> String {
    match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
