//! Suspend.

use chrono::{DateTime, Utc};

use super::{User, UserError, UserEvent};

/// Locks a user out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspendUser {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(user: &User, command: SuspendUser) -> Result<Vec<UserEvent>, UserError> {
    match user {
        User::Absent | User::Deleted => Err(UserError::NotFound),
        User::Active => Ok(vec![UserEvent::UserSuspended { suspended_at: command.now }]),
        User::Suspended => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, given, id};
    use crate::user::UserCommand;

    fn suspend(minute: i64) -> UserCommand {
        UserCommand::Suspend(SuspendUser { now: at(minute) })
    }

    fn signed_up() -> UserEvent {
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: at(0) }
    }

    #[test]
    fn a_user_can_be_suspended() {
        given::<User>([signed_up()])
            .when(suspend(1))
            .then_expect_events(vec![UserEvent::UserSuspended { suspended_at: at(1) }]);
    }

    #[test]
    fn suspending_a_suspended_user_changes_nothing() {
        given::<User>([signed_up(), UserEvent::UserSuspended { suspended_at: at(1) }])
            .when(suspend(2))
            .then_expect_events(vec![]);
    }

    #[test]
    fn nobody_cannot_be_suspended() {
        given::<User>([]).when(suspend(1)).then_expect_error(UserError::NotFound);
    }
}
