//! Send a mail.

use chrono::{DateTime, Utc};

use super::{Addressee, Mail, MailError, MailEvent, Sender};
use crate::{MailId, WorkspaceId, redact};

/// The longest subject, in characters.
pub const LONGEST_SUBJECT: usize = 200;
/// The longest body, in characters.
pub const LONGEST_BODY: usize = 20_000;

/// Sends a mail. What is not text, or is a secret by its form, is taken out of it, and what is too long is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendMail {
    /// The id it gets.
    pub mail_id: MailId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The thread it continues; none if it begins one.
    pub thread_id: Option<MailId>,
    /// The mail that it answers.
    pub in_reply_to: Option<MailId>,
    /// Who writes.
    pub from: Sender,
    /// To whom.
    pub to: Addressee,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// What an answer is about.
pub fn reply_subject(subject: &str) -> String {
    let answered = subject.get(..3).is_some_and(|it| it.eq_ignore_ascii_case("re:"));
    if answered { subject.to_owned() } else { format!("Re: {subject}") }
}

pub(crate) fn decide(mail: &Mail, command: SendMail) -> Result<Vec<MailEvent>, MailError> {
    match mail {
        Mail::Absent => {}
        Mail::Unread(_) | Mail::Read(_) => return Err(MailError::AlreadyExists),
    }
    let subject = redact::spoken_line(&command.subject, LONGEST_SUBJECT);
    let body = redact::spoken_lines(&command.body, LONGEST_BODY);
    if body.trim().is_empty() && subject.is_empty() {
        return Err(MailError::Empty);
    }
    Ok(vec![MailEvent::MailSent {
        mail_id: command.mail_id,
        workspace_id: command.workspace_id,
        thread_id: command.thread_id.unwrap_or(command.mail_id),
        in_reply_to: command.in_reply_to,
        from: command.from,
        to: command.to,
        subject,
        body,
        sent_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{read, send, sent};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, given, id};
    use crate::mail::MailCommand;

    fn command(it: SendMail) -> MailCommand {
        MailCommand::Send(Box::new(it))
    }

    #[test]
    fn a_mail_begins_a_thread_or_continues_one() {
        given::<Mail>([]).when(command(send())).then_expect_events(vec![sent()]);
        let reply = SendMail { thread_id: Some(id(79)), in_reply_to: Some(id(79)), ..send() };
        let events = decide(&Mail::Absent, reply).expect("a mail");
        assert!(matches!(&events[..], [MailEvent::MailSent { thread_id, .. }] if *thread_id == id(79)));
    }

    #[test]
    fn a_mail_is_sent_once() {
        for history in [vec![sent()], vec![sent(), read()]] {
            given::<Mail>(history).when(command(send())).then_expect_error(MailError::AlreadyExists);
        }
    }

    #[test]
    fn only_text_is_stored_and_not_too_much_of_it() {
        let asked = SendMail {
            subject: "Rebase\u{1b}[31m\r\nRequired".to_owned(),
            body: format!("\u{202e}{}", "x".repeat(LONGEST_BODY + 1)),
            ..send()
        };
        let events = decide(&Mail::Absent, asked).expect("a mail");
        let [MailEvent::MailSent { subject, body, .. }] = &events[..] else { panic!("one event") };
        assert_eq!(subject, "Rebase Required");
        assert_eq!((body.chars().count(), body.ends_with("[shortened]")), (LONGEST_BODY, true));
    }

    #[test]
    fn no_secret_that_its_form_gives_away_is_stored() {
        let key = format!("ghp_{}", "a1".repeat(18));
        let asked = SendMail { subject: format!("Use {key}"), body: format!("let token = next();\n{key}"), ..send() };
        let events = decide(&Mail::Absent, asked).expect("a mail");
        let [MailEvent::MailSent { subject, body, .. }] = &events[..] else { panic!("one event") };
        assert_eq!((subject.as_str(), body.as_str()), ("Use [redacted]", "let token = next();\n[redacted]"));
    }

    #[test]
    fn a_mail_of_nothing_but_escapes_says_nothing() {
        given::<Mail>([])
            .when(command(SendMail { subject: "\u{200b}".to_owned(), body: "\u{1b}[0m\n".to_owned(), ..send() }))
            .then_expect_error(MailError::Empty);
    }

    #[test]
    fn a_mail_belongs_to_its_workspace() {
        assert_eq!(Mail::Absent.workspace(), None);
        assert_eq!(after::<Mail>([sent()]).workspace(), Some(id(10)));
    }

    #[test]
    fn an_answer_says_once_that_it_is_one() {
        assert_eq!(reply_subject("Rebase Required"), "Re: Rebase Required");
        assert_eq!(reply_subject("RE: Rebase Required"), "RE: Rebase Required");
        assert_eq!(reply_subject("ä"), "Re: ä");
    }
}
