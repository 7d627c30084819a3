//! What an entry says: the content of each type, when it happened, and whom it concerns.

mod agent;
mod epic;
mod errand;
mod factory_task;
mod github;
pub(super) mod mail;
mod post;
mod project;
mod scorecard;
mod session;
mod task;
mod wiki;
mod workspace;

use chrono::{DateTime, Utc};
use domain::{AgentId, ProjectId, SessionId, TaskId, UserId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::subjects::{Subject, named_agent};
use crate::{Fact, FactOf, FoldError, Rows};

/// What an entry says of an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// When it happened.
    pub(super) at: DateTime<Utc>,
    /// What happened.
    pub(super) content: Value,
    /// Where it belongs.
    pub(super) project: Option<ProjectId>,
    /// The session it belongs to.
    pub(super) session: Option<SessionId>,
    /// The task it is about.
    pub(super) task: Option<TaskId>,
    /// The agent it is about.
    pub(super) about: Option<AgentId>,
    /// The agents it concerns.
    pub(super) agents: Vec<AgentId>,
    /// The users it concerns.
    pub(super) users: Vec<UserId>,
    /// The user whom the content names, by id: names of people are joined when a query is answered.
    pub(super) names: Option<UserId>,
}

impl Said {
    fn new(at: DateTime<Utc>, content: Value) -> Self {
        let (agents, users) = (vec![], vec![]);
        Self { at, content, project: None, session: None, task: None, about: None, agents, users, names: None }
    }

    /// An entry that tells an agent something about itself.
    fn to(mut self, agent: Option<AgentId>) -> Self {
        self.agents.extend(agent);
        self
    }

    fn about(mut self, agent: Option<AgentId>) -> Self {
        self.about = agent;
        self
    }
}

/// What the entry of an event says; none when it has none. `subject` is as the event left it.
pub(super) fn said(fact: &Fact, subject: Option<&Subject>, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    if let FactOf::Repository(event) = &fact.of {
        return Ok(github::in_repository(event));
    }
    if let FactOf::Mail(event) = &fact.of {
        return mail::received(event, rows);
    }
    if let FactOf::ToolCall(event) = &fact.of {
        return mail::tool_failed(event, rows);
    }
    if let FactOf::Notification(event) = &fact.of {
        return Ok(mail::notification_failed(event));
    }
    let Some(subject) = subject else { return Ok(None) };
    let said = match &fact.of {
        FactOf::User(_) | FactOf::Repository(_) => None,
        FactOf::Mail(_)
        | FactOf::ToolCall(_)
        | FactOf::Decision(_)
        | FactOf::Notification(_)
        | FactOf::NotificationSettings(_) => None,
        FactOf::Workspace(event) => Some(workspace::said(event, subject)),
        FactOf::Project(event) => Some(project::said(event, subject)),
        FactOf::Agent(event) => Some(agent::said(event, subject)),
        FactOf::Session(event) => Some(session::said(event, subject)),
        FactOf::Task(event) => task::said(event, subject, rows)?,
        FactOf::Epic(event) => epic::said(event, subject, rows)?,
        FactOf::Post(event) => post::said(event, subject),
        FactOf::Errand(event) => errand::said(event, subject),
        FactOf::Wiki(event) => wiki::said(event, subject, rows)?,
        FactOf::Scorecard(event) => Some(scorecard::said(event, subject)),
        FactOf::PullRequest(event) => github::of_pull_request(event, subject, rows)?,
    };
    Ok(said.map(|said| Said { project: said.project.or(subject.project_id), ..said }))
}

/// An agent with its name, as contents show it.
fn agent_shown(agent: Option<AgentId>, rows: &mut Rows) -> Result<Value, FoldError> {
    let Some(agent) = agent else { return Ok(Value::Null) };
    Ok(json!({ "agentId": agent, "agentName": named_agent(agent, rows)? }))
}

/// Fields that changed, with their new values.
#[derive(Default)]
struct Changed(Map<String, Value>);

impl Changed {
    fn with(mut self, field: &str, value: &Option<impl Serialize>) -> Self {
        if let Some(value) = value {
            self.0.insert(field.to_owned(), json!(value));
        }
        self
    }

    fn finish(self) -> Value {
        json!({ "changes": self.0 })
    }
}

/// Adds fields that may be left out, where they are there.
fn with_optional<const N: usize>(mut content: Value, fields: [(&str, Value); N]) -> Value {
    if let Value::Object(content) = &mut content {
        let there = fields.into_iter().filter(|(_, value)| !value.is_null());
        content.extend(there.map(|(field, value)| (field.to_owned(), value)));
    }
    content
}

fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
