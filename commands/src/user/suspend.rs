//! Keeps a person from signing in, or lets them in again.

use domain::UserId;
use domain::user::{ReinstateUser, SuspendUser, User, UserCommand};
use store::RowChange;

use crate::{Decision, Desk, Stop};

/// Whether a person may sign in.
#[derive(Debug, Clone, Copy)]
pub struct SetSuspended {
    /// Who.
    pub user_id: UserId,
    /// True to suspend, false to reinstate.
    pub suspended: bool,
}

impl Decision for SetSuspended {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "admin.suspend"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<(), Stop> {
        let now = desk.now();
        let command = match self.suspended {
            true => UserCommand::Suspend(SuspendUser { now }),
            false => UserCommand::Reinstate(ReinstateUser { now }),
        };
        let user = desk.load::<User>(self.user_id.0).await?;
        desk.rely_on(&user);
        desk.run::<User>(self.user_id.0, command).await?;
        desk.write(RowChange::SuspendAccount { user_id: self.user_id.0, suspended: self.suspended });
        if self.suspended {
            desk.write(RowChange::RemoveSessionsOf { user_id: self.user_id.0 });
        }
        Ok(())
    }
}
