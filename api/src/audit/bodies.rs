//! What the audit answers look like, over HTTP and from the command line alike.

use chrono::{DateTime, Utc};
use projections::history::{Difference, FieldChange, Page, StateAt, Step};
use projections::lineage::{Affected, Cut, Node, Relation, Tree};
use projections::{ActorType, Metadata};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::StreamId;
use uuid::Uuid;

use super::names::Names;

/// What an event happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AuditAggregate")]
pub(crate) struct AggregateBody {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: String,
}

/// Who acted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditActor")]
pub(crate) struct ActorBody {
    /// `user`, `agent` or `system`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The id, or the name of the part of Muster.
    pub(crate) id: Option<String>,
    /// What the person or agent is called today; null for Muster itself, and for an account that is gone.
    pub(crate) name: Option<String>,
}

/// What an event came from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditCause")]
pub(crate) struct CauseBody {
    /// The command that recorded it.
    pub(crate) command_id: Option<String>,
    /// Shared by everything that followed from one request.
    pub(crate) correlation_id: Option<String>,
    /// The event that a reactor reacted to.
    pub(crate) causation_id: Option<String>,
    /// The trace of the request.
    pub(crate) trace_id: Option<String>,
}

/// A field that is not what it was: `before` and `after`, or, for a list, what was `added` and `removed`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditChange")]
pub(crate) struct ChangeBody {
    /// With the fields that it is within: `metadata.team`.
    pub(crate) field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<Vec<Value>>,
}

/// An event, and what it changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditEvent")]
pub(crate) struct EventBody {
    /// The place in the log.
    pub(crate) position: i64,
    /// The place in the history of the aggregate, from 1.
    pub(crate) sequence: i64,
    pub(crate) id: Uuid,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The version of the shape in which it is stored.
    pub(crate) version: String,
    pub(crate) recorded_at: DateTime<Utc>,
    pub(crate) actor: ActorBody,
    pub(crate) cause: CauseBody,
    /// What the event says.
    pub(crate) data: Value,
    pub(crate) changes: Vec<ChangeBody>,
    /// Why this muster cannot read the event, if it cannot; then it changed nothing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable: Option<String>,
}

/// A part of a history, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditHistory")]
pub(crate) struct HistoryBody {
    pub(crate) aggregate: AggregateBody,
    pub(crate) events: Vec<EventBody>,
    /// How many events there are in all.
    pub(crate) total: i64,
    pub(crate) has_more: bool,
}

/// Where in the log a state is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditMoment")]
pub(crate) struct MomentBody {
    /// The position that was asked for, or that the time stands for.
    pub(crate) at: i64,
    /// The newest event of the aggregate by then; null if it did not exist yet.
    pub(crate) position: Option<i64>,
    /// Its place in the history of the aggregate.
    pub(crate) sequence: Option<i64>,
    pub(crate) recorded_at: Option<DateTime<Utc>>,
}

/// An aggregate at a moment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditState")]
pub(crate) struct StateBody {
    pub(crate) aggregate: AggregateBody,
    #[serde(flatten)]
    pub(crate) moment: MomentBody,
    /// Events that this muster cannot read, which are not in the state.
    pub(crate) unreadable_events: i64,
    /// `stage` says where in its life it is; the other fields are those of its kind.
    pub(crate) state: Map<String, Value>,
}

/// What became different between two moments.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditDiff")]
pub(crate) struct DiffBody {
    pub(crate) aggregate: AggregateBody,
    pub(crate) from: MomentBody,
    pub(crate) to: MomentBody,
    /// Events of the aggregate between the two.
    pub(crate) events: i64,
    pub(crate) changes: Vec<ChangeBody>,
}

/// An event in a tree of causes or effects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditNode")]
pub(crate) struct NodeBody {
    pub(crate) position: i64,
    pub(crate) id: Uuid,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) aggregate: AggregateBody,
    pub(crate) sequence: i64,
    pub(crate) recorded_at: DateTime<Utc>,
    pub(crate) actor: ActorBody,
    pub(crate) cause: CauseBody,
    /// How it is connected with the event above it: `command` (one command recorded both), `reaction` (Muster reacted
    /// to the one), `session` (it happened in the session that the one started).
    pub(crate) relation: Option<&'static str>,
    /// The events that it came from, or that followed from it, each in this same form.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(crate) children: Vec<NodeBody>,
    /// Whether some of its children are not shown.
    pub(crate) more: bool,
}

/// An aggregate that events of a tree happened to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditAffected")]
pub(crate) struct AffectedBody {
    #[serde(flatten)]
    pub(crate) aggregate: AggregateBody,
    /// How many events of the tree are its own.
    pub(crate) events: usize,
    pub(crate) first_position: i64,
    pub(crate) last_position: i64,
}

/// An event, and what is connected with it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditTree")]
pub(crate) struct TreeBody {
    /// The event that was asked about; its children lead on.
    pub(crate) tree: Option<NodeBody>,
    /// The aggregates that the events of the tree happened to.
    pub(crate) affected: Vec<AffectedBody>,
    /// Events in the tree.
    pub(crate) events: usize,
    /// `depth` or `events` if the tree goes on beyond what was asked for.
    pub(crate) cut: Option<&'static str>,
    /// Events that are out of the caller's reach.
    pub(crate) hidden: usize,
}

