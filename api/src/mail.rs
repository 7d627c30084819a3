//! Mail: the inbox of the people of a workspace, and, to look at only, that of any agent.
//!
//! Who reaches what: an owner every mail of their workspaces, of which they send, answer and read those of people; an
//! agent the inboxes of agents that it may look at, one of the factory its own, and the threads that it is part of.
//! Agents write through MCP.

mod bodies;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use axum::extract::State;
use commands::Done;
use commands::mail::{self as command, To};
use domain::{AgentId, MailId, Party, WorkspaceId};
use projections::mail::{self as mails, Inbox, MailView};
use projections::{agents, workspaces};

use bodies::{InboxBody, MailBody, OneMail, ReadInbox, ReadMail, ReadThread, ReplyMail, SendMail, ThreadBody};

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::{Ask, LookBack};
use crate::openapi::route;
use crate::past::{Scene, Subject};

/// Mails of a page, unless the client says otherwise.
const PAGE: i64 = 50;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const INBOX: &[Code] =
        &[Code::WorkspaceNotFound, Code::WorkspaceAccessDenied, Code::AgentNotFound, Code::AgentAccessDenied];
    const THREAD: &[Code] = &[Code::MailNotFound, Code::MailAccessDenied];
    const SEND: &[Code] = &[
        Code::WorkspaceNotFound,
        Code::WorkspaceAccessDenied,
        Code::AgentNotFound,
        Code::AgentAccessDenied,
        Code::MailEmpty,
    ];
    const REPLY: &[Code] =
        &[Code::MailNotFound, Code::MailAccessDenied, Code::MailEmpty, Code::MailNoReply, Code::AgentNotFound];
    const READ: &[Code] = &[Code::MailNotFound, Code::MailAccessDenied, Code::MailNotAddressee];
    ApiRouter::new()
        .api_route("/mail.inbox", get_with(inbox, route("mail", "An inbox: of people, or of an agent", INBOX)))
        .api_route("/mail.thread", get_with(thread, route("mail", "The mails of a thread, oldest first", THREAD)))
        .api_route("/mail.send", post_with(send, route("mail", "Write to an agent, or to the people", SEND)))
        .api_route("/mail.reply", post_with(reply, route("mail", "Answer a mail in its thread", REPLY)))
        .api_route("/mail.read", post_with(read, route("mail", "Mark a mail of people as read", READ)))
}

async fn inbox(State(app): State<Arc<App>>, look: LookBack<Caller, ReadInbox>) -> SeenAt<InboxBody> {
    let post = app.admit_to_tool(&look.by, "mcp__mail__list_inbox").await?;
    let about = Subject::Workspace(look.input.workspace_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, agents::NAME, mails::NAME]).await?;
    let (by, asked) = (look.by, look.input);
    let workspace = scene.live_workspace_in_reach(&by, WorkspaceId(asked.workspace_id)).await?.id;
    let agent = match (&by, asked.agent_id.map(AgentId)) {
        (Caller::Owner(_), None) => None,
        (Caller::Agent(own), None) => Some(own.agent_id),
        (Caller::Agent(own), Some(agent)) if post.is_some() && own.agent_id != agent => {
            return Err(ApiError::new(Code::AgentAccessDenied, "an agent of the factory has its own inbox only"));
        }
        (Caller::Agent(_) | Caller::Owner(_), Some(agent)) => Some(agent),
    };
    let whose = match agent {
        None => Inbox::Human,
        Some(id) => {
            let agent = scene.agent_in_reach(&by, id).await?;
            if agent.workspace_id != workspace {
                return Err(ApiError::new(Code::AgentAccessDenied, "the agent is in another workspace"));
            }
            Inbox::Seat(mails::seat_of(&scene.views, id).await?)
        }
    };
    let (limit, offset) = (asked.limit.unwrap_or(PAGE), asked.offset.unwrap_or(0));
    let only_unread = asked.unread.unwrap_or(false);
    let found = mails::inbox(&scene.views, workspace, whose, only_unread, limit, offset).await?;
    let unread_count = mails::count_unread(&scene.views, workspace, whose).await?;
    Ok(ShownAt::new(&scene, &InboxBody { mail: found.into_iter().map(MailBody::from).collect(), unread_count }))
}

async fn thread(State(app): State<Arc<App>>, look: LookBack<Caller, ReadThread>) -> SeenAt<ThreadBody> {
    let about = Subject::Mail(look.input.mail_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, mails::NAME]).await?;
    let asked = look.input;
    let mail = scene.mail_in_reach(&look.by, MailId(asked.mail_id)).await?;
    let (limit, offset) = (asked.limit.unwrap_or(PAGE), asked.offset.unwrap_or(0));
    let found = mails::thread(&scene.views, mail.thread_id, limit, offset).await?;
    let body = ThreadBody { thread_id: mail.thread_id.0, mail: found.into_iter().map(MailBody::from).collect() };
    Ok(ShownAt::new(&scene, &body))
}

async fn send(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, SendMail>,
) -> Result<Answer<OneMail>, ApiError> {
    let to = match (input.to_agent_id, input.to_human.unwrap_or(false)) {
        (Some(agent), false) => To::Agent(AgentId(agent)),
        (None, true) => To::Human,
        (Some(_), true) | (None, false) => {
            let text = "must say one addressee: toAgentId, or toHuman true";
            return Err(ApiError::validation(vec![BadField::new("toAgentId", text)]));
        }
    };
    let send = command::SendMail {
        by: Party::User(by.user_id),
        workspace_id: WorkspaceId(input.workspace_id),
        to,
        subject: input.subject,
        body: input.body,
    };
    let done = app.run(&context, &send).await?;
    app.mail_answer(&done).await
}

async fn reply(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, ReplyMail>,
) -> Result<Answer<OneMail>, ApiError> {
    let in_reply_to = MailId(input.in_reply_to_mail_id);
    let reply = command::ReplyMail { by: Party::User(by.user_id), in_reply_to, body: input.body };
    let done = app.run(&context, &reply).await?;
    app.mail_answer(&done).await
}

async fn read(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, ReadMail>,
) -> Result<Answer<OneMail>, ApiError> {
    let read = command::ReadMail { by: Party::User(by.user_id), mail_id: MailId(input.mail_id) };
    let done = app.run(&context, &read).await?;
    app.mail_answer(&done).await
}

impl App {
    async fn mail_answer(&self, done: &Done<MailId>) -> Result<Answer<OneMail>, ApiError> {
        let shown: Option<MailView> = self.shown(done, done.outcome.0).await?;
        Ok(Answer::of(done, shown.map(|it| OneMail { mail: it.into() })))
    }
}

impl Scene<'_> {
    /// A mail that the caller may look at: an owner and an organization agent any of the workspace, a project agent and
    /// one of the factory those that it wrote or got.
    pub(crate) async fn mail_in_reach(&self, by: &Caller, id: MailId) -> Result<MailView, ApiError> {
        let post = self.app.admit_to_tool(by, "mcp__mail__read").await?;
        let found = mails::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::MailNotFound, "the mail does not exist"))?;
        let is_own = match by {
            Caller::Agent(agent) if agent.workspace_id == found.workspace_id => {
                found.from_agent_id == Some(agent.agent_id)
                    || found.seat == Some(mails::seat_of(&self.views, agent.agent_id).await?)
            }
            Caller::Agent(_) | Caller::Owner(_) => false,
        };
        if is_own || post.is_none() && self.app.reaches(by, found.workspace_id, None).await? {
            return Ok(found);
        }
        Err(ApiError::new(Code::MailAccessDenied, "the mail is out of your reach"))
    }
}
