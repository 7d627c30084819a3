//! Mail as its addressees see it: one row per mail, found by inbox and by thread, and the seat of every agent.

mod queries;

use chrono::{DateTime, Utc};
use domain::mail::{Addressee, MailEvent, Sender};
use domain::post::PostEvent;
use domain::{AgentId, MailId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::{Holds, Table, Value};
use uuid::Uuid;

use crate::fact::{MAIL, POST};
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

pub use queries::{Inbox, LONGEST_LIST, count_unread, find, inbox, seat_of, thread};

/// The projection's name.
pub const NAME: &str = "mail";

/// What the inbox of the people of a workspace is called in its column; every other is called by its seat.
const HUMAN: &str = "human";

/// One mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailView {
    /// Which mail it is.
    pub id: MailId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The first mail of its thread.
    pub thread_id: MailId,
    /// The mail that it answers.
    pub in_reply_to: Option<MailId>,
    /// The agent that wrote it.
    pub from_agent_id: Option<AgentId>,
    /// The person who wrote it.
    pub from_user_id: Option<UserId>,
    /// The agent that it was sent to; whoever has its seat has the mail.
    pub to_agent_id: Option<AgentId>,
    /// The seat in whose inbox it is.
    pub seat: Option<Uuid>,
    /// Whether it is for the people of the workspace.
    pub to_human: bool,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// Whether its addressee has read it.
    pub read: bool,
    /// When that was.
    pub read_at: Option<DateTime<Utc>>,
    /// When it was sent.
    pub created_at: DateTime<Utc>,
    /// Its place in the log.
    pub position: i64,
}

/// The seat of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seated {
    agent_id: AgentId,
    seat: Uuid,
}

/// The mail that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<MailView>, Poison> {
    fold::subject_of(&Mail, facts)
}

/// Folds the facts of mails.
#[derive(Debug, Clone, Copy)]
pub struct Mail;

impl Projection for Mail {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[MAIL, POST])
    }

    fn tables(&self) -> Vec<Table> {
        let mails = Describe::table(MailView::TABLE)
            .key("id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .required("inbox", Holds::Text)
            .required("thread_id", Holds::Text)
            .required("unread", Holds::Int)
            .required("position", Holds::Int)
            .index(&["workspace_id", "inbox", "position"])
            .index(&["workspace_id", "inbox", "unread", "position"])
            .index(&["thread_id", "position"]);
        let seats = Describe::table(Seated::TABLE).key("agent_id", Holds::Text);
        vec![mails.finish(), seats.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        match &fact.of {
            FactOf::Mail(_) => vec![RowKey::of::<MailView>(fact.subject)],
            _ => vec![],
        }
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        if let FactOf::Post(PostEvent::AgentPosted { agent_id, seat, .. }) = &fact.of {
            rows.put(Seated { agent_id: *agent_id, seat: *seat });
        }
        let FactOf::Mail(event) = &fact.of else { return Ok(()) };
        match event {
            MailEvent::MailSent { mail_id, workspace_id, thread_id, in_reply_to, from, to, subject, body, sent_at } => {
                let (from_agent_id, from_user_id) = match from {
                    Sender::Agent(id) => (Some(*id), None),
                    Sender::User(id) => (None, Some(*id)),
                    Sender::System => (None, None),
                };
                let (to_agent_id, seat) = match to {
                    Addressee::Agent { agent_id, seat } => (Some(*agent_id), Some(*seat)),
                    Addressee::Human => (None, None),
                };
                rows.put(MailView {
                    id: *mail_id,
                    workspace_id: *workspace_id,
                    thread_id: *thread_id,
                    in_reply_to: *in_reply_to,
                    from_agent_id,
                    from_user_id,
                    to_agent_id,
                    seat,
                    to_human: *to == Addressee::Human,
                    subject: subject.clone(),
                    body: body.clone(),
                    read: false,
                    read_at: None,
                    created_at: *sent_at,
                    position: fact.position,
                });
                Ok(())
            }
            MailEvent::MailRead { by: _, read_at } => rows.update(fact.subject, |row: &mut MailView| {
                row.read = true;
                row.read_at = Some(*read_at);
            }),
        }
    }
}

impl Record for MailView {
    const TABLE: &'static str = "mails";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.workspace_id.0.into(),
            self.seat.map_or_else(|| HUMAN.into(), Value::from),
            self.thread_id.0.into(),
            (!self.read).into(),
            self.position.into(),
        ]
    }
}

impl Record for Seated {
    const TABLE: &'static str = "mail_seats";

    fn key(&self) -> Key {
        self.agent_id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use domain::mail::Correspondent;

    use super::*;
    use crate::examples::{AGENT_ID, OWNER_ID, at, facts, id, mail, mail_sent};

    fn after(to: Addressee, events: Vec<MailEvent>) -> MailView {
        let history = std::iter::once(mail_sent(to)).chain(events.into_iter().map(mail));
        as_of(&facts(history)).expect("no poison").expect("a mail")
    }

    #[test]
    fn a_mail_is_in_the_inbox_of_a_seat_or_of_people() {
        let to_seat = after(Addressee::Agent { agent_id: AGENT_ID, seat: id(8) }, vec![]);
        assert_eq!((to_seat.to_agent_id, to_seat.to_human), (Some(AGENT_ID), false));
        assert_eq!(to_seat.columns()[1], Value::from(id(8)));
        let to_people = after(Addressee::Human, vec![]);
        assert_eq!((to_people.to_agent_id, to_people.to_human), (None, true));
        assert_eq!(to_people.columns()[1], Value::from("human"));
    }

    #[test]
    fn a_mail_is_unread_until_it_is_read() {
        assert_eq!(after(Addressee::Human, vec![]).columns()[3], Value::from(true));
        let read = MailEvent::MailRead { by: Correspondent::User(OWNER_ID), read_at: at(3) };
        let read = after(Addressee::Human, vec![read]);
        assert_eq!((read.read, read.read_at, read.columns()[3].clone()), (true, Some(at(3)), Value::from(false)));
    }
}
