//! Delete a project.

use chrono::{DateTime, Utc};

use super::{Project, ProjectError, ProjectEvent};

/// Closes a project in which no agent may work and no task is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteProject {
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// That it has no agents and no open tasks is not decided here but demanded of the commit.
pub(crate) fn decide(project: &Project, command: DeleteProject) -> Result<Vec<ProjectEvent>, ProjectError> {
    project.live()?;
    Ok(vec![ProjectEvent::ProjectDeleted { deleted_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{created, deleted};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::project::ProjectCommand;
    use crate::{Demand, Entity, Scope};

    fn delete() -> ProjectCommand {
        ProjectCommand::Delete(DeleteProject { now: at(2) })
    }

    #[test]
    fn a_project_can_be_deleted() {
        given::<Project>([created()]).when(delete()).then_expect_events(vec![deleted()]);
    }

    #[test]
    fn a_project_that_is_not_there_is_not_found() {
        for history in [vec![], vec![created(), deleted()]] {
            given::<Project>(history).when(delete()).then_expect_error(ProjectError::NotFound);
        }
    }

    #[test]
    fn only_a_project_without_agents_and_tasks_is_deleted_and_its_names_are_free_again() {
        assert_eq!(
            after::<Project>([created()]).demands(&deleted()),
            [
                Demand::Empty { scope: Scope::project_agents(id(20)), or: ProjectError::HasActiveAgents },
                Demand::Empty { scope: Scope::project_tasks(id(20)), or: ProjectError::HasActiveTasks },
                Demand::Release(Scope::project_slugs(id(10)).claim("shop")),
                Demand::Release(Scope::repositories().claim("github.com/acme/shop")),
            ]
        );
    }
}
