//! Sessions to test with: agent 30 works in project 20 of workspace 10 under session 50.

use super::{
    Advice, AgentSnapshot, Caller, Confidence, NamedAgent, ProblemCategory, ProblemReport, PulledCounts, Question,
    ReviewRequest, ReviewResponse, SessionEvent, StartSession, Urgency,
};
use crate::examples::{at, dev, id};
use crate::{PullRequestId, ReviewDecision, Severity};

pub(super) fn by_dev() -> Caller {
    Caller { agent_id: id(30), workspace_id: id(10) }
}

pub(super) fn start() -> StartSession {
    StartSession {
        session_id: id(50),
        project_id: id(20),
        project_workspace_id: id(10),
        agent: dev(),
        pulled: PulledCounts { tasks: 2, messages: 3, role_changes: 1 },
        delivered_up_to: 77,
        now: at(0),
    }
}

pub(super) fn started_by(level: bool) -> SessionEvent {
    SessionEvent::SessionStarted {
        session_id: id(50),
        workspace_id: id(10),
        project_id: id(20),
        agent_id: id(30),
        is_organization_level: level,
        pulled: PulledCounts { tasks: 2, messages: 3, role_changes: 1 },
        delivered_up_to: 77,
        agent_snapshot: AgentSnapshot { capabilities: vec!["rust".to_owned()], settings: Default::default() },
        started_at: at(0),
    }
}

pub(super) fn started() -> SessionEvent {
    started_by(false)
}

pub(super) fn started_by_lead() -> SessionEvent {
    started_by(true)
}

pub(super) fn logged() -> SessionEvent {
    SessionEvent::SessionLogged { message: "Reading".to_owned(), context: None, logged_at: at(1) }
}

pub(super) fn stopped() -> SessionEvent {
    SessionEvent::SessionStopped {
        duration_seconds: 420,
        tasks_worked_on: vec![id(60), id(61)],
        summary: Some("Done".to_owned()),
        stopped_at: at(7),
    }
}

pub(super) fn revoked() -> SessionEvent {
    SessionEvent::SessionRevoked { reason: "no heartbeat".to_owned(), duration_seconds: 540, revoked_at: at(9) }
}

pub(super) fn problem() -> ProblemReport {
    ProblemReport {
        title: "It crashes".to_owned(),
        description: "Always".to_owned(),
        context: Default::default(),
        severity: Severity::High,
        category: ProblemCategory::Bug,
    }
}

pub(super) fn advice() -> Advice {
    Advice {
        topic: "Locks".to_owned(),
        advice: "Avoid them".to_owned(),
        context: None,
        related_task: Some(id(60)),
        confidence: Confidence::new(0.8).expect("a confidence"),
    }
}

pub(super) fn question() -> Question {
    Question { question: "Why?".to_owned(), context: Default::default(), urgency: Urgency::Low }
}

fn dev_one() -> NamedAgent {
    NamedAgent { agent_id: id(30), agent_name: "Dev One".to_owned() }
}

pub(super) fn review_request() -> ReviewRequest {
    ReviewRequest {
        pull_request_id: PullRequestId::of(id(20), 7),
        github_pull_request_number: 7,
        github_pull_request_url: "https://github.com/acme/shop/pull/7".to_owned(),
        title: "Add a basket".to_owned(),
        description: None,
        changed_files: 2,
        additions: 30,
        deletions: 4,
        requested_by: dev_one(),
    }
}

pub(super) fn review_response() -> ReviewResponse {
    ReviewResponse {
        pull_request_id: PullRequestId::of(id(20), 8),
        reviewer: dev_one(),
        decision: ReviewDecision::RequestChanges,
        comments: None,
        requested_changes: Some(vec!["Name it".to_owned()]),
        reviewed_at: at(2),
    }
}
