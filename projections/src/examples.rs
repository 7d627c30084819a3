//! Facts to fold in tests, without a log.

use chrono::{DateTime, TimeDelta, Utc};
use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::decision::DecisionEvent;
use domain::epic::EpicEvent;
use domain::errand::{ErrandEvent, Work};
use domain::mail::{Addressee, MailEvent, Sender};
use domain::notification::{Channel, NotificationEvent, NotificationKind};
use domain::notification_settings::{NotificationSettingsEvent, Preferences};
use domain::post::{AgentKind, PostEvent, Profiles};
use domain::project::ProjectEvent;
use domain::session::{AgentSnapshot, ProblemCategory, ProblemContext, ProblemReport, PulledCounts, SessionEvent};
use domain::task::{GithubIssue, Priority, TaskEvent};
use domain::tool_call::{Escalation, ToolCallEvent};
use domain::wiki::{Author, WikiEvent};
use domain::workspace::WorkspaceEvent;
use domain::{
    AgentCode, AgentId, CredentialId, DecisionId, MailId, NotificationId, ProjectId, SessionId, Settings, Severity,
    Slug, TaskId, ToolCallId, UserId, WikiEntryId, WorkspaceId,
};
use domain::{EpicId, ErrandId, WorktreeName};
use serde_json::json;
use store::{StoredEvent, StreamId};
use uuid::Uuid;

use crate::{
    AGENT, ActorType, Fact, FactOf, Metadata, PROJECT, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK, USER, WIKI,
    WORKSPACE,
};
use crate::{DECISION, MAIL, NOTIFICATION, NOTIFICATION_SETTINGS, TOOL_CALL};
use crate::{EPIC, ERRAND, POST};

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
            FactOf::Epic(_) => EPIC,
            FactOf::Post(_) => POST,
            FactOf::Errand(_) => ERRAND,
            FactOf::Mail(_) => MAIL,
            FactOf::ToolCall(_) => TOOL_CALL,
            FactOf::Decision(_) => DECISION,
            FactOf::Notification(_) => NOTIFICATION,
            FactOf::NotificationSettings(_) => NOTIFICATION_SETTINGS,
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

/// Mail 80, from the agent.
pub(crate) fn mail_sent(to: Addressee) -> (Uuid, FactOf) {
    mail(MailEvent::MailSent {
        mail_id: MailId(id(80)),
        workspace_id: WORKSPACE_ID,
        thread_id: MailId(id(80)),
        in_reply_to: None,
        from: Sender::Agent(AGENT_ID),
        to,
        subject: "PR Ready for Review".into(),
        body: "Task complete".into(),
        sent_at: at(1),
    })
}

pub(crate) fn mail(event: MailEvent) -> (Uuid, FactOf) {
    (id(80), FactOf::Mail(event))
}

/// Call 85 of the agent.
pub(crate) fn tool_called() -> (Uuid, FactOf) {
    tool_call(ToolCallEvent::ToolCalled {
        call_id: ToolCallId(id(85)),
        workspace_id: WORKSPACE_ID,
        agent_id: AGENT_ID,
        tool: "mcp__git__rebase".into(),
        input: json!({ "onto": "epic" }),
        key: None,
        called_at: at(1),
    })
}

pub(crate) fn tool_succeeded() -> (Uuid, FactOf) {
    let (agent_id, tool) = (AGENT_ID, "mcp__git__rebase".into());
    tool_call(ToolCallEvent::ToolSucceeded { agent_id, tool, output: json!({ "conflicts": 0 }), ended_at: at(2) })
}

/// A failure that the agent's supervisor was told of; people, if nobody expected it.
pub(crate) fn tool_failed(critical: bool) -> (Uuid, FactOf) {
    tool_call(ToolCallEvent::ToolFailed {
        agent_id: AGENT_ID,
        tool: "mcp__git__rebase".into(),
        error: "Rebase conflict".into(),
        details: None,
        critical,
        escalated_to: Some(if critical { Escalation::Human } else { Escalation::Supervisor }),
        ended_at: at(2),
    })
}

