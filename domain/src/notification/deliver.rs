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
    /// What became of it.
    pub outcome: Outcome,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// What became of telling somebody by one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They were told.
    Delivered,
    /// It did not work, for this reason.
    Failed(String),
    /// It was not tried: the operator of the node does not allow it, by this rule.
    Disallowed(String),
}

pub(crate) fn decide(
    notification: &Notification,
    command: ReportDelivery,
) -> Result<Vec<NotificationEvent>, NotificationError> {
    let ReportDelivery { channel, outcome, now } = command;
    if !notification.raised()?.pending.contains(&channel) {
        return Ok(vec![]);
    }
    Ok(vec![match outcome {
        Outcome::Delivered => NotificationEvent::NotificationDelivered { channel, delivered_at: now },
        Outcome::Failed(error) => {
            let error = redact::line(&error, LONGEST_ERROR);
            NotificationEvent::NotificationFailed { channel, error, failed_at: now }
        }
        Outcome::Disallowed(reason) => {
            let reason = redact::line(&reason, LONGEST_ERROR);
            NotificationEvent::NotificationDisallowed { channel, reason, disallowed_at: now }
        }
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::raised;
    use super::*;
    use crate::examples::{at, given};
    use crate::notification::NotificationCommand;

    fn report(channel: Channel, outcome: Outcome) -> NotificationCommand {
        NotificationCommand::Report(ReportDelivery { channel, outcome, now: at(2) })
    }

    #[test]
    fn each_channel_is_reported_once() {
        let delivered = NotificationEvent::NotificationDelivered { channel: Channel::Desktop, delivered_at: at(2) };
        given::<Notification>([raised()])
            .when(report(Channel::Desktop, Outcome::Delivered))
            .then_expect_events(vec![delivered.clone()]);
        let again = || report(Channel::Desktop, Outcome::Delivered);
        given::<Notification>([raised(), delivered]).when(again()).then_expect_events(vec![]);
        given::<Notification>([raised()]).when(report(Channel::Sound, Outcome::Delivered)).then_expect_events(vec![]);
        given::<Notification>([]).when(again()).then_expect_error(NotificationError::NotFound);
    }

    #[test]
    fn a_channel_that_is_not_allowed_has_not_failed() {
        let reason = "no messages here".to_owned();
        let disallowed = NotificationEvent::NotificationDisallowed {
            channel: Channel::Desktop,
            reason: reason.clone(),
            disallowed_at: at(2),
        };
        given::<Notification>([raised()])
            .when(report(Channel::Desktop, Outcome::Disallowed(reason)))
            .then_expect_events(vec![disallowed.clone()]);
        given::<Notification>([raised(), disallowed])
            .when(report(Channel::Desktop, Outcome::Delivered))
            .then_expect_events(vec![]);
    }

    #[test]
    fn a_failure_is_on_record_without_the_secret_of_the_address() {
        let error = "https://hooks.slack.com/services/T0/B0/xyz refused".to_owned();
        let failed = NotificationEvent::NotificationFailed {
            channel: Channel::Webhook,
            error: "https://hooks.slack.com/services/[redacted] refused".to_owned(),
            failed_at: at(2),
        };
        given::<Notification>([raised()])
            .when(report(Channel::Webhook, Outcome::Failed(error)))
            .then_expect_events(vec![failed]);
    }
}
