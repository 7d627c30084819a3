//! A mail to test with: mail 80, from worker 30 to supervisor 31, whose seat is epic 61.

use super::{Addressee, Correspondent, Envelope, MailEvent, SendMail, Sender};
use crate::examples::{at, id};

pub(super) fn worker() -> Correspondent {
    Correspondent::Agent { agent_id: id(30), seat: id(60) }
}

pub(super) fn supervisor() -> Correspondent {
    Correspondent::Agent { agent_id: id(31), seat: id(61) }
}

pub(super) fn send() -> SendMail {
    SendMail {
        mail_id: id(80),
        workspace_id: id(10),
        thread_id: None,
        in_reply_to: None,
        from: Sender::Agent(id(30)),
        to: Addressee::Agent { agent_id: id(31), seat: id(61) },
        subject: "PR Ready for Review".to_owned(),
        body: "Task complete: Add a basket".to_owned(),
        now: at(0),
    }
}

pub(super) fn sent() -> MailEvent {
    let it = send();
    MailEvent::MailSent {
        mail_id: it.mail_id,
        workspace_id: it.workspace_id,
        thread_id: it.mail_id,
        in_reply_to: it.in_reply_to,
        from: it.from,
        to: it.to,
        subject: it.subject,
        body: it.body,
        sent_at: it.now,
    }
}

pub(super) fn read() -> MailEvent {
    MailEvent::MailRead { by: supervisor(), read_at: at(1) }
}

pub(super) fn envelope() -> Envelope {
    let it = send();
    Envelope {
        mail_id: it.mail_id,
        workspace_id: it.workspace_id,
        thread_id: it.mail_id,
        from: it.from,
        to: it.to,
        subject: it.subject,
    }
}
