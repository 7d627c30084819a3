//! Queries of mail: one, an inbox, a thread.

use domain::{AgentId, MailId, WorkspaceId};
use store::StoreError;
use store::sql::{Database, Query, Value};
use uuid::Uuid;

use super::{HUMAN, MailView, Seated};
use crate::query::{Conditions, first, page, records};

/// The most mails that a list gives at a time.
pub const LONGEST_LIST: i64 = 100;

/// Whose inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inbox {
    /// That of the people of the workspace.
    Human,
    /// That of whoever has the seat.
    Seat(Uuid),
}

/// One mail.
pub async fn find(views: &Database, id: MailId) -> Result<Option<MailView>, StoreError> {
    first(views, Query::new("select doc from mails where id = $1").bind(id.0)).await
}

/// The mails of an inbox, newest first.
pub async fn inbox(
    views: &Database,
    workspace: WorkspaceId,
    inbox: Inbox,
    only_unread: bool,
    limit: i64,
    offset: i64,
) -> Result<Vec<MailView>, StoreError> {
    let query = of(workspace, inbox, only_unread).query("select doc from mails", "order by position desc");
    records(views, page(query, limit.min(LONGEST_LIST), offset)).await
}

/// How many mails of an inbox nobody has read.
pub async fn count_unread(views: &Database, workspace: WorkspaceId, inbox: Inbox) -> Result<i64, StoreError> {
    let counted = views.first(of(workspace, inbox, true).query("select count(*) from mails", "")).await?;
    counted.map_or(Ok(0), |row| row.int(0))
}

/// The mails of a thread, oldest first.
pub async fn thread(views: &Database, thread: MailId, limit: i64, offset: i64) -> Result<Vec<MailView>, StoreError> {
    let query = Query::new("select doc from mails where thread_id = $1 order by position").bind(thread.0);
    records(views, page(query, limit.min(LONGEST_LIST), offset)).await
}

/// The seat of an agent; its own id if it has none.
pub async fn seat_of(views: &Database, agent: AgentId) -> Result<Uuid, StoreError> {
    let query = Query::new("select doc from mail_seats where agent_id = $1").bind(agent.0);
    let found: Option<Seated> = first(views, query).await?;
    Ok(found.map_or(agent.0, |it| it.seat))
}

fn of(workspace: WorkspaceId, inbox: Inbox, only_unread: bool) -> Conditions {
    let name: Value = match inbox {
        Inbox::Human => HUMAN.into(),
        Inbox::Seat(seat) => seat.into(),
    };
    Conditions::default()
        .and("workspace_id =", Some(workspace.0))
        .and("inbox =", Some(name))
        .and("unread =", only_unread.then_some(true))
}
