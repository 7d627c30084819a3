//! Marks a mail as read by its addressee.

use domain::mail::{self, Mail, MailCommand};
use domain::{MailId, Party};

use super::correspondent;
use crate::{Decision, Desk, Stop};

/// A mail that the caller reads.
#[derive(Debug, Clone, Copy)]
pub struct ReadMail {
    /// Who reads.
    pub by: Party,
    /// Which mail.
    pub mail_id: MailId,
}

impl Decision for ReadMail {
    type Outcome = MailId;

    fn name(&self) -> &'static str {
        "mail.read"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<MailId, Stop> {
        let by = correspondent(desk, self.by, self.mail_id).await?;
        let read = mail::ReadMail { by, now: desk.now() };
        desk.run::<Mail>(self.mail_id.0, MailCommand::Read(read)).await?;
        Ok(self.mail_id)
    }
}
