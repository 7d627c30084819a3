//! A notification to test with: number 95, for user 1, by desktop and webhook.

use super::{Channel, NotificationEvent, NotificationKind, RaiseNotification};
use crate::examples::{at, id};
use crate::notification_settings::Preferences;

pub(super) fn raise() -> RaiseNotification {
    RaiseNotification {
        notification_id: id(95),
        workspace_id: id(10),
        user_id: id(1),
        kind: NotificationKind::EpicDone,
        title: "Epic Complete: Baskets".to_owned(),
        message: "All tasks finished\nReady for your review".to_owned(),
        preferences: Preferences {
            push_enabled: true,
            webhook_enabled: true,
            has_webhook_url: true,
            ..Preferences::default()
        },
        now: at(0),
    }
}

pub(super) fn raised() -> NotificationEvent {
    let it = raise();
    NotificationEvent::NotificationRaised {
        notification_id: it.notification_id,
        workspace_id: it.workspace_id,
        user_id: it.user_id,
        kind: it.kind,
        title: it.title,
        message: it.message,
        channels: vec![Channel::Desktop, Channel::Webhook],
        raised_at: it.now,
    }
}

/// A node has it to tell, from minute 1 on.
pub(super) fn taken(node: &str) -> NotificationEvent {
    NotificationEvent::NotificationTaken { node: node.to_owned(), taken_at: at(1), until: at(2) }
}
