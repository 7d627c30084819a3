//! A user: a person who signs in. E-mail, name and password live beside the log, never in it.

mod delete;
mod reinstate;
mod sign_up;
mod suspend;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use delete::DeleteUser;
pub use reinstate::ReinstateUser;
pub use sign_up::SignUp;
pub use suspend::SuspendUser;

use crate::catalogue::event_kinds;
use crate::{Demand, Entity, UserId, WorkspaceId};

/// The life of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum User {
    /// Nobody has signed up under this id.
    #[default]
    Absent,
    /// May sign in.
    Active,
    /// May not sign in until reinstated.
    Suspended,
    /// The account is gone, and nobody signs in under this id again.
    Deleted,
}

/// What a user, or an operator for them, asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum UserCommand {
    /// See [`SignUp`].
    SignUp(SignUp),
    /// See [`SuspendUser`].
    Suspend(SuspendUser),
    /// See [`ReinstateUser`].
    Reinstate(ReinstateUser),
    /// See [`DeleteUser`].
    Delete(DeleteUser),
}

/// What happened to a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserEvent {
    /// The user now exists.
    UserSignedUp {
        /// Who signed up.
        user_id: UserId,
        /// When it happened.
        signed_up_at: DateTime<Utc>,
    },
    /// The user was locked out.
    UserSuspended {
        /// When it happened.
        suspended_at: DateTime<Utc>,
    },
    /// The user was let in again.
    UserReinstated {
        /// When it happened.
        reinstated_at: DateTime<Utc>,
    },
    /// The user's account was deleted, with name and address.
    UserDeleted {
        /// When it happened.
        deleted_at: DateTime<Utc>,
    },
}

event_kinds! { UserEvent of User {
    UserSignedUp "1" "A person signed up and may own workspaces."
    UserSuspended "1" "An operator locked a user out."
    UserReinstated "1" "An operator let a suspended user in again."
    UserDeleted "1" "An operator deleted a user's account, and with it name and address."
}}

/// Why a command on a user is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UserError {
    /// Nobody has signed up under this id.
    #[error("the user does not exist")]
    NotFound,
    /// Somebody has signed up under this id.
    #[error("the user has signed up already")]
    AlreadySignedUp,
}

impl User {
    fn decide(&self, command: UserCommand) -> Result<Vec<UserEvent>, UserError> {
        match command {
            UserCommand::SignUp(it) => sign_up::decide(self, it),
            UserCommand::Suspend(it) => suspend::decide(self, it),
            UserCommand::Reinstate(it) => reinstate::decide(self, it),
            UserCommand::Delete(it) => delete::decide(self, it),
        }
    }
}

impl Aggregate for User {
    const TYPE: &'static str = "user";
    type Command = UserCommand;
    type Event = UserEvent;
    type Error = UserError;
    type Services = ();

    async fn handle(&mut self, command: UserCommand, (): &(), sink: &EventSink<Self>) -> Result<(), UserError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: UserEvent) {
        *self = match event {
            UserEvent::UserSignedUp { .. } | UserEvent::UserReinstated { .. } => Self::Active,
            UserEvent::UserSuspended { .. } => Self::Suspended,
            UserEvent::UserDeleted { .. } => Self::Deleted,
        };
    }
}

impl Entity for User {
    // A user belongs to no tenant: one user may own many workspaces.
    fn workspace(&self) -> Option<WorkspaceId> {
        None
    }

    // An e-mail address is unique too, but that rule stays where the addresses are: beside the log.
    fn demands(&self, event: &UserEvent) -> Vec<Demand<UserError>> {
        match event {
            UserEvent::UserSignedUp { .. }
            | UserEvent::UserSuspended { .. }
            | UserEvent::UserReinstated { .. }
            | UserEvent::UserDeleted { .. } => vec![],
        }
    }
}
