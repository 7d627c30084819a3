//! The state of any aggregate: folded by its own `apply`, shown as a stage of life and fields.

use domain::Entity;
use domain::agent::{Agent, AgentEvent};
use domain::decision::DecisionEntry;
use domain::epic::Epic;
use domain::errand::Errand;
use domain::mail::Mail;
use domain::notification::Notification;
use domain::notification_settings::NotificationSettings;
use domain::post::Post;
use domain::project::{Project, ProjectEvent};
use domain::pull_request::PullRequest;
use domain::repository::Repository;
use domain::scorecard::Scorecard;
use domain::session::{Session, SessionEvent};
use domain::task::Task;
use domain::tool_call::ToolCall;
use domain::user::User;
use domain::wiki::WikiEntry;
use domain::workspace::{Workspace, WorkspaceEvent};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::FactOf;
use crate::fact::{AGENT, PROJECT, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK, USER, WIKI, WORKSPACE};
use crate::fact::{DECISION, EPIC, ERRAND, MAIL, NOTIFICATION, NOTIFICATION_SETTINGS, POST, TOOL_CALL};

/// The kinds of aggregates that have a history.
pub const KINDS: [&str; 18] = [
    USER,
    WORKSPACE,
    PROJECT,
    AGENT,
    SESSION,
    TASK,
    WIKI,
    SCORECARD,
    PULL_REQUEST,
    REPOSITORY,
    MAIL,
    TOOL_CALL,
    DECISION,
    NOTIFICATION,
    NOTIFICATION_SETTINGS,
    EPIC,
    POST,
    ERRAND,
];

/// Fields whose keys somebody outside chose.
const OPEN_FIELDS: [&str; 5] = ["settings", "metadata", "input", "output", "details"];

/// An aggregate of any kind.
pub(super) enum State {
    User(User),
    Workspace(Workspace),
    Project(Project),
    Agent(Agent),
    Session(Session),
    Task(Task),
    Wiki(WikiEntry),
    Scorecard(Scorecard),
    PullRequest(PullRequest),
    Repository(Repository),
    Epic(Epic),
    Post(Post),
    Errand(Errand),
    Mail(Mail),
    ToolCall(ToolCall),
    Decision(DecisionEntry),
    Notification(Notification),
    NotificationSettings(NotificationSettings),
}

impl State {
    /// An aggregate to which nothing has happened; none of a kind that is not known.
    pub(super) fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            USER => Self::User(User::default()),
            WORKSPACE => Self::Workspace(Workspace::default()),
            PROJECT => Self::Project(Project::default()),
            AGENT => Self::Agent(Agent::default()),
            SESSION => Self::Session(Session::default()),
            TASK => Self::Task(Task::default()),
            WIKI => Self::Wiki(WikiEntry::default()),
            SCORECARD => Self::Scorecard(Scorecard::default()),
            PULL_REQUEST => Self::PullRequest(PullRequest::default()),
            REPOSITORY => Self::Repository(Repository::default()),
            EPIC => Self::Epic(Epic::default()),
            POST => Self::Post(Post::default()),
            ERRAND => Self::Errand(Errand::default()),
            MAIL => Self::Mail(Mail::default()),
            TOOL_CALL => Self::ToolCall(ToolCall::default()),
            DECISION => Self::Decision(DecisionEntry::default()),
            NOTIFICATION => Self::Notification(Notification::default()),
            NOTIFICATION_SETTINGS => Self::NotificationSettings(NotificationSettings::default()),
            _ => return None,
        })
    }

    /// What happened, by the aggregate's own rule. What happened to another kind changes nothing.
    pub(super) fn apply(&mut self, of: FactOf) {
        match (self, of) {
            (Self::User(it), FactOf::User(event)) => happen(it, event),
            (Self::Workspace(it), FactOf::Workspace(event)) => happen(it, event),
            (Self::Project(it), FactOf::Project(event)) => happen(it, event),
            (Self::Agent(it), FactOf::Agent(event)) => happen(it, event),
            (Self::Session(it), FactOf::Session(event)) => happen(it, event),
            (Self::Task(it), FactOf::Task(event)) => happen(it, event),
            (Self::Wiki(it), FactOf::Wiki(event)) => happen(it, event),
            (Self::Scorecard(it), FactOf::Scorecard(event)) => happen(it, event),
            (Self::PullRequest(it), FactOf::PullRequest(event)) => happen(it, event),
            (Self::Repository(it), FactOf::Repository(event)) => happen(it, event),
            (Self::Epic(it), FactOf::Epic(event)) => happen(it, event),
            (Self::Post(it), FactOf::Post(event)) => happen(it, event),
            (Self::Errand(it), FactOf::Errand(event)) => happen(it, event),
            (Self::Mail(it), FactOf::Mail(event)) => happen(it, event),
            (Self::ToolCall(it), FactOf::ToolCall(event)) => happen(it, event),
            (Self::Decision(it), FactOf::Decision(event)) => happen(it, event),
            (Self::Notification(it), FactOf::Notification(event)) => happen(it, event),
            (Self::NotificationSettings(it), FactOf::NotificationSettings(event)) => happen(it, event),
            _ => {}
        }
    }

    /// The stage of life and the fields, named as answers name them.
    pub(super) fn shown(&self) -> Map<String, Value> {
        let (stage, fields) = untagged(match self {
            Self::User(it) => json(it),
            Self::Workspace(it) => json(it),
            Self::Project(it) => json(it),
            Self::Agent(it) => json(it),
            Self::Session(it) => json(it),
            Self::Task(it) => json(it),
            Self::Wiki(it) => json(it),
            Self::Scorecard(it) => json(it),
            Self::PullRequest(it) => json(it),
            Self::Repository(it) => json(it),
            Self::Epic(it) => json(it),
            Self::Post(it) => json(it),
            Self::Errand(it) => json(it),
            Self::Mail(it) => json(it),
            Self::ToolCall(it) => json(it),
            Self::Decision(it) => json(it),
            Self::Notification(it) => json(it),
            Self::NotificationSettings(it) => json(it),
        });
        let mut shown = Map::new();
        if let Some(stage) = stage {
            shown.insert("stage".to_owned(), camel_case(&stage).into());
        }
        if let Value::Object(fields) = renamed(fields, &OPEN_FIELDS) {
            shown.extend(fields);
        }
        shown
    }
}

