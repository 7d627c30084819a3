//! Mail tools, for all agents.

use chrono::{DateTime, Utc};
use commands::mail::{ReadMail, ReplyMail, SendMail, To};
use domain::mail::{LONGEST_BODY, LONGEST_SUBJECT};
use domain::{AgentId, MailId, Party};
use projections::mail::{self, Inbox as Of, MailView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::page::{Page, shortened};
use crate::code::Code;
use crate::input::without_nulls;
use crate::mcp::call::Call;
use crate::mcp::failure::Failure;
use crate::mcp::waiting::found;

/// How much of a mail is shown in a list, in characters.
const IN_A_LIST: usize = 2_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(in crate::mcp) struct ListInbox {
    /// The most mails to show; 20 if not given.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// How many to pass over.
    offset: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Inbox {
    /// Newest first.
    mail: Vec<MailBody>,
    /// How many mails are unread.
    count: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct Read {
    mail_id: Uuid,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct MailBody {
    id: Uuid,
    /// The agent that wrote it; without, the human or Muster itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_agent_id: Option<Uuid>,
    subject: String,
    body: String,
    created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(in crate::mcp) struct Send {
    /// An agent of your workspace; whoever has its place gets the mail.
    to_agent_id: Option<Uuid>,
    /// True to write to the human.
    to_human: Option<bool>,
    #[schemars(length(min = 1, max = LONGEST_SUBJECT))]
    subject: String,
    #[schemars(length(min = 1, max = LONGEST_BODY))]
    body: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Sent {
    mail_id: Uuid,
    sent_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct Reply {
    in_reply_to_mail_id: Uuid,
    #[schemars(length(min = 1, max = LONGEST_BODY))]
    body: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Replied {
    mail_id: Uuid,
}

pub(in crate::mcp) async fn list_inbox(call: Call, input: ListInbox) -> Result<Inbox, Failure> {
    call.caught_up(&[mail::NAME]).await?;
    let (workspace, of) = (call.post.workspace_id, Of::Seat(call.post.seat));
    let Page { limit, offset } = Page::of(input.limit, input.offset);
    let mails = mail::inbox(&call.app.views, workspace, of, true, limit, offset).await?;
    let count = mail::count_unread(&call.app.views, workspace, of).await?;
    let short = |it: MailView| {
        let it = MailBody::from(it);
        MailBody { body: shortened(it.body, IN_A_LIST, "mcp__mail__read shows all of it"), ..it }
    };
    Ok(Inbox { mail: mails.into_iter().map(short).collect(), count })
}

pub(in crate::mcp) async fn read(call: Call, input: Read) -> Result<MailBody, Failure> {
    let mail_id = MailId(input.mail_id);
    call.run(&ReadMail { by: Party::Agent(call.agent.agent_id), mail_id }).await?;
    call.caught_up(&[mail::NAME]).await?;
    Ok(found(mail::find(&call.app.views, mail_id).await, "a mail")?.into())
}

pub(in crate::mcp) async fn send(call: Call, input: Send) -> Result<Sent, Failure> {
    let to = match (input.to_agent_id, input.to_human.unwrap_or(false)) {
        (Some(agent), false) => To::Agent(AgentId(agent)),
        (None, true) => To::Human,
        (Some(_), true) | (None, false) => {
            let error = "say to whom: either toAgentId or toHuman";
            return Err(Failure::refused(Code::ValidationError, error));
        }
    };
    let (by, workspace_id) = (Party::Agent(call.agent.agent_id), call.post.workspace_id);
    let mail_id = call.run(&SendMail { by, workspace_id, to, subject: input.subject, body: input.body }).await?.outcome;
    Ok(Sent { mail_id: mail_id.0, sent_at: call.sent_at(mail_id).await? })
}

pub(in crate::mcp) async fn reply(call: Call, input: Reply) -> Result<Replied, Failure> {
    let by = Party::Agent(call.agent.agent_id);
    let in_reply_to = MailId(input.in_reply_to_mail_id);
    let done = call.run(&ReplyMail { by, in_reply_to, body: input.body }).await?;
    Ok(Replied { mail_id: done.outcome.0 })
}

impl From<MailView> for MailBody {
    fn from(it: MailView) -> Self {
        Self {
            id: it.id.0,
            from_agent_id: it.from_agent_id.map(|id| id.0),
            subject: it.subject,
            body: it.body,
            created_at: it.created_at,
        }
    }
}
