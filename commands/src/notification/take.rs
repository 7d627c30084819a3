//! Makes one node the one that tells a notification.

use domain::NotificationId;
use domain::notification::{self, Notification, NotificationCommand};

use crate::{Decision, Desk, Stop};

/// A node that is about to tell a notification.
#[derive(Debug, Clone)]
pub struct TakeNotification {
    /// Which notification.
    pub notification_id: NotificationId,
    /// Which node.
    pub node: String,
}

impl Decision for TakeNotification {
    /// The node that tells it: another, if that was first under the same key.
    type Outcome = String;

    fn name(&self) -> &'static str {
        "notification.take"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<String, Stop> {
        let take = notification::TakeNotification { node: self.node.clone(), now: desk.now() };
        desk.run::<Notification>(self.notification_id.0, NotificationCommand::Take(take)).await?;
        Ok(self.node.clone())
    }
}
