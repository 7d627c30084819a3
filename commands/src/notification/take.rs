//! Makes one node the one that tells a notification, for the time being.

use domain::NotificationId;
use domain::notification::{self, Channel, Notification, NotificationCommand};

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
    /// By what it is to be told; by nothing, if it was told already.
    type Outcome = Vec<Channel>;

    fn name(&self) -> &'static str {
        "notification.take"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Vec<Channel>, Stop> {
        let take = notification::TakeNotification { node: self.node.clone(), now: desk.now() };
        desk.run::<Notification>(self.notification_id.0, NotificationCommand::Take(take)).await?;
        let notification = desk.load::<Notification>(self.notification_id.0).await?;
        Ok(notification.state.raised()?.pending.clone())
    }
}
