//! Raise a notification.

use chrono::{DateTime, Utc};

use super::{Notification, NotificationError, NotificationEvent, NotificationKind};
use crate::notification_settings::Preferences;
use crate::{NotificationId, UserId, WorkspaceId, redact};

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;
/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 2_000;

/// Raises news for a person, who is told of it or not as they prefer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseNotification {
    /// The id it gets.
    pub notification_id: NotificationId,
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
    /// What the person prefers.
    pub preferences: Preferences,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(
    notification: &Notification,
    command: RaiseNotification,
) -> Result<Vec<NotificationEvent>, NotificationError> {
    match notification {
        Notification::Absent => {}
        Notification::Raised(_) => return Err(NotificationError::AlreadyRaised),
    }
    let wanted = command.preferences.channels_for(command.kind, command.now);
    let withheld = wanted.as_ref().err().copied();
    let raised = NotificationEvent::NotificationRaised {
        notification_id: command.notification_id,
        workspace_id: command.workspace_id,
        user_id: command.user_id,
        kind: command.kind,
        title: redact::line(&command.title, LONGEST_TITLE),
        message: redact::lines(&command.message, LONGEST_MESSAGE),
        channels: wanted.unwrap_or_default(),
        raised_at: command.now,
    };
    let withheld = withheld.map(|reason| NotificationEvent::NotificationWithheld { reason, withheld_at: command.now });
    Ok([raised].into_iter().chain(withheld).collect())
}

#[cfg(test)]
mod tests {
    use super::super::examples::{raise, raised};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, at, given, id};
    use crate::notification::{NotificationCommand, WithheldReason};

    fn command(it: RaiseNotification) -> NotificationCommand {
        NotificationCommand::Raise(Box::new(it))
    }

    #[test]
    fn news_is_raised_once() {
        given::<Notification>([]).when(command(raise())).then_expect_events(vec![raised()]);
        given::<Notification>([raised()]).when(command(raise())).then_expect_error(NotificationError::AlreadyRaised);
        assert_eq!(after::<Notification>([raised()]).workspace(), Some(id(10)));
    }

    #[test]
    fn news_that_nobody_wants_to_hear_is_on_record_and_withheld() {
        let unwanted = RaiseNotification { preferences: Preferences::default(), ..raise() };
        let events = decide(&Notification::Absent, unwanted).expect("events");
        let withheld = NotificationEvent::NotificationWithheld { reason: WithheldReason::Disabled, withheld_at: at(0) };
        assert_eq!(events[1..], [withheld]);
        assert!(matches!(&events[0], NotificationEvent::NotificationRaised { channels, .. } if channels.is_empty()));
        assert_eq!(after::<Notification>(events).raised().map(|it| it.pending.len()), Ok(0));
    }
}
