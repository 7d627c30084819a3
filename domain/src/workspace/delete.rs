//! Delete a workspace.

use chrono::{DateTime, Utc};

use super::{Workspace, WorkspaceError, WorkspaceEvent};
use crate::UserId;

/// Closes a workspace that has no projects and no agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteWorkspace {
    /// Who asks.
    pub by: UserId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// That it is empty is not decided here but demanded of the commit: no state of one stream can tell.
pub(crate) fn decide(workspace: &Workspace, command: DeleteWorkspace) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
    workspace.admit(command.by)?;
    Ok(vec![WorkspaceEvent::WorkspaceDeleted { deleted_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{ada, bob, created, deleted};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::workspace::WorkspaceCommand;
    use crate::{Demand, Entity, Scope};

    fn delete(by: UserId) -> WorkspaceCommand {
        WorkspaceCommand::Delete(DeleteWorkspace { by, now: at(2) })
    }

    #[test]
    fn the_owner_may_delete_a_workspace() {
        given::<Workspace>([created()]).when(delete(ada())).then_expect_events(vec![deleted()]);
    }

    #[test]
    fn nobody_else_may_delete_a_workspace() {
        given::<Workspace>([created()]).when(delete(bob())).then_expect_error(WorkspaceError::AccessDenied);
    }

    #[test]
    fn a_deleted_workspace_is_not_found() {
        given::<Workspace>([created(), deleted()]).when(delete(ada())).then_expect_error(WorkspaceError::NotFound);
    }

    #[test]
    fn only_an_empty_workspace_is_deleted_and_its_slug_is_free_again() {
        let empty = |scope| Demand::Empty { scope, or: WorkspaceError::NotEmpty };
        assert_eq!(
            after::<Workspace>([created()]).demands(&deleted()),
            [
                empty(Scope::project_slugs(id(10))),
                empty(Scope::agent_codes(id(10))),
                Demand::Release(Scope::workspace_slugs().claim("acme")),
            ]
        );
    }
}
