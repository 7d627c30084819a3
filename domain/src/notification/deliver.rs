//! Report what became of telling a notification by one channel.

use chrono::{DateTime, Utc};

use super::{Channel, Notification, NotificationError, NotificationEvent};
use crate::redact;

/// The longest error, in characters.
const LONGEST_ERROR: usize = 500;

/// Reports that a channel worked, or did not; the first report counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDelivery {
    /// Which channel.
    pub channel: Channel,
    /// Why it did not work, if it did not.
    pub error: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(
    notification: &Notification,
    command: ReportDelivery,
) -> Result<Vec<NotificationEvent>, NotificationError> {
    let ReportDelivery { channel, error, now } = command;
    if !notification.raised()?.pending.contains(&channel) {
        return Ok(vec![]);
    }
    Ok(vec![match error {
        None => NotificationEvent::NotificationDelivered { channel, delivered_at: now },
        Some(error) => {
            let error = redact::line(&error, LONGEST_ERROR);
            NotificationEvent::NotificationFailed { channel, error, failed_at: now }
        }
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::raised;
    use super::*;
    use crate::examples::{at, given};
    use crate::notification::NotificationCommand;

    fn report(channel: Channel, error: Option<&str>) -> NotificationCommand {
        NotificationCommand::Report(ReportDelivery { channel, error: error.map(str::to_owned), now: at(2) })
    }

    #[test]
    fn each_channel_is_reported_once() {
        let delivered = NotificationEvent::NotificationDelivered { channel: Channel::Desktop, delivered_at: at(2) };
        given::<Notification>([raised()])
            .when(report(Channel::Desktop, None))
            .then_expect_events(vec![delivered.clone()]);
        given::<Notification>([raised(), delivered]).when(report(Channel::Desktop, None)).then_expect_events(vec![]);
        given::<Notification>([raised()]).when(report(Channel::Sound, None)).then_expect_events(vec![]);
        given::<Notification>([]).when(report(Channel::Desktop, None)).then_expect_error(NotificationError::NotFound);
    }

    #[test]
    fn a_failure_is_on_record_without_the_secret_of_the_address() {
        let error = "https://hooks.slack.com/services/T0/B0/xyz refused".to_owned();
        let failed = NotificationEvent::NotificationFailed {
            channel: Channel::Webhook,
            error: "https://hooks.slack.com/services/[redacted] refused".to_owned(),
            failed_at: at(2),
        };
        given::<Notification>([raised()]).when(report(Channel::Webhook, Some(&error))).then_expect_events(vec![failed]);
    }
}
