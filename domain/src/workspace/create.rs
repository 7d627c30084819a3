//! Create a workspace.

use chrono::{DateTime, Utc};

use super::{Workspace, WorkspaceError, WorkspaceEvent};
use crate::{Settings, Slug, UserId, WorkspaceId};

/// Opens a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateWorkspace {
    /// The id it gets.
    pub workspace_id: WorkspaceId,
    /// Who asks, and will own it.
    pub owner: UserId,
    /// What people call it.
    pub name: String,
    /// What URLs call it; no other workspace has it.
    pub slug: Slug,
    /// What it is for.
    pub description: Option<String>,
    /// What its owner configures.
    pub settings: Settings,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(workspace: &Workspace, command: CreateWorkspace) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
    match workspace {
        Workspace::Absent => Ok(vec![WorkspaceEvent::WorkspaceCreated {
            workspace_id: command.workspace_id,
            owner_id: command.owner,
            name: command.name,
            slug: command.slug,
            description: command.description,
            settings: command.settings,
            created_at: command.now,
        }]),
        Workspace::Live(_) | Workspace::Deleted { .. } => Err(WorkspaceError::AlreadyExists),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{ada, bob, create, created, deleted};
    use super::*;
    use crate::examples::{after, given, id, slug};
    use crate::workspace::WorkspaceCommand;
    use crate::{Demand, Entity, Scope};

    #[test]
    fn anybody_may_create_a_workspace() {
        given::<Workspace>([]).when(WorkspaceCommand::Create(create())).then_expect_events(vec![created()]);
    }

    #[test]
    fn a_workspace_is_created_once_even_after_it_was_deleted() {
        for history in [vec![created()], vec![created(), deleted()]] {
            given::<Workspace>(history)
                .when(WorkspaceCommand::Create(create()))
                .then_expect_error(WorkspaceError::AlreadyExists);
        }
    }

    #[test]
    fn no_two_workspaces_share_a_slug() {
        let take =
            Demand::Take { claim: Scope::workspace_slugs().claim("acme"), or: WorkspaceError::SlugTaken(slug("acme")) };
        assert_eq!(Workspace::Absent.demands(&created()), [take]);
    }

    #[test]
    fn only_its_owner_is_admitted_and_only_while_it_is_in_use() {
        let live: Workspace = after([created()]);
        assert_eq!(live.admit(ada()), Ok(()));
        assert_eq!(live.admit(bob()), Err(WorkspaceError::AccessDenied));
        for gone in [Workspace::Absent, after([created(), deleted()])] {
            assert_eq!(gone.admit(ada()), Err(WorkspaceError::NotFound));
        }
    }

    #[test]
    fn a_workspace_is_its_own_tenant_and_stays_it() {
        assert_eq!(Workspace::Absent.workspace(), None);
        for history in [vec![created()], vec![created(), deleted()]] {
            assert_eq!(after::<Workspace>(history).workspace(), Some(id(10)));
        }
    }
}
