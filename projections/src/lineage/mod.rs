//! Lineage: one row per event that says whose it is and what it came from, so that causes can be followed both ways.
//!
//! An event has at most one direct cause, the first of these that it has:
//!
//! - the event that began its command, if that command recorded several ([`Relation::Command`]);
//! - the event that a reactor reacted to ([`Relation::Reaction`]);
//! - the start of the session that it happened in ([`Relation::Session`]).
//!
//! What has none came from a request. It is also how the events of a workspace are found, without an index on the
//! log itself that every append would pay for.

mod queries;
mod tree;

use domain::task::TaskEvent;
use domain::{SessionId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::{Holds, Table, Value};
use uuid::Uuid;

use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Record, RowKey, Rows};

pub use queries::{at, count_of, positions_of};
pub use tree::{Affected, Bounds, Cut, Node, Relation, Tree, causes, effects};

/// The projection's name.
pub const NAME: &str = "lineage";

/// Whose an event is and what it came from. All of it is in columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The place in the log.
    pub position: i64,
    /// The tenant it belongs to, if any.
    #[serde(skip)]
    pub workspace_id: Option<WorkspaceId>,
    /// The event's id.
    #[serde(skip)]
    pub event_id: Uuid,
    /// The id of the event that a reactor reacted to.
    #[serde(skip)]
    pub cause_id: Option<Uuid>,
    /// The command that it came from; events of one command stand side by side.
    #[serde(skip)]
    pub command_id: Option<String>,
    /// The session that it happened in, if it is not the session's own.
    #[serde(skip)]
    pub session_id: Option<SessionId>,
}

/// Notes of every event what it came from.
#[derive(Debug, Clone, Copy)]
pub struct Lineage;

impl Projection for Lineage {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(Link::TABLE)
            .key("position", Holds::Int)
            .optional("workspace_id", Holds::Id)
            .required("event_id", Holds::Id)
            .optional("cause_id", Holds::Id)
            .optional("command_id", Holds::Text)
            .optional("session_id", Holds::Id)
            .written_once()
            .index(&["workspace_id", "position"])
            .index(&["event_id"])
            .index(&["cause_id", "position"])
            .index(&["session_id", "position"]);
        vec![table.finish()]
    }

    fn touches(&self, _: &Fact) -> Vec<RowKey> {
        vec![]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        rows.add(Link {
            position: fact.position,
            workspace_id: fact.workspace_id,
            event_id: fact.event_id,
            cause_id: fact.metadata.causation_id.as_deref().and_then(|it| Uuid::try_parse(it).ok()),
            command_id: fact.metadata.command_id.clone(),
            session_id: happened_in(fact),
        });
        Ok(())
    }
}

impl Record for Link {
    const TABLE: &'static str = "lineage";

    fn key(&self) -> Key {
        self.position.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            Value::id(self.workspace_id.map(|it| it.0)),
            Value::id(self.event_id),
            Value::id(self.cause_id),
            self.command_id.clone().into(),
            Value::id(self.session_id.map(|it| it.0)),
        ]
    }
}

/// The session that something else than a session says it happened in. What a session says of itself is in its stream.
fn happened_in(fact: &Fact) -> Option<SessionId> {
    match &fact.of {
        FactOf::Task(event) => match event {
            TaskEvent::TaskStarted { session_id, .. }
            | TaskEvent::TaskBlocked { session_id, .. }
            | TaskEvent::TaskCompleted { session_id, .. } => *session_id,
            TaskEvent::TaskCreated { .. }
            | TaskEvent::TaskDetailsChanged { .. }
            | TaskEvent::TaskAssigned { .. }
            | TaskEvent::TaskReturned { .. }
            | TaskEvent::TaskPaused { .. }
            | TaskEvent::TaskCancelled { .. }
            | TaskEvent::TaskAddedToEpic { .. }
            | TaskEvent::TaskSubmitted { .. }
            | TaskEvent::TaskChangesRequested { .. }
            | TaskEvent::TaskRebaseRequested { .. }
            | TaskEvent::TaskRebased { .. }
            | TaskEvent::TaskApproved { .. }
            | TaskEvent::TaskMergeFailed { .. }
            | TaskEvent::TaskHandedOver { .. }
            | TaskEvent::TaskReset { .. }
            | TaskEvent::TaskFailed { .. } => None,
        },
        FactOf::Epic(_)
        | FactOf::Post(_)
        | FactOf::Errand(_)
        | FactOf::Mail(_)
        | FactOf::ToolCall(_)
        | FactOf::Decision(_)
        | FactOf::Notification(_)
        | FactOf::NotificationSettings(_)
        | FactOf::Session(_)
        | FactOf::User(_)
        | FactOf::Workspace(_)
        | FactOf::Project(_)
        | FactOf::Agent(_)
        | FactOf::Wiki(_)
        | FactOf::Scorecard(_)
        | FactOf::PullRequest(_)
        | FactOf::Repository(_) => None,
    }
}
