//! An entry of the timeline, and who is mentioned in it.

use chrono::{DateTime, Utc};
use domain::{AgentId, ProjectId, TaskId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::Value;
use uuid::Uuid;

use super::content::Said;
use crate::{ActorType, Fact, Key, Record};

/// One entry, in the form of the document's event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The id of the event in the log.
    pub id: Uuid,
    /// One of [`TYPES`].
    #[serde(rename = "type")]
    pub kind: String,
    /// The agent or user who acted; none when Muster did.
    pub author_id: Option<Uuid>,
    /// The session it belongs to.
    pub session_id: Option<Uuid>,
    /// The project it belongs to.
    pub project_id: Option<ProjectId>,
    /// What happened, by type.
    pub content: serde_json::Value,
    /// Agents and users whom it concerns.
    pub mentions: Vec<Uuid>,
    /// Where it comes from.
    pub metadata: EntryMetadata,
    /// When it happened.
    pub timestamp: DateTime<Utc>,
    /// When it was recorded.
    pub created_at: DateTime<Utc>,
    /// The agent who acted, else the agent it is about: only to filter by.
    #[serde(skip)]
    pub(super) agent_id: Option<AgentId>,
    /// The task it is about: only to filter by.
    #[serde(skip)]
    pub(super) task_id: Option<TaskId>,
    /// The user whose name belongs into the content.
    #[serde(skip)]
    pub(super) named_user_id: Option<UserId>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryMetadata {
    /// Who acted.
    pub actor: EntryActor,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The place in the log.
    pub position: i64,
    /// The place in the stream.
    pub sequence: i64,
    /// What it happened to.
    pub aggregate: EntryAggregate,
    /// The command it came from.
    pub command_id: Option<String>,
    /// Shared by everything that followed from one request.
    pub correlation_id: Option<String>,
    /// The event that caused the command.
    pub causation_id: Option<String>,
    /// The trace of the request.
    pub trace_id: Option<String>,
}

/// Who acted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryActor {
    /// A user, an agent or Muster itself.
    #[serde(rename = "type")]
    pub kind: ActorType,
    /// The id, or the name of the part of Muster.
    pub id: Option<String>,
}

/// What an event happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryAggregate {
    /// The kind of aggregate.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which one.
    pub id: Uuid,
}

/// That an entry mentions an agent: what the agent's next pull finds it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mention {
    pub(super) agent_id: AgentId,
    pub(super) position: i64,
}

impl Entry {
    pub(super) fn of(fact: &Fact, kind: &str, workspace_id: WorkspaceId, said: Said) -> Self {
        let metadata = &fact.metadata;
        let users = said.users.iter().map(|it| it.0);
        Self {
            id: fact.event_id,
            kind: kind.to_owned(),
            author_id: metadata.author(),
            session_id: said.session.map(|it| it.0),
            project_id: said.project,
            mentions: said.agents.iter().map(|it| it.0).chain(users).collect(),
            content: said.content,
            metadata: EntryMetadata {
                actor: EntryActor { kind: metadata.actor_type, id: metadata.actor_id.clone() },
                workspace_id,
                position: fact.position,
                sequence: fact.sequence,
                aggregate: EntryAggregate { kind: fact.stream.aggregate_type.clone(), id: fact.subject },
                command_id: metadata.command_id.clone(),
                correlation_id: metadata.correlation_id.clone(),
                causation_id: metadata.causation_id.clone(),
                trace_id: metadata.trace_id.clone(),
            },
            timestamp: said.at,
            created_at: fact.recorded_at,
            agent_id: metadata.acting_agent().or(said.about),
            task_id: said.task,
            named_user_id: said.names,
        }
    }
}

impl Record for Entry {
    const TABLE: &'static str = "timeline";

    fn key(&self) -> Key {
        self.metadata.position.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            Value::id(self.id),
            Value::id(self.metadata.workspace_id.0),
            Value::id(self.project_id.map(|it| it.0)),
            Value::id(self.agent_id.map(|it| it.0)),
            Value::id(self.session_id),
            Value::id(self.task_id.map(|it| it.0)),
            Value::id(self.named_user_id.map(|it| it.0)),
            self.kind.as_str().into(),
        ]
    }
}

impl Record for Mention {
    const TABLE: &'static str = "timeline_mentions";

    fn key(&self) -> Key {
        (self.agent_id, self.position).into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}
