//! Facts to fold in tests, without a log.

use chrono::{DateTime, TimeDelta, Utc};
use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::project::ProjectEvent;
use domain::session::{AgentSnapshot, ProblemCategory, ProblemContext, ProblemReport, PulledCounts, SessionEvent};
use domain::task::{GithubIssue, Priority, TaskEvent};
use domain::wiki::{Author, WikiEvent};
use domain::workspace::WorkspaceEvent;
use domain::{
    AgentCode, AgentId, CredentialId, ProjectId, SessionId, Settings, Severity, Slug, TaskId, UserId, WikiEntryId,
    WorkspaceId,
};
use serde_json::json;
use store::{StoredEvent, StreamId};
use uuid::Uuid;

use crate::{
    AGENT, ActorType, Fact, FactOf, Metadata, PROJECT, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK, USER, WIKI,
    WORKSPACE,
};

pub(crate) fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

pub(crate) const WORKSPACE_ID: WorkspaceId = WorkspaceId(Uuid::from_u128(1));
pub(crate) const PROJECT_ID: ProjectId = ProjectId(Uuid::from_u128(2));
pub(crate) const AGENT_ID: AgentId = AgentId(Uuid::from_u128(3));
pub(crate) const TASK_ID: TaskId = TaskId(Uuid::from_u128(7));
pub(crate) const OWNER_ID: UserId = UserId(Uuid::from_u128(9));

/// Minutes after the start of the story.
pub(crate) fn at(minutes: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
}

/// Facts at positions from 1, each at the next place of its stream.
pub(crate) fn facts(all: impl IntoIterator<Item = (Uuid, FactOf)>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (subject, of) in all {
        let kind = match of {
            FactOf::User(_) => USER,
            FactOf::Workspace(_) => WORKSPACE,
            FactOf::Project(_) => PROJECT,
            FactOf::Agent(_) => AGENT,
            FactOf::Session(_) => SESSION,
            FactOf::Task(_) => TASK,
            FactOf::Wiki(_) => WIKI,
            FactOf::Scorecard(_) => SCORECARD,
            FactOf::PullRequest(_) => PULL_REQUEST,
            FactOf::Repository(_) => REPOSITORY,
        };
        let stream = StreamId::new(kind, subject);
        let position = facts.len() as i64 + 1;
        facts.push(Fact {
            position,
            subject,
            sequence: facts.iter().filter(|it| it.stream == stream).count() as i64 + 1,
            stream,
            event_id: id(1000 + position as u128),
            event_type: "Example".into(),
            workspace_id: Some(WORKSPACE_ID),
            recorded_at: at(60),
            metadata: Metadata {
                actor_type: ActorType::User,
                actor_id: Some(OWNER_ID.to_string()),
                ..Metadata::default()
            },
            of,
        });
    }
    facts
}

pub(crate) fn workspace_created() -> (Uuid, FactOf) {
    let event = WorkspaceEvent::WorkspaceCreated {
        workspace_id: WORKSPACE_ID,
        owner_id: OWNER_ID,
        name: "Acme".into(),
        slug: Slug::parse("acme").expect("a slug"),
        description: None,
        settings: Settings::new(),
        created_at: at(0),
    };
    (WORKSPACE_ID.0, FactOf::Workspace(event))
}

pub(crate) fn workspace_renamed(name: &str) -> (Uuid, FactOf) {
    let event = WorkspaceEvent::WorkspaceDetailsChanged {
        name: Some(name.into()),
        slug: None,
        description: None,
        settings: None,
        changed_at: at(1),
    };
    (WORKSPACE_ID.0, FactOf::Workspace(event))
}

pub(crate) fn project_created() -> (Uuid, FactOf) {
    let event = ProjectEvent::ProjectCreated {
        project_id: PROJECT_ID,
        workspace_id: WORKSPACE_ID,
        name: "Rocket".into(),
        slug: Slug::parse("rocket").expect("a slug"),
        description: None,
        repository_url: None,
        github_installation_id: None,
        mvp_document_url: None,
        is_active: true,
        created_at: at(0),
    };
    (PROJECT_ID.0, FactOf::Project(event))
}

