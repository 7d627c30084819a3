//! Delete.

use chrono::{DateTime, Utc};

use super::{User, UserError, UserEvent};

/// Deletes a user's account for good. What the user owns stays, and nobody can sign in to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteUser {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(user: &User, command: DeleteUser) -> Result<Vec<UserEvent>, UserError> {
    match user {
        User::Absent => Err(UserError::NotFound),
        User::Active | User::Suspended => Ok(vec![UserEvent::UserDeleted { deleted_at: command.now }]),
        User::Deleted => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, given, id};
    use crate::user::{ReinstateUser, UserCommand};

    fn signed_up() -> UserEvent {
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: at(0) }
    }

    fn suspended() -> UserEvent {
        UserEvent::UserSuspended { suspended_at: at(1) }
    }

    fn deleted() -> UserEvent {
        UserEvent::UserDeleted { deleted_at: at(2) }
    }

    fn delete(minute: i64) -> UserCommand {
        UserCommand::Delete(DeleteUser { now: at(minute) })
    }

    #[test]
    fn a_user_can_be_deleted_suspended_or_not() {
        for history in [vec![signed_up()], vec![signed_up(), suspended()]] {
            given::<User>(history).when(delete(2)).then_expect_events(vec![deleted()]);
        }
    }

    #[test]
    fn a_user_is_deleted_once_and_stays_deleted() {
        given::<User>([signed_up(), deleted()]).when(delete(3)).then_expect_events(vec![]);
        given::<User>([signed_up(), deleted()])
            .when(UserCommand::Reinstate(ReinstateUser { now: at(3) }))
            .then_expect_error(UserError::NotFound);
        given::<User>([]).when(delete(1)).then_expect_error(UserError::NotFound);
    }
}