impl HistoryBody {
    pub(crate) fn of(stream: &StreamId, page: Page, offset: i64, names: &Names) -> Self {
        let events: Vec<EventBody> = page.steps.into_iter().map(|it| EventBody::of(it, names)).collect();
        let has_more = offset.saturating_add(events.len() as i64) < page.total && !events.is_empty();
        Self { aggregate: stream.into(), events, total: page.total, has_more }
    }
}

impl EventBody {
    fn of(step: Step, names: &Names) -> Self {
        Self {
            position: step.position,
            sequence: step.sequence,
            id: step.event_id,
            kind: step.event_type,
            version: step.event_version,
            recorded_at: step.recorded_at,
            actor: ActorBody::of(&step.metadata, names),
            cause: step.metadata.into(),
            data: step.data,
            changes: step.changes.into_iter().map(Into::into).collect(),
            unreadable: step.unreadable,
        }
    }
}

impl StateBody {
    pub(crate) fn of(stream: &StreamId, found: StateAt) -> Self {
        let moment = MomentBody::of(found.at, Some(&found));
        let unreadable_events = found.unreadable_events;
        Self { aggregate: stream.into(), moment, unreadable_events, state: found.state }
    }
}

impl DiffBody {
    pub(crate) fn of(stream: &StreamId, from: i64, found: Difference) -> Self {
        let Difference { from: earlier, to, changes } = found;
        Self {
            aggregate: stream.into(),
            events: to.sequence - earlier.as_ref().map_or(0, |it| it.sequence),
            from: MomentBody::of(from, earlier.as_ref()),
            to: MomentBody::of(to.at, Some(&to)),
            changes: changes.into_iter().map(Into::into).collect(),
        }
    }
}

impl TreeBody {
    pub(crate) fn of(tree: Tree, hidden: usize, names: &Names) -> Self {
        let affected = tree.affected().into_iter().map(Into::into).collect();
        let events = tree.nodes.len();
        let cut = tree.cut.map(|it| match it {
            Cut::Depth => "depth",
            Cut::Events => "events",
        });
        let mut parents = Vec::with_capacity(events);
        let mut bodies: Vec<NodeBody> = Vec::with_capacity(events);
        for node in tree.nodes {
            parents.push(node.parent);
            bodies.push(NodeBody::of(node, names));
        }
        // Children come after their parents, so from the end on everybody's children are complete.
        let mut root = None;
        while let (Some(mut body), Some(parent)) = (bodies.pop(), parents.pop()) {
            body.children.reverse();
            match parent.and_then(|it| bodies.get_mut(it)) {
                Some(parent) => parent.children.push(body),
                None => root = Some(body),
            }
        }
        Self { tree: root, affected, events, cut, hidden }
    }
}

impl NodeBody {
    fn of(node: Node, names: &Names) -> Self {
        Self {
            position: node.position,
            id: node.event_id,
            kind: node.event_type,
            aggregate: (&node.stream).into(),
            sequence: node.sequence,
            recorded_at: node.recorded_at,
            actor: ActorBody::of(&node.metadata, names),
            cause: node.metadata.into(),
            relation: node.relation.map(|it| match it {
                Relation::Command => "command",
                Relation::Reaction => "reaction",
                Relation::Session => "session",
            }),
            children: Vec::new(),
            more: node.more,
        }
    }
}

impl MomentBody {
    fn of(at: i64, found: Option<&StateAt>) -> Self {
        Self {
            at,
            position: found.map(|it| it.position),
            sequence: found.map(|it| it.sequence),
            recorded_at: found.map(|it| it.recorded_at),
        }
    }
}

impl ActorBody {
    fn of(metadata: &Metadata, names: &Names) -> Self {
        let kind = match metadata.actor_type {
            ActorType::User => "user",
            ActorType::Agent => "agent",
            ActorType::System => "system",
        };
        Self { kind, id: metadata.actor_id.clone(), name: names.of(metadata) }
    }
}

impl From<Metadata> for CauseBody {
    fn from(it: Metadata) -> Self {
        Self {
            command_id: it.command_id,
            correlation_id: it.correlation_id,
            causation_id: it.causation_id,
            trace_id: it.trace_id,
        }
    }
}

impl From<&StreamId> for AggregateBody {
    fn from(it: &StreamId) -> Self {
        Self { kind: it.aggregate_type.clone(), id: it.aggregate_id.clone() }
    }
}

impl From<Affected> for AffectedBody {
    fn from(it: Affected) -> Self {
        Self { aggregate: (&it.stream).into(), events: it.events, first_position: it.first, last_position: it.last }
    }
}

impl From<FieldChange> for ChangeBody {
    fn from(it: FieldChange) -> Self {
        match it {
            FieldChange::Value { field, before, after } => {
                Self { field, before: Some(before), after: Some(after), added: None, removed: None }
            }
            FieldChange::List { field, added, removed } => {
                Self { field, before: None, after: None, added: Some(added), removed: Some(removed) }
            }
        }
    }
}
