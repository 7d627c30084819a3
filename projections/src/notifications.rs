//! Notifications as the person they are for sees them, and what that person prefers.

use chrono::{DateTime, Utc};
use domain::notification::{Channel, NotificationEvent, NotificationKind, WithheldReason};
use domain::notification_settings::{NotificationSettingsEvent, Preferences};
use domain::{NotificationId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::{NOTIFICATION, NOTIFICATION_SETTINGS};
use crate::query::{Conditions, first, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "notifications";

/// The most notifications that a list gives at a time.
pub const LONGEST_LIST: i64 = 100;

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationView {
    /// Which notification it is.
    pub id: NotificationId,
    /// The workspace it comes from.
    pub workspace_id: WorkspaceId,
    /// Who is to be told.
    pub user_id: UserId,
    /// What sort of news it is.
    pub kind: NotificationKind,
    /// What it is about.
    pub title: String,
    /// What it says.
    pub message: String,
    /// Why the person is not told.
    pub withheld: Option<WithheldReason>,
    /// What became of each channel.
    pub deliveries: Vec<Delivery>,
    /// Until when the node that last took it has it to tell.
    pub taken_until: Option<DateTime<Utc>>,
    /// When it was raised.
    pub created_at: DateTime<Utc>,
    /// Its place in the log.
    pub position: i64,
}

/// What became of telling a person by one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Which channel.
    pub channel: Channel,
    /// When something became of it; none while nobody knows.
    pub at: Option<DateTime<Utc>>,
    /// Why it did not work, if it did not.
    pub error: Option<String>,
    /// Why it was not tried, if the operator of the node does not allow it.
    pub disallowed: Option<String>,
}

/// What a person prefers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preferred {
    user_id: UserId,
    preferences: Preferences,
}

