//! Have a workspace's text kept under a key of its own.

use chrono::{DateTime, Utc};

use super::{Workspace, WorkspaceError, WorkspaceEvent};
use crate::UserId;

/// Seals what is written from now on. What was written before stays as it is, and there is no way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealText {
    /// Who asks.
    pub by: UserId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(workspace: &Workspace, command: SealText) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
    match workspace.owned_by(command.by)?.text_sealed {
        true => Ok(vec![]),
        false => Ok(vec![WorkspaceEvent::WorkspaceTextSealed { sealed_at: command.now }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{ada, bob, created, deleted, sealed};
    use super::*;
    use crate::examples::{at, given};
    use crate::workspace::WorkspaceCommand;

    fn seal(by: UserId) -> WorkspaceCommand {
        WorkspaceCommand::SealText(SealText { by, now: at(1) })
    }

    #[test]
    fn the_owner_may_have_text_sealed() {
        given::<Workspace>([created()]).when(seal(ada())).then_expect_events(vec![sealed()]);
    }

    #[test]
    fn text_is_sealed_once() {
        given::<Workspace>([created(), sealed()]).when(seal(ada())).then_expect_events(vec![]);
    }

    #[test]
    fn nobody_else_may_have_text_sealed() {
        given::<Workspace>([created()]).when(seal(bob())).then_expect_error(WorkspaceError::AccessDenied);
        given::<Workspace>([created(), deleted()]).when(seal(ada())).then_expect_error(WorkspaceError::NotFound);
    }
}
