//! Deletes a person's account: the row with name and address goes, and the log records that it went.

use domain::UserId;
use domain::user::{DeleteUser, User, UserCommand};
use store::RowChange;

use crate::{Decision, Desk, Stop};

/// Deletes an account for good, and signs its owner out everywhere.
#[derive(Debug, Clone, Copy)]
pub struct DeleteAccount {
    /// Whose account.
    pub user_id: UserId,
}

impl Decision for DeleteAccount {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "admin.delete_user"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<(), Stop> {
        let now = desk.now();
        desk.run::<User>(self.user_id.0, UserCommand::Delete(DeleteUser { now })).await?;
        desk.write(RowChange::DeleteAccount { user_id: self.user_id.0 });
        Ok(())
    }
}
