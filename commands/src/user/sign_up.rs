//! Opens an account and signs its owner in.

use domain::user::{self, User, UserCommand};
use store::{Account, RowChange, SignInSession};

use crate::{Decision, Desk, Stop};

/// A new person, with the session that signing up opens.
#[derive(Debug, Clone)]
pub struct SignUp {
    /// The person; refused when the address belongs to another account.
    pub account: Account,
    /// The browser that signs up is signed in.
    pub session: SignInSession,
}

impl Decision for SignUp {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "auth/signup"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<(), Stop> {
        let user_id = self.account.user_id;
        let sign_up = user::SignUp { user_id: user_id.into(), now: desk.now() };
        desk.begin::<User>(user_id, UserCommand::SignUp(sign_up)).await?;
        desk.write(RowChange::AddAccount(self.account.clone()));
        desk.write(RowChange::AddSession(self.session.clone()));
        Ok(())
    }
}
