//! Reinstate.

use chrono::{DateTime, Utc};

use super::{User, UserError, UserEvent};

/// Lets a suspended user in again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReinstateUser {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(user: &User, command: ReinstateUser) -> Result<Vec<UserEvent>, UserError> {
    match user {
        User::Absent | User::Deleted => Err(UserError::NotFound),
        User::Active => Ok(vec![]),
        User::Suspended => Ok(vec![UserEvent::UserReinstated { reinstated_at: command.now }]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, given, id};
    use crate::user::UserCommand;

    fn reinstate() -> UserCommand {
        UserCommand::Reinstate(ReinstateUser { now: at(2) })
    }

    fn signed_up() -> UserEvent {
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: at(0) }
    }

    #[test]
    fn a_suspended_user_can_be_reinstated() {
        given::<User>([signed_up(), UserEvent::UserSuspended { suspended_at: at(1) }])
            .when(reinstate())
            .then_expect_events(vec![UserEvent::UserReinstated { reinstated_at: at(2) }]);
    }

    #[test]
    fn reinstating_an_active_user_changes_nothing() {
        given::<User>([signed_up()]).when(reinstate()).then_expect_events(vec![]);
    }

    #[test]
    fn nobody_cannot_be_reinstated() {
        given::<User>([]).when(reinstate()).then_expect_error(UserError::NotFound);
    }
}
