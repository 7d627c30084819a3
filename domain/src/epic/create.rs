//! Write an epic.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent};
use crate::{EpicId, ProjectId, Slug, UserId, WorkspaceId, WorktreeName};

/// Gives agents a feature to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateEpic {
    /// The id it gets.
    pub epic_id: EpicId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it is part of.
    pub project_id: ProjectId,
    /// The bench that it is built on.
    pub bench: Slug,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// How it is to be built, in Markdown.
    pub design: String,
    /// Who writes it.
    pub by: UserId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: CreateEpic) -> Result<Vec<EpicEvent>, EpicError> {
    match epic {
        Epic::Absent => Ok(vec![EpicEvent::EpicCreated {
            epic_id: command.epic_id,
            workspace_id: command.workspace_id,
            project_id: command.project_id,
            bench: command.bench,
            worktree_name: WorktreeName::of_epic(command.epic_id, &command.title),
            title: command.title,
            description: command.description,
            design: command.design,
            created_by: command.by,
            created_at: command.now,
        }]),
        Epic::Live(_) => Err(EpicError::AlreadyExists),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{create, created};
    use super::*;
    use crate::epic::EpicCommand;
    use crate::examples::{after, given, id};
    use crate::{Demand, Entity};

    #[test]
    fn a_new_epic_has_a_worktree_that_no_other_has() {
        given::<Epic>([]).when(EpicCommand::Create(create())).then_expect_events(vec![created()]);
        let name = WorktreeName::of_epic(id(70), "Shopping");
        let take = Demand::Take { claim: name.claim(), or: EpicError::WorktreeTaken(name) };
        assert_eq!(Epic::Absent.demands(&created()), [take]);
    }

    #[test]
    fn an_epic_is_created_once_and_belongs_to_its_workspace() {
        given::<Epic>([created()]).when(EpicCommand::Create(create())).then_expect_error(EpicError::AlreadyExists);
        assert_eq!(Epic::Absent.workspace(), None);
        assert_eq!(after::<Epic>([created()]).workspace(), Some(id(10)));
    }
}
