//! Erase a workspace's text.

use chrono::{DateTime, Utc};

use super::{Workspace, WorkspaceError, WorkspaceEvent};

/// Makes everything unreadable that was sealed until now. An operator asks, also of a workspace that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EraseText {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(workspace: &Workspace, command: EraseText) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
    match workspace {
        Workspace::Absent => Err(WorkspaceError::NotFound),
        it if !it.text_sealed() => Err(WorkspaceError::TextNotSealed),
        // Each time there is other text to erase.
        Workspace::Live(_) | Workspace::Deleted { .. } => {
            Ok(vec![WorkspaceEvent::WorkspaceTextErased { erased_at: command.now }])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{created, deleted, sealed};
    use super::*;
    use crate::examples::{at, given};
    use crate::workspace::WorkspaceCommand;

    fn erase(minute: i64) -> WorkspaceCommand {
        WorkspaceCommand::EraseText(EraseText { now: at(minute) })
    }

    fn erased(minute: i64) -> WorkspaceEvent {
        WorkspaceEvent::WorkspaceTextErased { erased_at: at(minute) }
    }

    #[test]
    fn sealed_text_can_be_erased_and_what_came_since_too() {
        given::<Workspace>([created(), sealed()]).when(erase(3)).then_expect_events(vec![erased(3)]);
        given::<Workspace>([created(), sealed(), erased(3)]).when(erase(4)).then_expect_events(vec![erased(4)]);
    }

    #[test]
    fn the_text_of_a_closed_workspace_can_be_erased() {
        given::<Workspace>([created(), sealed(), deleted()]).when(erase(3)).then_expect_events(vec![erased(3)]);
    }

    #[test]
    fn text_that_was_never_sealed_cannot_be_erased() {
        for history in [vec![created()], vec![created(), deleted()]] {
            given::<Workspace>(history).when(erase(3)).then_expect_error(WorkspaceError::TextNotSealed);
        }
        given::<Workspace>([]).when(erase(3)).then_expect_error(WorkspaceError::NotFound);
    }
}
