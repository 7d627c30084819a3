//! Read a mail.

use chrono::{DateTime, Utc};

use super::{Correspondent, Mail, MailError, MailEvent};

/// Marks a mail as read by its addressee; once is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMail {
    /// Who reads.
    pub by: Correspondent,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(mail: &Mail, command: ReadMail) -> Result<Vec<MailEvent>, MailError> {
    let envelope = mail.envelope()?;
    if !command.by.receives(envelope.to) {
        return Err(match command.by {
            Correspondent::Agent { .. } => MailError::AccessDenied,
            Correspondent::User(_) => MailError::NotAddressee,
        });
    }
    match mail {
        Mail::Unread(_) => Ok(vec![MailEvent::MailRead { by: command.by, read_at: command.now }]),
        Mail::Absent | Mail::Read(_) => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{read, sent, supervisor, worker};
    use super::*;
    use crate::examples::{at, given, id};
    use crate::mail::MailCommand;

    fn command(by: Correspondent) -> MailCommand {
        MailCommand::Read(ReadMail { by, now: at(1) })
    }

    #[test]
    fn the_addressee_reads_once() {
        given::<Mail>([sent()]).when(command(supervisor())).then_expect_events(vec![read()]);
        given::<Mail>([sent(), read()]).when(command(supervisor())).then_expect_events(vec![]);
    }

    #[test]
    fn a_successor_reads_what_its_predecessor_got() {
        let successor = Correspondent::Agent { agent_id: id(32), seat: id(61) };
        let by_successor = MailEvent::MailRead { by: successor, read_at: at(1) };
        given::<Mail>([sent()]).when(command(successor)).then_expect_events(vec![by_successor]);
    }

    #[test]
    fn nobody_else_reads_it() {
        given::<Mail>([sent()]).when(command(worker())).then_expect_error(MailError::AccessDenied);
        given::<Mail>([sent()]).when(command(Correspondent::User(id(1)))).then_expect_error(MailError::NotAddressee);
        given::<Mail>([]).when(command(supervisor())).then_expect_error(MailError::NotFound);
    }
}
