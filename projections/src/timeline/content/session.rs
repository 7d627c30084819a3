//! What an agent does and says in a session.

use domain::SessionId;
use domain::session::{Advice, NamedAgent, ProblemReport, Question, ReviewRequest, ReviewResponse, SessionEvent};
use serde_json::{Value, json};

use super::{Said, with_optional};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &SessionEvent, subject: &Subject) -> Said {
    let told = |at, content, mentions: &[_]| Said { agents: mentions.to_vec(), ..Said::new(at, content) };
    let said = match event {
        SessionEvent::SessionStarted { pulled, started_at, .. } => {
            let pulled = json!({
                "tasks": pulled.tasks,
                "messages": pulled.messages,
                "roleChanges": pulled.role_changes,
            });
            Said::new(*started_at, json!({ "pulledUpdates": pulled }))
        }
        SessionEvent::SessionLogged { message, context, logged_at } => {
            Said::new(*logged_at, with_optional(json!({ "message": message }), [("context", json!(context))]))
        }
        SessionEvent::ProblemReported { content, mentions, published_at } => {
            told(*published_at, problem(content), mentions)
        }
        SessionEvent::AdviceGiven { content, mentions, published_at } => {
            Said { task: content.related_task, ..told(*published_at, advice(content), mentions) }
        }
        SessionEvent::QuestionAsked { content, mentions, published_at } => {
            Said { task: content.context.related_task, ..told(*published_at, question(content), mentions) }
        }
        SessionEvent::ReviewRequested { content, mentions, published_at } => {
            told(*published_at, review_request(content), mentions)
        }
        SessionEvent::ReviewResponded { content, mentions, published_at } => {
            told(*published_at, review_response(content), mentions)
        }
        SessionEvent::SessionStopped { duration_seconds, tasks_worked_on, summary, stopped_at } => {
            let content = json!({ "durationSeconds": duration_seconds, "tasksWorkedOn": tasks_worked_on });
            Said::new(*stopped_at, with_optional(content, [("summary", json!(summary))]))
        }
        SessionEvent::SessionRevoked { reason, duration_seconds, revoked_at } => {
            let content = json!({ "durationSeconds": duration_seconds, "tasksWorkedOn": [], "revokedBecause": reason });
            Said::new(*revoked_at, content)
        }
    };
    Said { session: Some(SessionId(subject.id)), about: subject.agent_id, ..said }
}

fn problem(it: &ProblemReport) -> Value {
    let context = with_optional(
        json!({}),
        [
            ("file", json!(it.context.file)),
            ("lineNumber", json!(it.context.line_number)),
            ("error", json!(it.context.error)),
            ("stackTrace", json!(it.context.stack_trace)),
        ],
    );
    json!({
        "title": it.title,
        "description": it.description,
        "context": context,
        "severity": it.severity,
        "category": it.category,
    })
}

fn advice(it: &Advice) -> Value {
    let content = json!({ "topic": it.topic, "advice": it.advice, "confidence": it.confidence });
    with_optional(content, [("context", json!(it.context)), ("relatedTask", json!(it.related_task))])
}

fn question(it: &Question) -> Value {
    let context = with_optional(
        json!({}),
        [
            ("relatedTask", json!(it.context.related_task)),
            ("relatedFile", json!(it.context.related_file)),
            ("whatIVeTried", json!(it.context.what_ive_tried)),
        ],
    );
    json!({ "question": it.question, "context": context, "urgency": it.urgency })
}

fn review_request(it: &ReviewRequest) -> Value {
    let content = json!({
        "pullRequestId": it.pull_request_id,
        "githubPullRequestNumber": it.github_pull_request_number,
        "githubPullRequestUrl": it.github_pull_request_url,
        "title": it.title,
        "changedFiles": it.changed_files,
        "additions": it.additions,
        "deletions": it.deletions,
        "requestedBy": named(&it.requested_by),
    });
    with_optional(content, [("description", json!(it.description))])
}

fn review_response(it: &ReviewResponse) -> Value {
    let content = json!({
        "pullRequestId": it.pull_request_id,
        "reviewer": named(&it.reviewer),
        "decision": it.decision,
        "reviewedAt": it.reviewed_at,
    });
    with_optional(content, [("comments", json!(it.comments)), ("requestedChanges", json!(it.requested_changes))])
}

fn named(agent: &NamedAgent) -> Value {
    json!({ "agentId": agent.agent_id, "agentName": agent.agent_name })
}
