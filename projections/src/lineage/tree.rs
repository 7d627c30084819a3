//! Causes and effects as trees: from an event to what it came from, or to everything that followed from it.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use domain::{SessionId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::Database;
use store::{EventLog, StoreError, StoredEvent, StreamId};
use uuid::Uuid;

use super::{Link, queries};
use crate::fact::SESSION;
use crate::{ActorType, Metadata};

/// How an event follows from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The same command recorded both.
    Command,
    /// A reactor reacted to the one with a command that recorded the other.
    Reaction,
    /// The one started the session that the other happened in.
    Session,
}

/// How much of a tree is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most steps from the event that is asked about.
    pub depth: usize,
    /// The most events, the one that is asked about included.
    pub events: usize,
}

/// What ended a tree before it was complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// It goes on, further away.
    Depth,
    /// There are more events.
    Events,
}

/// An event and what is connected with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The events, the one that was asked about first; each after its parent.
    pub nodes: Vec<Node>,
    /// What ended it, if it is not complete.
    pub cut: Option<Cut>,
}

/// An event in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where its parent is in the list; none for the event that was asked about.
    pub parent: Option<usize>,
    /// How the later of the two follows from the earlier.
    pub relation: Option<Relation>,
    /// Whether it has children that were cut off.
    pub more: bool,
    /// The place in the log.
    pub position: i64,
    /// The event's id.
    pub event_id: Uuid,
    /// The event's stored name.
    pub event_type: String,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The place within the stream.
    pub sequence: i64,
    /// The tenant it belongs to, if any.
    pub workspace_id: Option<WorkspaceId>,
    /// When it was committed.
    pub recorded_at: DateTime<Utc>,
    /// Who caused it, and in what connection.
    pub metadata: Metadata,
}

/// An aggregate that events of a tree happened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// Which one.
    pub stream: StreamId,
    /// How many events of the tree are its own.
    pub events: usize,
    /// The first of them.
    pub first: i64,
    /// The last of them.
    pub last: i64,
}

/// What an event came from, step by step up to a request. `None` if the read model does not know the event.
pub async fn causes(
    log: &EventLog,
    views: &Database,
    position: i64,
    bounds: Bounds,
) -> Result<Option<Tree>, StoreError> {
    let Some(root) = queries::at(views, position).await? else { return Ok(None) };
    let mut growing = Growing::from(log, root).await?;
    while let Some((at, link)) = growing.level.pop() {
        let Some((relation, cause)) = cause_of(log, views, &link, &growing.nodes[at]).await? else { break };
        growing.grow(log, vec![Branch { parent: at, relation, link: cause }], bounds).await?;
    }
    Ok(Some(growing.finish()))
}

/// Everything that followed from an event. `None` if the read model does not know the event.
pub async fn effects(
    log: &EventLog,
    views: &Database,
    position: i64,
    bounds: Bounds,
) -> Result<Option<Tree>, StoreError> {
    let Some(root) = queries::at(views, position).await? else { return Ok(None) };
    let mut growing = Growing::from(log, root).await?;
    while !growing.level.is_empty() {
        let level = std::mem::take(&mut growing.level);
        // One more than may be shown, to know whether something is cut off.
        let limit = bounds.events.saturating_sub(growing.nodes.len()) + 1;
        let mut branches = reactions(views, &level, limit).await?;
        branches.extend(of_the_same_commands(views, &level, &growing.nodes).await?);
        for (at, _) in &level {
            branches.extend(in_session(log, views, *at, &growing.nodes[*at], limit).await?);
        }
        growing.grow(log, branches, bounds).await?;
    }
    Ok(Some(growing.finish()))
}

impl Tree {
    /// The aggregates that its events happened to, the one that was asked about first.
    pub fn affected(&self) -> Vec<Affected> {
        let mut by_stream: BTreeMap<&StreamId, Affected> = BTreeMap::new();
        for node in &self.nodes {
            let new = || Affected { stream: node.stream.clone(), events: 0, first: node.position, last: node.position };
            let affected = by_stream.entry(&node.stream).or_insert_with(new);
            affected.events += 1;
            affected.first = affected.first.min(node.position);
            affected.last = affected.last.max(node.position);
        }
        let mut all: Vec<Affected> = by_stream.into_values().collect();
        let asked = self.nodes.first().map(|it| &it.stream);
        all.sort_by_key(|it| (Some(&it.stream) != asked, it.first));
        all
    }

