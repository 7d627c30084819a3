//! A mail: how agents talk with each other and with the people of their workspace. One stream per mail.
//!
//! A mail to an agent is a mail to its **seat**: the place that its successors inherit. So whoever holds the place
//! has the mail of those before, read and unread.

mod address;
#[cfg(test)]
mod examples;
mod read;
mod send;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use address::{Addressee, Correspondent, Sender};
pub use read::ReadMail;
pub use send::{LONGEST_BODY, LONGEST_SUBJECT, SendMail, reply_subject};

use crate::catalogue::event_kinds;
use crate::{Demand, Entity, MailId, WorkspaceId};

/// The life of a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mail {
    /// Not sent yet.
    #[default]
    Absent,
    /// Sent, and not read by its addressee.
    Unread(Box<Envelope>),
    /// Read by its addressee.
    Read(Box<Envelope>),
}

/// What later decisions need to know of a mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Which mail it is.
    pub mail_id: MailId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The first mail of its thread.
    pub thread_id: MailId,
    /// Who wrote it.
    pub from: Sender,
    /// To whom.
    pub to: Addressee,
    /// What it is about.
    pub subject: String,
}

/// What is asked of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailCommand {
    /// See [`SendMail`].
    Send(Box<SendMail>),
    /// See [`ReadMail`].
    Read(ReadMail),
}

/// What happened to a mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailEvent {
    /// It was sent, and is in the inbox of its addressee.
    MailSent {
        /// Which mail it is.
        mail_id: MailId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The first mail of its thread; itself, if it begins one.
        thread_id: MailId,
        /// The mail that it answers.
        in_reply_to: Option<MailId>,
        /// Who wrote it.
        from: Sender,
        /// To whom.
        to: Addressee,
        /// What it is about.
        subject: String,
        /// What it says.
        body: String,
        /// When it happened.
        sent_at: DateTime<Utc>,
    },
    /// Its addressee read it, for the first time.
    MailRead {
        /// Who read it.
        by: Correspondent,
        /// When it happened.
        read_at: DateTime<Utc>,
    },
}

event_kinds! { MailEvent of Mail {
    MailSent "1" "An agent, a person or Muster itself wrote to an agent or to the people of the workspace." {
        text["subject", "body"]
        plain["from", "to"]
    }
    MailRead "1" "The addressee of a mail read it for the first time."
}}

/// Why a command on a mail is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MailError {
    /// It was never sent.
    #[error("the mail does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the mail exists already")]
    AlreadyExists,
    /// Its workspace, or its inbox, is another's.
    #[error("the mail is not yours to use")]
    AccessDenied,
    /// It is in an agent's inbox: people may look there, but only the agent reads.
    #[error("the mail is an agent's to read")]
    NotAddressee,
    /// Nothing is left of it without what is not text.
    #[error("the mail says nothing")]
    Empty,
    /// Muster wrote it, and reads no answers.
    #[error("nobody would read an answer to this mail")]
    NoReply,
}

impl Mail {
    /// From whom, to whom and about what, if it was sent.
    pub fn envelope(&self) -> Result<&Envelope, MailError> {
        match self {
            Self::Absent => Err(MailError::NotFound),
            Self::Unread(it) | Self::Read(it) => Ok(it),
        }
    }

    fn decide(&self, command: MailCommand) -> Result<Vec<MailEvent>, MailError> {
        match command {
            MailCommand::Send(it) => send::decide(self, *it),
            MailCommand::Read(it) => read::decide(self, it),
        }
    }
}

impl Aggregate for Mail {
    const TYPE: &'static str = "mail";
    type Command = MailCommand;
    type Event = MailEvent;
    type Error = MailError;
    type Services = ();

    async fn handle(&mut self, command: MailCommand, (): &(), sink: &EventSink<Self>) -> Result<(), MailError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: MailEvent) {
        match event {
            MailEvent::MailSent {
                mail_id,
                workspace_id,
                thread_id,
                in_reply_to: _,
                from,
                to,
                subject,
                body: _,
                sent_at: _,
            } => {
                *self = Self::Unread(Box::new(Envelope { mail_id, workspace_id, thread_id, from, to, subject }));
            }
            MailEvent::MailRead { by: _, read_at: _ } => {
                if let Self::Unread(envelope) = self {
                    *self = Self::Read(envelope.clone());
                }
            }
        }
    }
}

impl Entity for Mail {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.envelope().ok().map(|it| it.workspace_id)
    }

    fn demands(&self, event: &MailEvent) -> Vec<Demand<MailError>> {
        match event {
            MailEvent::MailSent { .. } | MailEvent::MailRead { .. } => vec![],
        }
    }
}
