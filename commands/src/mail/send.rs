//! Sends a mail to an agent of the caller's workspace, or to its people.

use domain::workspace::{Workspace, WorkspaceError};
use domain::{MailId, Party, WorkspaceId};

use super::{Letter, To, post, sender};
use crate::seat;
use crate::{Decision, Desk, Stop};

/// A mail.
#[derive(Debug, Clone)]
pub struct SendMail {
    /// Who writes.
    pub by: Party,
    /// In which workspace.
    pub workspace_id: WorkspaceId,
    /// To whom.
    pub to: To,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
}

impl Decision for SendMail {
    type Outcome = MailId;

    fn name(&self) -> &'static str {
        "mail.send"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<MailId, Stop> {
        match self.by {
            Party::User(owner) => {
                let workspace = desk.load::<Workspace>(self.workspace_id.0).await?;
                workspace.state.admit(owner)?;
                // A workspace deleted meanwhile must not gain a mail.
                desk.rely_on(&workspace);
            }
            Party::Agent(agent_id) => {
                if seat::acting(desk, agent_id).await?.workspace_id != self.workspace_id {
                    return Err(WorkspaceError::AccessDenied.into());
                }
            }
        }
        let letter = Letter {
            workspace_id: self.workspace_id,
            from: sender(self.by),
            to: self.to,
            subject: self.subject.clone(),
            body: self.body.clone(),
        };
        post(desk, letter).await
    }
}
