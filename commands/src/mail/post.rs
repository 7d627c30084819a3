//! Puts a mail into the post, in the commit of whatever decision sends it.

use domain::mail::{Addressee, Mail, MailCommand, SendMail, Sender};
use domain::{AgentId, MailId, WorkspaceId};

use crate::seat;
use crate::{Desk, Stop};

/// A mail that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Who writes.
    pub from: Sender,
    /// To whom.
    pub to: To,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
}

/// To whom a mail is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// To an agent of the workspace, or whoever has its place now.
    Agent(AgentId),
    /// To the people of the workspace.
    Human,
}

/// A mail that continues a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread {
    pub(super) thread_id: MailId,
    pub(super) in_reply_to: MailId,
}

/// Sends a mail in the commit that this desk prepares: it is sent if that lands, and only then.
///
/// Its id follows from the command, so that a decision that is made again sends the same mail.
pub async fn post(desk: &mut Desk<'_>, letter: Letter) -> Result<MailId, Stop> {
    post_in(desk, letter, None).await
}

pub(super) async fn post_in(desk: &mut Desk<'_>, letter: Letter, thread: Option<Thread>) -> Result<MailId, Stop> {
    let Letter { workspace_id, from, to, subject, body } = letter;
    let to = match to {
        To::Agent(agent_id) => seat::addressee(desk, workspace_id, agent_id).await?,
        To::Human => Addressee::Human,
    };
    let mail_id = MailId(desk.new_id());
    let send = SendMail {
        mail_id,
        workspace_id,
        thread_id: thread.map(|it| it.thread_id),
        in_reply_to: thread.map(|it| it.in_reply_to),
        from,
        to,
        subject,
        body,
        now: desk.now(),
    };
    desk.begin::<Mail>(mail_id.0, MailCommand::Send(Box::new(send))).await?;
    Ok(mail_id)
}
