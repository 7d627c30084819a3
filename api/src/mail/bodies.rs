//! What goes in and out of the routes of mail.

use chrono::{DateTime, Utc};
use projections::mail::MailView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::input::without_nulls;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ReadInbox {
    pub(super) workspace_id: Uuid,
    /// The inbox of this agent, which its predecessors' mail is in too; without, that of people, or an agent's own.
    pub(super) agent_id: Option<Uuid>,
    /// Only what nobody has read.
    pub(super) unread: Option<bool>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0), extend("default" = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ReadThread {
    /// Any mail of the thread.
    pub(super) mail_id: Uuid,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0), extend("default" = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct SendMail {
    pub(super) workspace_id: Uuid,
    /// To this agent, or whoever has its place now.
    pub(super) to_agent_id: Option<Uuid>,
    /// To the people of the workspace: a note to oneself.
    pub(super) to_human: Option<bool>,
    #[schemars(length(min = 1, max = 200))]
    pub(super) subject: String,
    #[schemars(length(min = 1, max = 20_000))]
    pub(super) body: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ReplyMail {
    pub(super) in_reply_to_mail_id: Uuid,
    #[schemars(length(min = 1, max = 20_000))]
    pub(super) body: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ReadMail {
    pub(super) mail_id: Uuid,
}

/// A mail.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Mail")]
pub(crate) struct MailBody {
    id: Uuid,
    workspace_id: Uuid,
    /// The first mail of its thread.
    thread_id: Uuid,
    in_reply_to: Option<Uuid>,
    /// The agent that wrote it; null when a person or Muster did.
    from_agent_id: Option<Uuid>,
    /// The person who wrote it; null when an agent or Muster did.
    from_user_id: Option<Uuid>,
    /// The agent that it was sent to; its successors have it too. Null for people.
    to_agent_id: Option<Uuid>,
    to_human: bool,
    subject: String,
    body: String,
    read: bool,
    read_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneMail {
    pub(super) mail: MailBody,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InboxBody {
    /// Newest first.
    pub(super) mail: Vec<MailBody>,
    /// How many of the whole inbox nobody has read.
    pub(super) unread_count: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadBody {
    pub(super) thread_id: Uuid,
    /// Oldest first.
    pub(super) mail: Vec<MailBody>,
}

impl From<MailView> for MailBody {
    fn from(it: MailView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            thread_id: it.thread_id.0,
            in_reply_to: it.in_reply_to.map(|id| id.0),
            from_agent_id: it.from_agent_id.map(|id| id.0),
            from_user_id: it.from_user_id.map(|id| id.0),
            to_agent_id: it.to_agent_id.map(|id| id.0),
            to_human: it.to_human,
            subject: it.subject,
            body: it.body,
            read: it.read,
            read_at: it.read_at,
            created_at: it.created_at,
        }
    }
}
