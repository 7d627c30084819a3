//! Sessions, and what agents say in them.

use domain::session::{
    Advice, AgentSnapshot, Confidence, NamedAgent, ProblemCategory, ProblemContext, ProblemReport, PulledCounts,
    Question, QuestionContext, ReviewRequest, ReviewResponse, SessionEvent, Urgency,
};
use domain::{ReviewDecision, Severity};

use super::{id, noon, settings, text};

pub(crate) fn events() -> Vec<SessionEvent> {
    vec![
        SessionEvent::SessionStarted {
            session_id: id(10),
            workspace_id: id(2),
            project_id: id(3),
            agent_id: id(4),
            is_organization_level: false,
            pulled: PulledCounts { tasks: 2, messages: 3, role_changes: 1 },
            delivered_up_to: 77,
            agent_snapshot: AgentSnapshot { capabilities: vec![text("rust")], settings: settings() },
            started_at: noon(),
        },
        SessionEvent::SessionLogged { message: text("Reading"), context: Some(settings()), logged_at: noon() },
        SessionEvent::ProblemReported {
            content: ProblemReport {
                title: text("It crashes"),
                description: text("Always"),
                context: ProblemContext {
                    file: Some(text("src/main.rs")),
                    line_number: Some(7),
                    error: Some(text("out of range")),
                    stack_trace: Some(text("main.rs:7")),
                },
                severity: Severity::Critical,
                category: ProblemCategory::Architecture,
            },
            mentions: vec![id(5)],
            published_at: noon(),
        },
        SessionEvent::AdviceGiven {
            content: Advice {
                topic: text("Locks"),
                advice: text("Avoid them"),
                context: Some(settings()),
                related_task: Some(id(11)),
                confidence: Confidence::new(0.8).expect("a confidence"),
            },
            mentions: vec![id(5)],
            published_at: noon(),
        },
        SessionEvent::QuestionAsked {
            content: Question {
                question: text("Why?"),
                context: QuestionContext {
                    related_task: Some(id(11)),
                    related_file: Some(text("src/main.rs")),
                    what_ive_tried: Some(text("Everything")),
                },
                urgency: Urgency::High,
            },
            mentions: vec![id(5)],
            published_at: noon(),
        },
        SessionEvent::ReviewRequested {
            content: ReviewRequest {
                pull_request_id: id(12),
                github_pull_request_number: 7,
                github_pull_request_url: text("https://github.com/acme/shop/pull/7"),
                title: text("Add a basket"),
                description: Some(text("With wheels")),
                changed_files: 2,
                additions: 30,
                deletions: 4,
                requested_by: dev_one(),
            },
            mentions: vec![id(5)],
            published_at: noon(),
        },
        SessionEvent::ReviewResponded {
            content: ReviewResponse {
                pull_request_id: id(12),
                reviewer: dev_one(),
                decision: ReviewDecision::RequestChanges,
                comments: Some(text("Nearly")),
                requested_changes: Some(vec![text("Name it")]),
                reviewed_at: noon(),
            },
            mentions: vec![id(5)],
            published_at: noon(),
        },
        SessionEvent::SessionStopped {
            duration_seconds: 420,
            tasks_worked_on: vec![id(11)],
            summary: Some(text("Done")),
            stopped_at: noon(),
        },
        SessionEvent::SessionRevoked { reason: text("no heartbeat"), duration_seconds: 540, revoked_at: noon() },
    ]
}

fn dev_one() -> NamedAgent {
    NamedAgent { agent_id: id(4), agent_name: text("Dev One") }
}
