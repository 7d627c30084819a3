//! The timeline: every change of a workspace as one public event, in the order of the log.

mod content;
mod mapping;
mod queries;

use chrono::{DateTime, Utc};
use domain::agent::AgentEvent;
use domain::project::ProjectEvent;
use domain::workspace::WorkspaceEvent;
use domain::{AgentCode, AgentId, ProjectId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::{Holds, Table, Value};
use uuid::Uuid;

use crate::rows::assign;
use crate::{ActorType, Describe, Fact, FactOf, FoldError, Key, Projection, Record, RowKey, Rows};

pub use mapping::TYPES;
pub use queries::{Filter, Found, Page, Passed, after, find, list};

/// The projection's name.
pub const NAME: &str = "timeline";

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
    agent_id: Option<AgentId>,
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

/// What later entries need to know of a workspace, a project or an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject {
    id: Uuid,
    name: String,
    project_id: Option<ProjectId>,
    agent_code: Option<AgentCode>,
}

/// Folds every event of a workspace into an entry.
#[derive(Debug, Clone, Copy)]
pub struct Timeline;

impl Projection for Timeline {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn tables(&self) -> Vec<Table> {
        let entries = Describe::table(Entry::TABLE)
            .key("position", Holds::Int)
            .required("id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .optional("project_id", Holds::Text)
            .optional("agent_id", Holds::Text)
            .optional("session_id", Holds::Text)
            .required("type", Holds::Text)
            .index(&["id"])
            .index(&["workspace_id", "position"])
            .index(&["workspace_id", "type", "position"])
            .index(&["project_id", "position"])
            .index(&["agent_id", "position"])
            .index(&["session_id", "position"]);
        vec![entries.finish(), Describe::table(Subject::TABLE).key("id", Holds::Text).finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        match fact.of {
            FactOf::User(_)
            | FactOf::Session(_)
            | FactOf::Task(_)
            | FactOf::Wiki(_)
            | FactOf::Scorecard(_)
            | FactOf::PullRequest(_)
            | FactOf::Repository(_) => vec![],
            FactOf::Workspace(_) | FactOf::Project(_) | FactOf::Agent(_) => vec![RowKey::of::<Subject>(fact.subject)],
        }
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let Some(kind) = mapping::type_of(&fact.of) else { return Ok(()) };
        let subject = introduce(fact, rows)?;
        let Some((timestamp, content)) = content::content(&fact.of, &subject) else { return Ok(()) };
        let workspace_id = fact.workspace_id.ok_or(FoldError::Senseless("it belongs to no workspace".into()))?;
        rows.put(entry(fact, kind, &subject, workspace_id, timestamp, content));
        Ok(())
    }
}

/// Remembers what is new about the subject of a fact, and says what is known of it now.
fn introduce(fact: &Fact, rows: &mut Rows) -> Result<Subject, FoldError> {
    let id = fact.subject;
    let rename = |to: &Option<String>| {
        let to = to.clone();
        move |subject: &mut Subject| assign(&mut subject.name, to)
    };
    match &fact.of {
        FactOf::User(_)
        | FactOf::Session(_)
        | FactOf::Task(_)
        | FactOf::Wiki(_)
        | FactOf::Scorecard(_)
        | FactOf::PullRequest(_)
        | FactOf::Repository(_) => {}
        FactOf::Workspace(WorkspaceEvent::WorkspaceCreated { name, .. }) => {
            rows.put(Subject { id, name: name.clone(), project_id: None, agent_code: None });
        }
        FactOf::Project(ProjectEvent::ProjectCreated { project_id, name, .. }) => {
            rows.put(Subject { id, name: name.clone(), project_id: Some(*project_id), agent_code: None });
        }
        FactOf::Agent(AgentEvent::AgentCreated { project_id, name, code, .. }) => {
            rows.put(Subject { id, name: name.clone(), project_id: *project_id, agent_code: Some(code.clone()) });
        }
        FactOf::Workspace(WorkspaceEvent::WorkspaceDetailsChanged { name, .. })
        | FactOf::Project(ProjectEvent::ProjectDetailsChanged { name, .. })
        | FactOf::Agent(AgentEvent::AgentDetailsChanged { name, .. }) => rows.update(id, rename(name))?,
        FactOf::Workspace(WorkspaceEvent::WorkspaceDeleted { .. })
        | FactOf::Project(ProjectEvent::ProjectDeleted { .. })
        | FactOf::Agent(
            AgentEvent::AgentStatusChanged { .. }
            | AgentEvent::AgentCredentialsRotated { .. }
            | AgentEvent::AgentSupervisorLost { .. }
            | AgentEvent::AgentDeleted { .. },
        ) => {}
    }
    rows.get::<Subject>(id)?.cloned().ok_or(FoldError::NoRow(Subject::TABLE, id.to_string()))
}

fn entry(
    fact: &Fact,
    kind: &str,
    subject: &Subject,
    workspace_id: WorkspaceId,
    timestamp: DateTime<Utc>,
    content: serde_json::Value,
) -> Entry {
    let about_agent = matches!(fact.of, FactOf::Agent(_)).then_some(AgentId(fact.subject));
    let mentions = match &fact.of {
        FactOf::Agent(AgentEvent::AgentStatusChanged { .. }) => vec![fact.subject],
        FactOf::User(_)
        | FactOf::Workspace(_)
        | FactOf::Project(_)
        | FactOf::Agent(_)
        | FactOf::Session(_)
        | FactOf::Task(_)
        | FactOf::Wiki(_)
        | FactOf::Scorecard(_)
        | FactOf::PullRequest(_)
        | FactOf::Repository(_) => vec![],
    };
    let metadata = &fact.metadata;
    Entry {
        id: fact.event_id,
        kind: kind.to_owned(),
        author_id: metadata.author(),
        session_id: None,
        project_id: subject.project_id,
        content,
        mentions,
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
        timestamp,
        created_at: fact.recorded_at,
        agent_id: metadata.acting_agent().or(about_agent),
    }
}

impl Record for Entry {
    const TABLE: &'static str = "timeline";