    /// The tree without the events that a viewer may not see and what hangs on them, and how many that were.
    pub fn limited_to(self, may_see: impl Fn(&Node) -> bool) -> (Self, usize) {
        let all = self.nodes.len();
        // Where each node went; a parent always comes before its children.
        let mut moved: HashMap<usize, usize> = HashMap::new();
        let mut nodes = Vec::with_capacity(all);
        for (n, mut node) in self.nodes.into_iter().enumerate() {
            let parent = node.parent.map(|it| moved.get(&it).copied());
            if parent == Some(None) || !may_see(&node) {
                continue;
            }
            node.parent = parent.flatten();
            moved.insert(n, nodes.len());
            nodes.push(node);
        }
        let hidden = all - nodes.len();
        (Self { nodes, cut: self.cut }, hidden)
    }
}

/// An event that belongs into a tree, and where.
struct Branch {
    parent: usize,
    relation: Relation,
    link: Link,
}

/// A tree while it grows, level by level.
struct Growing {
    nodes: Vec<Node>,
    /// The events that were added last, with where they are in the list.
    level: Vec<(usize, Link)>,
    depth: usize,
    seen: HashSet<i64>,
    cut: Option<Cut>,
}

impl Growing {
    async fn from(log: &EventLog, root: Link) -> Result<Self, StoreError> {
        let mut nodes = Vec::new();
        for event in log.read_positions(&[root.position]).await? {
            nodes.push(Node::new(event, None, None));
        }
        let seen = HashSet::from([root.position]);
        Ok(Self { nodes, level: vec![(0, root)], depth: 0, seen, cut: None })
    }

    /// Adds a level, as far as the bounds let it.
    async fn grow(&mut self, log: &EventLog, mut branches: Vec<Branch>, bounds: Bounds) -> Result<(), StoreError> {
        branches.sort_by_key(|it| it.link.position);
        // What is in the tree stays where it is: a log that was made elsewhere may say anything.
        branches.retain(|it| self.seen.insert(it.link.position));
        let room = bounds.events.saturating_sub(self.nodes.len());
        let cut = if branches.is_empty() {
            None
        } else if self.depth >= bounds.depth {
            Some((Cut::Depth, 0))
        } else if branches.len() > room {
            Some((Cut::Events, room))
        } else {
            None
        };
        if let Some((why, room)) = cut {
            self.cut = Some(why);
            for branch in branches.drain(room..) {
                self.nodes[branch.parent].more = true;
            }
        }
        let positions: Vec<i64> = branches.iter().map(|it| it.link.position).collect();
        let events = if positions.is_empty() { vec![] } else { log.read_positions(&positions).await? };
        for (Branch { parent, relation, link }, event) in branches.into_iter().zip(events) {
            self.level.push((self.nodes.len(), link));
            self.nodes.push(Node::new(event, Some(parent), Some(relation)));
        }
        self.depth += 1;
        if self.cut.is_some() {
            // Whatever hangs on the last level is not looked for; it may well be there.
            self.level.clear();
        }
        Ok(())
    }

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes, cut: self.cut }
    }
}

impl Node {
    fn new(event: StoredEvent, parent: Option<usize>, relation: Option<Relation>) -> Self {
        let unreadable = |_| Metadata { actor_type: ActorType::System, ..Metadata::default() };
        Self {
            parent,
            relation,
            more: false,
            position: event.position,
            event_id: event.event_id,
            event_type: event.event_type,
            stream: event.stream,
            sequence: event.sequence,
            workspace_id: event.workspace_id.map(WorkspaceId),
            recorded_at: store::from_micros(event.recorded_at),
            metadata: serde_json::from_str(&event.metadata).unwrap_or_else(unreadable),
        }
    }
}

