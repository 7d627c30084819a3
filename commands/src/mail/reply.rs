//! Answers a mail, in its thread.

use domain::mail::{Mail, reply_subject};
use domain::{MailId, Party};

use super::post::{Thread, post_in};
use super::{Letter, To, correspondent, sender};
use crate::{Decision, Desk, Stop};

/// An answer to a mail that the caller got, or one more word to a mail that the caller sent.
#[derive(Debug, Clone)]
pub struct ReplyMail {
    /// Who writes.
    pub by: Party,
    /// Which mail is answered.
    pub in_reply_to: MailId,
    /// What the answer says.
    pub body: String,
}

impl Decision for ReplyMail {
    type Outcome = MailId;

    fn name(&self) -> &'static str {
        "mail.reply"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<MailId, Stop> {
        let by = correspondent(desk, self.by, self.in_reply_to).await?;
        let mail = desk.load::<Mail>(self.in_reply_to.0).await?;
        let envelope = mail.state.envelope()?;
        let letter = Letter {
            workspace_id: envelope.workspace_id,
            from: sender(self.by),
            to: envelope.answered_by(by)?.map_or(To::Human, To::Agent),
            subject: reply_subject(&envelope.subject),
            body: self.body.clone(),
        };
        let thread = Thread { thread_id: envelope.thread_id, in_reply_to: self.in_reply_to };
        post_in(desk, letter, Some(thread)).await
    }
}
