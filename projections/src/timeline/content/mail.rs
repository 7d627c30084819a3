//! What people are told of what agents write, of tools that failed and of notifications that did not get through.

use domain::AgentId;
use domain::mail::{Addressee, MailEvent, Sender};
use domain::notification::NotificationEvent;
use domain::tool_call::ToolCallEvent;
use serde_json::json;
use uuid::Uuid;

use super::{Said, agent_shown};
use crate::{FoldError, Rows};

/// The agent that wrote a mail to people.
pub(in crate::timeline) fn agent_of(event: &MailEvent) -> Option<Uuid> {
    match event {
        MailEvent::MailSent { from: Sender::Agent(agent), to: Addressee::Human, .. } => Some(agent.0),
        MailEvent::MailSent { .. } | MailEvent::MailRead { .. } => None,
    }
}

/// The agent whose tool failed, where somebody was told of it.
pub(in crate::timeline) fn caller_of(event: &ToolCallEvent) -> Option<Uuid> {
    match event {
        ToolCallEvent::ToolFailed { agent_id, escalated_to: Some(_), .. } => Some(agent_id.0),
        ToolCallEvent::ToolFailed { .. }
        | ToolCallEvent::ToolCalled { .. }
        | ToolCallEvent::ToolCallRepeated { .. }
        | ToolCallEvent::ToolSucceeded { .. } => None,
    }
}

pub(super) fn received(event: &MailEvent, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let MailEvent::MailSent { mail_id, thread_id, from, to: Addressee::Human, subject, sent_at, .. } = event else {
        return Ok(None);
    };
    let (agent, user) = match from {
        Sender::Agent(agent) => (Some(*agent), None),
        Sender::User(user) => (None, Some(*user)),
        Sender::System => (None, None),
    };
    let from = match user {
        Some(user) => json!({ "userId": user }),
        None => agent_shown(agent, rows)?,
    };
    let content = json!({ "mailId": mail_id, "threadId": thread_id, "from": from, "subject": subject });
    Ok(Some(Said { names: user, ..Said::new(*sent_at, content).about(agent) }))
}

pub(super) fn tool_failed(event: &ToolCallEvent, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let ToolCallEvent::ToolFailed { agent_id, tool, error, critical, escalated_to: Some(told), ended_at, .. } = event
    else {
        return Ok(None);
    };
    let agent: AgentId = *agent_id;
    let content = json!({
        "agent": agent_shown(Some(agent), rows)?,
        "tool": tool,
        "error": error,
        "critical": critical,
        "escalatedTo": told,
    });
    Ok(Some(Said::new(*ended_at, content).about(Some(agent))))
}

pub(super) fn notification_failed(event: &NotificationEvent) -> Option<Said> {
    match event {
        NotificationEvent::NotificationFailed { channel, error, failed_at } => {
            Some(Said::new(*failed_at, json!({ "channel": channel, "error": error })))
        }
        NotificationEvent::NotificationRaised { .. }
        | NotificationEvent::NotificationWithheld { .. }
        | NotificationEvent::NotificationTaken { .. }
        | NotificationEvent::NotificationDelivered { .. }
        | NotificationEvent::NotificationDisallowed { .. } => None,
    }
}
