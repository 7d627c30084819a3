//! Commands on mail, and [`post`]: how any other decision sends a mail in its own commit.

mod post;
mod read;
mod reply;
mod send;

pub use post::{Letter, To, post};
pub use read::ReadMail;
pub use reply::ReplyMail;
pub use send::SendMail;

use domain::mail::{Correspondent, Mail, MailError, Sender};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{MailId, Party, UserId, WorkspaceId};

use crate::seat;
use crate::{Desk, Stop};

/// Who asks, as one that reads and answers a mail of their workspace.
async fn correspondent(desk: &mut Desk<'_>, by: Party, mail_id: MailId) -> Result<Correspondent, Stop> {
    let mail = desk.load::<Mail>(mail_id.0).await?;
    let workspace_id = mail.state.envelope()?.workspace_id;
    match by {
        Party::User(owner) => {
            admit(desk, owner, workspace_id, MailError::AccessDenied, MailError::NotFound).await?;
            Ok(Correspondent::User(owner))
        }
        Party::Agent(agent_id) => {
            if seat::acting(desk, agent_id).await?.workspace_id != workspace_id {
                return Err(MailError::AccessDenied.into());
            }
            seat::correspondent(desk, agent_id).await
        }
    }
}

/// Lets only a workspace's owner go on.
async fn admit(
    desk: &mut Desk<'_>,
    by: UserId,
    workspace_id: WorkspaceId,
    denied: MailError,
    not_found: MailError,
) -> Result<(), Stop> {
    let workspace = desk.load::<Workspace>(workspace_id.0).await?;
    match workspace.state.admit(by) {
        Ok(()) => Ok(()),
        Err(WorkspaceError::AccessDenied) => Err(denied.into()),
        Err(_) => Err(not_found.into()),
    }
}

fn sender(by: Party) -> Sender {
    match by {
        Party::User(id) => Sender::User(id),
        Party::Agent(id) => Sender::Agent(id),
    }
}
