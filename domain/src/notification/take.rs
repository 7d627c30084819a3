//! Take a notification, to tell it: a lease, so that what a dead node took is told by another.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Notification, NotificationError, NotificationEvent};

/// How long a node has for telling: more than all channels together may take.
const LEASE: TimeDelta = TimeDelta::minutes(1);

/// Makes a node the one that tells it, for as long as the lease lasts. Not even the same node takes it twice meanwhile:
/// whoever took it tells it, or died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeNotification {
    /// Which node.
    pub node: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(
    notification: &Notification,
    command: TakeNotification,
) -> Result<Vec<NotificationEvent>, NotificationError> {
    let raised = notification.raised()?;
    let TakeNotification { node, now } = command;
    if raised.pending.is_empty() {
        return Ok(vec![]);
    }
    match &raised.lease {
        Some(lease) if now < lease.until => Err(NotificationError::TakenBy(lease.node.clone())),
        Some(_) | None => Ok(vec![NotificationEvent::NotificationTaken { node, taken_at: now, until: now + LEASE }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{raised, taken};
    use super::*;
    use crate::examples::{at, given};
    use crate::notification::{Channel, NotificationCommand};

    fn take(node: &str, minute: i64) -> NotificationCommand {
        NotificationCommand::Take(TakeNotification { node: node.to_owned(), now: at(minute) })
    }

    fn told(channel: Channel) -> NotificationEvent {
        NotificationEvent::NotificationDelivered { channel, delivered_at: at(1) }
    }

    #[test]
    fn one_node_tells_it() {
        given::<Notification>([raised()]).when(take("one", 1)).then_expect_events(vec![taken("one")]);
        for node in ["one", "two"] {
            given::<Notification>([raised(), taken("one")])
                .when(take(node, 1))
                .then_expect_error(NotificationError::TakenBy("one".to_owned()));
        }
        given::<Notification>([]).when(take("one", 1)).then_expect_error(NotificationError::NotFound);
    }

    #[test]
    fn what_nobody_told_in_time_is_for_the_next() {
        for node in ["one", "two"] {
            let again = NotificationEvent::NotificationTaken { node: node.to_owned(), taken_at: at(2), until: at(3) };
            given::<Notification>([raised(), taken("one"), told(Channel::Desktop)])
                .when(take(node, 2))
                .then_expect_events(vec![again]);
        }
    }

    #[test]
    fn what_was_told_is_taken_no_more() {
        given::<Notification>([raised(), taken("one"), told(Channel::Desktop), told(Channel::Webhook)])
            .when(take("two", 9))
            .then_expect_events(vec![]);
    }
}