pub(crate) fn tool_call(event: ToolCallEvent) -> (Uuid, FactOf) {
    (id(85), FactOf::ToolCall(event))
}

pub(crate) fn decision_logged() -> (Uuid, FactOf) {
    let event = DecisionEvent::DecisionLogged {
        decision_id: DecisionId(id(90)),
        workspace_id: WORKSPACE_ID,
        agent_id: Some(AGENT_ID),
        title: "Split the epic".into(),
        body: "Two parts can be built alone".into(),
        logged_at: at(3),
    };
    (id(90), FactOf::Decision(event))
}

/// Notification 95, for the owner, by desktop and webhook.
pub(crate) fn notification_raised() -> (Uuid, FactOf) {
    notification(NotificationEvent::NotificationRaised {
        notification_id: NotificationId(id(95)),
        workspace_id: WORKSPACE_ID,
        user_id: OWNER_ID,
        kind: NotificationKind::EpicDone,
        title: "Epic Complete".into(),
        message: "Ready for your review".into(),
        channels: vec![Channel::Desktop, Channel::Webhook],
        raised_at: at(0),
    })
}

pub(crate) fn notification(event: NotificationEvent) -> (Uuid, FactOf) {
    (id(95), FactOf::Notification(event))
}

pub(crate) fn notification_settings_changed() -> (Uuid, FactOf) {
    let preferences = Preferences { push_enabled: true, ..Preferences::default() };
    let (user_id, addresses_changed, changed_at) = (OWNER_ID, vec![], at(0));
    let event =
        NotificationSettingsEvent::NotificationSettingsChanged { user_id, preferences, addresses_changed, changed_at };
    (OWNER_ID.0, FactOf::NotificationSettings(event))
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

pub(crate) const EPIC_ID: EpicId = EpicId(Uuid::from_u128(70));

/// Epic 70 of the project.
pub(crate) fn epic_created() -> (Uuid, FactOf) {
    epic(EpicEvent::EpicCreated {
        epic_id: EPIC_ID,
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        bench: Slug::parse("main").expect("a slug"),
        title: "Shopping".into(),
        description: "A shop".into(),
        design: "# Shop".into(),
        worktree_name: WorktreeName::of_epic(EPIC_ID, "Shopping"),
        created_by: OWNER_ID,
        created_at: at(0),
    })
}

pub(crate) fn epic(event: EpicEvent) -> (Uuid, FactOf) {
    (EPIC_ID.0, FactOf::Epic(event))
}

/// The agent is the worker on the task.
pub(crate) fn agent_posted() -> (Uuid, FactOf) {
    post(PostEvent::AgentPosted {
        agent_id: AGENT_ID,
        workspace_id: WORKSPACE_ID,
        project_id: Some(PROJECT_ID),
        kind: AgentKind::Worker,
        seat: TASK_ID.0,
        epic_id: Some(EPIC_ID),
        task_id: Some(TASK_ID),
        bench: Slug::parse("main").expect("a slug"),
        profile: Profiles::default().worker,
        mission: "Add a basket".into(),
        tmux_session: "muster-worker-1".into(),
        attempt: 1,
        replaces: None,
        posted_at: at(0),
    })
}

pub(crate) fn post(event: PostEvent) -> (Uuid, FactOf) {
    (AGENT_ID.0, FactOf::Post(event))
}

/// Errand 75 stops the agent.
pub(crate) fn errand_ordered() -> (Uuid, FactOf) {
    errand(ErrandEvent::ErrandOrdered {
        errand_id: ErrandId(id(75)),
        workspace_id: WORKSPACE_ID,
        bench: Slug::parse("main").expect("a slug"),
        work: Work::Stop { agent_id: AGENT_ID, tmux_session: "muster-worker-1".into() },
        ordered_at: at(0),
    })
}

pub(crate) fn errand(event: ErrandEvent) -> (Uuid, FactOf) {
    (id(75), FactOf::Errand(event))
}