/// The notifications for a person, newest first; of one workspace, if one is given.
pub async fn list(
    views: &Database,
    user: UserId,
    workspace: Option<WorkspaceId>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<NotificationView>, StoreError> {
    let query = Conditions::default()
        .and("user_id =", Some(user.0))
        .and("workspace_id =", workspace.map(|it| it.0))
        .and("position <", before)
        .query("select doc from notifications", "order by position desc");
    records(views, page(query, limit.min(LONGEST_LIST), 0)).await
}

/// What some node took and has not told in its time, as of a moment: for each person some, longest ago first, and
/// everybody's first before anybody's second.
pub async fn to_tell_again(
    views: &Database,
    now: DateTime<Utc>,
    for_one: i64,
    limit: i64,
) -> Result<Vec<NotificationView>, StoreError> {
    let query = Query::new(
        "select doc
         from (
           select doc, tell_again_at, position,
             row_number() over (partition by user_id order by tell_again_at, position) as turn
           from notifications
           where tell_again_at <= $1
         ) as due
         where turn <= $2
         order by turn, tell_again_at, position",
    );
    records(views, page(query.bind(now.timestamp_micros()).bind(for_one), limit, 0)).await
}

/// What a person has set; none if nothing.
pub async fn preferences(views: &Database, user: UserId) -> Result<Option<Preferences>, StoreError> {
    let query = Query::new("select doc from notification_preferences where user_id = $1").bind(user.0);
    let found: Option<Preferred> = first(views, query).await?;
    Ok(found.map(|it| it.preferences))
}

impl NotificationView {
    /// Whether some channel is still to be told, or to be said of that it was.
    fn is_pending(&self) -> bool {
        self.deliveries.iter().any(|it| it.at.is_none())
    }
}

/// Folds the facts of notifications and of settings for them.
#[derive(Debug, Clone, Copy)]
pub struct Notifications;

impl Projection for Notifications {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[NOTIFICATION, NOTIFICATION_SETTINGS])
    }

    fn tables(&self) -> Vec<Table> {
        let notifications = Describe::table(NotificationView::TABLE)
            .key("id", Holds::Text)
            .required("user_id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .required("position", Holds::Int)
            // Filled while a node has it to tell and nobody has said what became of that.
            .optional("tell_again_at", Holds::Int)
            .index(&["tell_again_at", "position"])
            .index(&["user_id", "position"])
            .index(&["user_id", "workspace_id", "position"]);
        let preferences = Describe::table(Preferred::TABLE).key("user_id", Holds::Text);
        vec![notifications.finish(), preferences.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        match &fact.of {
            FactOf::Notification(_) => vec![RowKey::of::<NotificationView>(fact.subject)],
            FactOf::NotificationSettings(_) => vec![RowKey::of::<Preferred>(fact.subject)],
            _ => vec![],
        }
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        match &fact.of {
            FactOf::Notification(event) => notification(fact, event, rows),
            FactOf::NotificationSettings(NotificationSettingsEvent::NotificationSettingsChanged {
                user_id,
                preferences,
                addresses_changed: _,
                changed_at: _,
            }) => {
                rows.put(Preferred { user_id: *user_id, preferences: preferences.clone() });
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn notification(fact: &Fact, event: &NotificationEvent, rows: &mut Rows) -> Result<(), FoldError> {
    let mut update = |change: &dyn Fn(&mut NotificationView)| rows.update(fact.subject, |row| change(row));
    let ended = |row: &mut NotificationView, ended: Delivery| {
        if let Some(delivery) = row.deliveries.iter_mut().find(|it| it.channel == ended.channel) {
            *delivery = ended;
        }
    };
    let pending = |channel: Channel| Delivery { channel, at: None, error: None, disallowed: None };
    match event {
        NotificationEvent::NotificationRaised {
            notification_id,
            workspace_id,
            user_id,
            kind,
            title,
            message,
            channels,
            raised_at,
        } => {
            rows.put(NotificationView {
                id: *notification_id,
                workspace_id: *workspace_id,
                user_id: *user_id,
                kind: *kind,
                title: title.clone(),
                message: message.clone(),
                withheld: None,
                deliveries: channels.iter().copied().map(pending).collect(),
                taken_until: None,
                created_at: *raised_at,
                position: fact.position,
            });
            Ok(())
        }
        NotificationEvent::NotificationWithheld { reason, withheld_at: _ } => {
            update(&|row| row.withheld = Some(*reason))
        }
        NotificationEvent::NotificationTaken { node: _, taken_at: _, until } => {
            update(&|row| row.taken_until = Some(*until))
        }
        NotificationEvent::NotificationDelivered { channel, delivered_at } => {
            update(&|row| ended(row, Delivery { at: Some(*delivered_at), ..pending(*channel) }))
        }
        NotificationEvent::NotificationFailed { channel, error, failed_at } => {
            let (at, error) = (Some(*failed_at), Some(error.clone()));
            update(&|row| ended(row, Delivery { at, error: error.clone(), ..pending(*channel) }))
        }
        NotificationEvent::NotificationDisallowed { channel, reason, disallowed_at } => {
            let (at, disallowed) = (Some(*disallowed_at), Some(reason.clone()));
            update(&|row| ended(row, Delivery { at, disallowed: disallowed.clone(), ..pending(*channel) }))
        }
    }
}

impl Record for NotificationView {
    const TABLE: &'static str = "notifications";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        let to_tell_again = self.taken_until.filter(|_| self.is_pending()).map(|it| it.timestamp_micros());
        vec![self.user_id.0.into(), self.workspace_id.0.into(), self.position.into(), to_tell_again.into()]
    }
}

impl Record for Preferred {
    const TABLE: &'static str = "notification_preferences";

    fn key(&self) -> Key {
        self.user_id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, facts, notification, notification_raised};
    use crate::fold_stream;

    fn after(events: Vec<NotificationEvent>) -> NotificationView {
        let history = std::iter::once(notification_raised()).chain(events.into_iter().map(notification));
        let mut rows = fold_stream(&Notifications, &facts(history)).expect("no poison");
        rows.take::<NotificationView>().pop().expect("a notification")
    }

    #[test]
    fn what_became_of_each_channel_is_told() {
        let delivered = NotificationEvent::NotificationDelivered { channel: Channel::Desktop, delivered_at: at(1) };
        let failed =
            NotificationEvent::NotificationFailed { channel: Channel::Webhook, error: "503".into(), failed_at: at(2) };
        let ended = |channel, minute| Delivery { channel, at: Some(at(minute)), error: None, disallowed: None };
        let told = after(vec![delivered, failed]).deliveries;
        assert_eq!(told[0], ended(Channel::Desktop, 1));
        assert_eq!(told[1], Delivery { error: Some("503".into()), ..ended(Channel::Webhook, 2) });
        let (channel, reason) = (Channel::Desktop, "no messages here".to_owned());
        let disallowed = NotificationEvent::NotificationDisallowed { channel, reason, disallowed_at: at(1) };
        let told = after(vec![disallowed]).deliveries;
        assert_eq!(told[0], Delivery { disallowed: Some("no messages here".into()), ..ended(Channel::Desktop, 1) });
    }

    #[test]
    fn what_was_taken_is_to_be_told_again_until_it_is_told() {
        let taken = NotificationEvent::NotificationTaken { node: "one".into(), taken_at: at(1), until: at(2) };
        let told = |channel| NotificationEvent::NotificationDelivered { channel, delivered_at: at(1) };
        let again = |events| after(events).columns().pop();
        assert_eq!(again(vec![]), Some(Value::Null));
        let (desktop, webhook) = (told(Channel::Desktop), told(Channel::Webhook));
        let ends = Some(at(2).timestamp_micros().into());
        assert_eq!(again(vec![taken.clone(), desktop.clone()]), ends);
        assert_eq!(again(vec![taken, desktop, webhook]), Some(Value::Null));
    }

    #[test]
    fn what_is_withheld_says_why() {
        let withheld =
            NotificationEvent::NotificationWithheld { reason: WithheldReason::QuietHours, withheld_at: at(0) };
        assert_eq!(after(vec![withheld]).withheld, Some(WithheldReason::QuietHours));
    }
}