    fn key(&self) -> Key {
        self.metadata.position.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.id.into(),
            self.metadata.workspace_id.0.into(),
            self.project_id.map(|it| it.0).into(),
            self.agent_id.map(|it| it.0).into(),
            self.session_id.into(),
            self.kind.as_str().into(),
        ]
    }
}

impl Record for Subject {
    const TABLE: &'static str = "timeline_subjects";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::examples::{
        AGENT_ID, OWNER_ID, PROJECT_ID, WORKSPACE_ID, agent, agent_created, at, facts, project_created,
        workspace_created, workspace_renamed,
    };
    use crate::{Poison, fold_stream};

    fn entries(facts: &[Fact]) -> Result<Vec<Entry>, Poison> {
        let mut rows = fold_stream(&Timeline, facts)?;
        let entry = |fact: &Fact| rows.get::<Entry>(fact.position).ok().flatten().cloned();
        Ok(facts.iter().filter_map(entry).collect())
    }

    #[test]
    fn every_fact_of_a_workspace_is_one_entry_with_the_id_of_its_event() {
        let facts = facts([workspace_created(), project_created(), agent_created(), workspace_renamed("Acme Inc.")]);
        let entries = entries(&facts).expect("no poison");
        let ids: Vec<_> = facts.iter().map(|it| it.event_id).collect();
        assert_eq!(entries.iter().map(|it| it.id).collect::<Vec<_>>(), ids);
        assert!(entries.iter().all(|it| it.author_id == Some(OWNER_ID.0) && it.created_at == at(60)));
        assert_eq!(entries[3].timestamp, at(1));
    }

    #[test]
    fn an_entry_shows_the_name_that_its_event_left() {
        let facts = facts([workspace_created(), workspace_renamed("Acme Inc.")]);
        let content = &entries(&facts).expect("no poison")[1].content;
        let expected = json!({
            "workspaceId": WORKSPACE_ID, "workspaceName": "Acme Inc.", "changes": { "name": "Acme Inc." },
        });
        assert_eq!(*content, expected);
    }

    #[test]
    fn what_happens_to_a_project_agent_belongs_to_its_project_and_to_it() {
        let rotated =
            AgentEvent::AgentCredentialsRotated { credential_id: crate::examples::id(6).into(), rotated_at: at(2) };
        let facts = facts([agent_created(), agent(rotated)]);
        let entry = entries(&facts).expect("no poison").pop().expect("an entry");
        assert_eq!((entry.project_id, entry.agent_id), (Some(PROJECT_ID), Some(AGENT_ID)));
        assert_eq!(
            (entry.kind.as_str(), entry.content["agentName"].as_str()),
            ("agent_credentials_rotated", Some("Dev One"))
        );
        assert!(entry.mentions.is_empty());
    }

    #[test]
    fn what_an_agent_does_is_its_own_and_not_of_what_it_is_done_to() {
        let mut facts = facts([agent_created()]);
        facts[0].metadata.actor_type = ActorType::Agent;
        facts[0].metadata.actor_id = Some(crate::examples::id(7).to_string());
        let entry = entries(&facts).expect("no poison").pop().expect("an entry");
        assert_eq!(
            (entry.agent_id, entry.author_id),
            (Some(AgentId(crate::examples::id(7))), Some(crate::examples::id(7)))
        );
    }

    #[test]
    fn what_muster_does_has_no_author() {
        let mut facts = facts([workspace_created()]);
        facts[0].metadata.actor_type = ActorType::System;
        facts[0].metadata.actor_id = Some("recovery".into());
        assert_eq!(entries(&facts).expect("no poison")[0].author_id, None);
    }

    #[test]
    fn a_fact_of_no_workspace_is_poison() {
        let mut facts = facts([workspace_created()]);
        facts[0].workspace_id = None;
        assert!(entries(&facts).is_err());
    }
}
