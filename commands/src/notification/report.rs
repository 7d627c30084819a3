//! Reports what became of telling a notification.

use domain::NotificationId;
use domain::notification::{self, Channel, Notification, NotificationCommand, Outcome};

use crate::{Decision, Desk, Stop};

/// What became of telling a notification by one channel.
#[derive(Debug, Clone)]
pub struct ReportDelivery {
    /// Which notification.
    pub notification_id: NotificationId,
    /// Which channel.
    pub channel: Channel,
    /// What became of it.
    pub outcome: Outcome,
}

impl Decision for ReportDelivery {
    type Outcome = NotificationId;

    fn name(&self) -> &'static str {
        "notification.report"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<NotificationId, Stop> {
        let (channel, outcome) = (self.channel, self.outcome.clone());
        let report = notification::ReportDelivery { channel, outcome, now: desk.now() };
        desk.run::<Notification>(self.notification_id.0, NotificationCommand::Report(report)).await?;
        Ok(self.notification_id)
    }
}
