//! Sign up.

use chrono::{DateTime, Utc};

use super::{User, UserError, UserEvent};
use crate::UserId;

/// Makes a new user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignUp {
    /// The id the user gets.
    pub user_id: UserId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(user: &User, command: SignUp) -> Result<Vec<UserEvent>, UserError> {
    match user {
        User::Absent => Ok(vec![UserEvent::UserSignedUp { user_id: command.user_id, signed_up_at: command.now }]),
        User::Active | User::Suspended | User::Deleted => Err(UserError::AlreadySignedUp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, given, id};
    use crate::user::UserCommand;

    fn sign_up(minute: i64) -> UserCommand {
        UserCommand::SignUp(SignUp { user_id: id(1), now: at(minute) })
    }

    fn signed_up() -> UserEvent {
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: at(0) }
    }

    #[test]
    fn anybody_may_sign_up() {
        given::<User>([]).when(sign_up(0)).then_expect_events(vec![signed_up()]);
    }

    #[test]
    fn a_user_signs_up_once() {
        given::<User>([signed_up()]).when(sign_up(1)).then_expect_error(UserError::AlreadySignedUp);
    }
}
