//! Opens an account that its owner enters through GitHub.

use store::{GithubIdentity, RowChange};

use super::SignUp;
use crate::{Decision, Desk, Stop};

/// A new person, known by who they are on GitHub.
#[derive(Debug, Clone)]
pub struct SignUpWithGithub {
    /// The account, without a password, and its first session.
    pub sign_up: SignUp,
    /// The way in; refused when it opens an account already.
    pub identity: GithubIdentity,
}

impl Decision for SignUpWithGithub {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "auth/github/callback"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<(), Stop> {
        self.sign_up.decide(desk).await?;
        desk.write(RowChange::LinkGithub(self.identity.clone()));
        Ok(())
    }
}