pub(crate) fn agent_created() -> (Uuid, FactOf) {
    agent(AgentEvent::AgentCreated {
        agent_id: AGENT_ID,
        workspace_id: WORKSPACE_ID,
        project_id: Some(PROJECT_ID),
        level: AgentLevel::Project,
        code: AgentCode::parse("dev-1").expect("a code"),
        name: "Dev One".into(),
        role_title: "Developer".into(),
        status: AgentStatus::Active,
        trust_score: 50.0,
        capabilities: vec![],
        settings: Settings::new(),
        supervisor_agent_id: Some(AgentId(id(4))),
        credential_id: CredentialId(id(5)),
        created_at: at(0),
    })
}

pub(crate) fn agent(event: AgentEvent) -> (Uuid, FactOf) {
    (AGENT_ID.0, FactOf::Agent(event))
}

pub(crate) fn task_created() -> (Uuid, FactOf) {
    task(TaskEvent::TaskCreated {
        task_id: TASK_ID,
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        github_issue: Some(GithubIssue { id: 9001, number: 12 }),
        title: "Add a basket".into(),
        description: None,
        priority: Priority::P2,
        deadline: None,
        success_criteria: vec!["It works".into()],
        metadata: Settings::new(),
        created_at: at(0),
    })
}

pub(crate) fn task(event: TaskEvent) -> (Uuid, FactOf) {
    (TASK_ID.0, FactOf::Task(event))
}

pub(crate) fn session_started() -> (Uuid, FactOf) {
    session(SessionEvent::SessionStarted {
        session_id: SessionId(id(50)),
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        agent_id: AGENT_ID,
        is_organization_level: false,
        pulled: PulledCounts { tasks: 2, messages: 1, role_changes: 0 },
        delivered_up_to: 3,
        agent_snapshot: AgentSnapshot::default(),
        started_at: at(0),
    })
}

/// A problem that another agent, 4, is to hear of.
pub(crate) fn problem_reported() -> (Uuid, FactOf) {
    let content = ProblemReport {
        title: "It burns".into(),
        description: "The build is on fire".into(),
        context: ProblemContext { line_number: Some(7), ..ProblemContext::default() },
        severity: Severity::High,
        category: ProblemCategory::Bug,
    };
    session(SessionEvent::ProblemReported { content, mentions: vec![AgentId(id(4))], published_at: at(2) })
}

pub(crate) fn session(event: SessionEvent) -> (Uuid, FactOf) {
    (id(50), FactOf::Session(event))
}

pub(crate) fn wiki_proposed() -> (Uuid, FactOf) {
    wiki(WikiEvent::WikiEntryProposed {
        entry_id: WikiEntryId(id(70)),
        workspace_id: WORKSPACE_ID,
        project_id: Some(PROJECT_ID),
        proposed_by: Author::Agent(AGENT_ID),
        title: "Locks".into(),
        slug: Slug::parse("locks").expect("a slug"),
        content: "Avoid them".into(),
        tags: vec!["rust".into(), "sync".into()],
        version: 1,
        parent_entry_id: None,
        proposed_at: at(0),
    })
}

pub(crate) fn wiki(event: WikiEvent) -> (Uuid, FactOf) {
    (id(70), FactOf::Wiki(event))
}

/// A stored event that renames a workspace; `broken` ones cannot be decoded.
pub(crate) fn stored(position: i64, workspace: u128, name: &str) -> StoredEvent {
    let fields = json!({ "name": name, "changed_at": at(1) });
    let event_type = if name == "broken" { "WorkspaceTeleported" } else { "WorkspaceDetailsChanged" };
    StoredEvent {
        position,
        stream: StreamId::new(WORKSPACE, id(workspace)),
        sequence: position,
        event_type: event_type.into(),
        event_version: "1".into(),
        payload: json!({ event_type: fields }).to_string(),
        metadata: "{}".into(),
        event_id: id(2000 + position as u128),
        workspace_id: Some(id(workspace)),
        recorded_at: 0,
    }
}