/// The direct cause of an event.
async fn cause_of(
    log: &EventLog,
    views: &Database,
    link: &Link,
    node: &Node,
) -> Result<Option<(Relation, Link)>, StoreError> {
    let of_command = queries::of_the_same_command(views, link).await?;
    // Events of one command stand side by side; elsewhere its id would be somebody else's.
    let first = of_command.into_iter().rev().filter(|it| it.position <= link.position).enumerate();
    let first = first.take_while(|(n, it)| it.position == link.position - *n as i64).last().map(|(_, it)| it);
    if let Some(first) = first.filter(|it| it.position < link.position) {
        return Ok(Some((Relation::Command, first)));
    }
    if let Some(cause_id) = link.cause_id {
        return Ok(queries::by_id(views, cause_id).await?.map(|it| (Relation::Reaction, it)));
    }
    let session = match link.session_id {
        Some(session) => StreamId::new(SESSION, session),
        None if node.stream.aggregate_type == SESSION && node.sequence > 1 => node.stream.clone(),
        None => return Ok(None),
    };
    let Some(start) = log.read_stream(&session, 1, Some(1)).await?.pop() else { return Ok(None) };
    Ok(queries::at(views, start.position).await?.map(|it| (Relation::Session, it)))
}

/// What reactors did about the events of a level.
async fn reactions(views: &Database, level: &[(usize, Link)], limit: usize) -> Result<Vec<Branch>, StoreError> {
    let by_id: HashMap<Uuid, usize> = level.iter().map(|(at, link)| (link.event_id, *at)).collect();
    let ids: Vec<Uuid> = level.iter().map(|(_, link)| link.event_id).collect();
    let found = queries::reactions_to(views, &ids, limit as i64).await?;
    let branch = |link: Link| {
        let parent = *by_id.get(&link.cause_id?)?;
        Some(Branch { parent, relation: Relation::Reaction, link })
    };
    Ok(found.into_iter().filter_map(branch).collect())
}

/// What the commands that events of a level began went on to record.
async fn of_the_same_commands(
    views: &Database,
    level: &[(usize, Link)],
    nodes: &[Node],
) -> Result<Vec<Branch>, StoreError> {
    let around: Vec<i64> = level.iter().flat_map(|(_, link)| [link.position - 1, link.position + 1]).collect();
    let around = queries::at_all(views, &around).await?;
    let commands: HashMap<i64, &str> =
        around.iter().filter_map(|it| Some((it.position, it.command_id.as_deref()?))).collect();
    let mut branches = Vec::new();
    for (at, link) in level {
        let Some(command) = link.command_id.as_deref() else { continue };
        let is_of_it = |position: i64| commands.get(&position) == Some(&command);
        if nodes[*at].relation == Some(Relation::Command) || is_of_it(link.position - 1) || !is_of_it(link.position + 1)
        {
            continue;
        }
        let later = queries::of_the_same_command(views, link).await?;
        let later = later.into_iter().filter(|it| it.position > link.position);
        let next_to = (link.position + 1..).zip(later).take_while(|(expected, it)| it.position == *expected);
        branches.extend(next_to.map(|(_, link)| Branch { parent: *at, relation: Relation::Command, link }));
    }
    Ok(branches)
}

/// What happened in the session that an event started, by request.
async fn in_session(
    log: &EventLog,
    views: &Database,
    at: usize,
    start: &Node,
    limit: usize,
) -> Result<Vec<Branch>, StoreError> {
    let (SESSION, 1) = (start.stream.aggregate_type.as_str(), start.sequence) else { return Ok(vec![]) };
    let Ok(session) = Uuid::try_parse(&start.stream.aggregate_id) else { return Ok(vec![]) };
    let elsewhere = queries::in_session(views, SessionId(session), limit as i64).await?;
    let own = log.read_stream(&start.stream, 2, Some(1 + limit as i64)).await?;
    let positions: Vec<i64> = own.iter().flat_map(|it| [it.position - 1, it.position]).collect();
    let around: HashMap<i64, Link> =
        queries::at_all(views, &positions).await?.into_iter().map(|it| (it.position, it)).collect();
    let by_request = own.iter().filter_map(|event| {
        let link = around.get(&event.position)?;
        let before = around.get(&(event.position - 1));
        let is_first = link.command_id.is_none() || before.is_none_or(|it| it.command_id != link.command_id);
        (is_first && link.cause_id.is_none()).then(|| link.clone())
    });
    let all = elsewhere.into_iter().chain(by_request);
    Ok(all.map(|link| Branch { parent: at, relation: Relation::Session, link }).collect())
}
