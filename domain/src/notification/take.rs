//! Take a notification, to tell it.

use chrono::{DateTime, Utc};

use super::{Notification, NotificationError, NotificationEvent};

/// Makes a node the one that tells it. After a crash the same node takes it again.
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
    match &notification.raised()?.node {
        None => Ok(vec![NotificationEvent::NotificationTaken { node: command.node, taken_at: command.now }]),
        Some(node) if *node == command.node => Ok(vec![]),
        Some(node) => Err(NotificationError::TakenBy(node.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{raised, taken};
    use super::*;
    use crate::examples::{at, given};
    use crate::notification::NotificationCommand;

    fn take(node: &str) -> NotificationCommand {
        NotificationCommand::Take(TakeNotification { node: node.to_owned(), now: at(1) })
    }

    #[test]
    fn one_node_tells_it() {
        given::<Notification>([raised()]).when(take("one")).then_expect_events(vec![taken("one")]);
        given::<Notification>([raised(), taken("one")]).when(take("one")).then_expect_events(vec![]);
        given::<Notification>([raised(), taken("one")])
            .when(take("two"))
            .then_expect_error(NotificationError::TakenBy("one".to_owned()));
        given::<Notification>([]).when(take("one")).then_expect_error(NotificationError::NotFound);
    }
}