/// Whether an event ends a stage of life that knows more than the one after it.
pub(super) fn may_forget(of: &FactOf) -> bool {
    matches!(
        of,
        FactOf::Workspace(WorkspaceEvent::WorkspaceDeleted { .. })
            | FactOf::Project(ProjectEvent::ProjectDeleted { .. })
            | FactOf::Agent(AgentEvent::AgentDeleted { .. })
            | FactOf::Session(SessionEvent::SessionStopped { .. } | SessionEvent::SessionRevoked { .. })
    )
}

/// What an event says, named as answers name it.
pub(super) fn said(of: &FactOf) -> Value {
    let (name, fields) = untagged(match of {
        FactOf::User(it) => json(it),
        FactOf::Workspace(it) => json(it),
        FactOf::Project(it) => json(it),
        FactOf::Agent(it) => json(it),
        FactOf::Session(it) => json(it),
        FactOf::Task(it) => json(it),
        FactOf::Wiki(it) => json(it),
        FactOf::Scorecard(it) => json(it),
        FactOf::PullRequest(it) => json(it),
        FactOf::Repository(it) => json(it),
        FactOf::Epic(it) => json(it),
        FactOf::Post(it) => json(it),
        FactOf::Errand(it) => json(it),
        FactOf::Mail(it) => json(it),
        FactOf::ToolCall(it) => json(it),
        FactOf::Decision(it) => json(it),
        FactOf::Notification(it) => json(it),
        FactOf::NotificationSettings(it) => json(it),
    });
    // What an agent sends along with its log.
    let logged = name.as_deref() == Some("SessionLogged");
    renamed(fields, if logged { &["context"] } else { &OPEN_FIELDS })
}

fn happen<E: Entity>(to: &mut E, event: E::Event) {
    to.apply(event);
}

fn json(it: &impl Serialize) -> Value {
    serde_json::to_value(it).expect("states and events are always JSON")
}

/// The variant of an enum and what it holds; a struct is no variant.
fn untagged(value: Value) -> (Option<String>, Value) {
    match value {
        Value::String(variant) => (Some(variant), Value::Null),
        Value::Object(fields) if fields.len() == 1 && fields.keys().all(|it| it.starts_with(char::is_uppercase)) => {
            match fields.into_iter().next() {
                Some((variant, held)) => (Some(variant), held),
                None => (None, Value::Null),
            }
        }
        other => (None, other),
    }
}

/// The same with every field named in camel case, but for what is within `open` fields.
fn renamed(value: Value, open: &[&str]) -> Value {
    match value {
        Value::Object(fields) => {
            let rename = |(name, value): (String, Value)| {
                let value = if open.contains(&name.as_str()) { value } else { renamed(value, open) };
                (camel_case(&name), value)
            };
            Value::Object(fields.into_iter().map(rename).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|it| renamed(it, open)).collect()),
        other => other,
    }
}

fn camel_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut raise = false;
    for letter in name.chars() {
        match letter {
            '_' => raise = !text.is_empty(),
            _ if text.is_empty() => text.extend(letter.to_lowercase()),
            _ if raise => {
                text.extend(letter.to_uppercase());
                raise = false;
            }
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_named_in_camel_case_but_not_what_others_named() {
        let given = json!({ "agent_id": 1, "github_issue": { "issue_id": 2 }, "settings": { "max_tasks": 3 } });
        let shown = json!({ "agentId": 1, "githubIssue": { "issueId": 2 }, "settings": { "max_tasks": 3 } });
        assert_eq!(renamed(given, &OPEN_FIELDS), shown);
    }

    #[test]
    fn every_kind_of_event_belongs_to_a_kind_that_has_a_history() {
        for kind in domain::catalogue() {
            assert!(KINDS.contains(&kind.aggregate) && State::of(kind.aggregate).is_some(), "{}", kind.aggregate);
        }
        assert!(State::of("parcel").is_none());
    }

    #[test]
    fn a_stage_of_life_is_a_field_beside_the_others() {
        assert_eq!(untagged(json!({ "Live": { "name": "x" } })), (Some("Live".into()), json!({ "name": "x" })));
        assert_eq!(untagged(json!("Absent")), (Some("Absent".into()), Value::Null));
        assert_eq!(untagged(json!({ "pushes": [] })), (None, json!({ "pushes": [] })));
    }
}
