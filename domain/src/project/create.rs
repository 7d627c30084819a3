//! Create a project.

use chrono::{DateTime, Utc};

use super::{Project, ProjectError, ProjectEvent};
use crate::{ProjectId, RepositoryUrl, Slug, WorkspaceId};

/// Starts a project in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateProject {
    /// The id it gets.
    pub project_id: ProjectId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// What URLs call it; no other project of the workspace has it.
    pub slug: Slug,
    /// What it is for.
    pub description: Option<String>,
    /// Where its code is; no other project has it.
    pub repository_url: Option<RepositoryUrl>,
    /// The GitHub App installation that reports on it.
    pub github_installation_id: Option<i64>,
    /// Where its MVP document is.
    pub mvp_document_url: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(project: &Project, command: CreateProject) -> Result<Vec<ProjectEvent>, ProjectError> {
    match project {
        Project::Absent => {
            check_installation(command.github_installation_id)?;
            Ok(vec![ProjectEvent::ProjectCreated {
                project_id: command.project_id,
                workspace_id: command.workspace_id,
                name: command.name,
                slug: command.slug,
                description: command.description,
                repository_url: command.repository_url,
                github_installation_id: command.github_installation_id,
                mvp_document_url: command.mvp_document_url,
                is_active: true,
                created_at: command.now,
            }])
        }
        Project::Live(_) | Project::Deleted { .. } => Err(ProjectError::AlreadyExists),
    }
}

pub(super) fn check_installation(id: Option<i64>) -> Result<(), ProjectError> {
    match id {
        Some(id) if id < 1 => Err(ProjectError::InvalidGithubInstallation(id)),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{REPOSITORY, create, created, deleted};
    use super::*;
    use crate::examples::{after, given, id, slug};
    use crate::project::ProjectCommand;
    use crate::{Demand, Entity, Scope};

    #[test]
    fn a_new_project_is_active() {
        given::<Project>([]).when(ProjectCommand::Create(create())).then_expect_events(vec![created()]);
    }

    #[test]
    fn a_project_is_created_once_even_after_it_was_deleted() {
        for history in [vec![created()], vec![created(), deleted()]] {
            given::<Project>(history)
                .when(ProjectCommand::Create(create()))
                .then_expect_error(ProjectError::AlreadyExists);
        }
    }

    #[test]
    fn github_installations_are_numbered_from_1() {
        for number in [0, -1] {
            let command = CreateProject { github_installation_id: Some(number), ..create() };
            given::<Project>([])
                .when(ProjectCommand::Create(command))
                .then_expect_error(ProjectError::InvalidGithubInstallation(number));
        }
    }

    #[test]
    fn a_slug_is_one_projects_in_its_workspace_and_a_repository_one_projects_anywhere() {
        let slug_claim = Demand::Take {
            claim: Scope::project_slugs(id(10)).claim("shop"),
            or: ProjectError::SlugTaken(slug("shop")),
        };
        let repository_claim = Demand::Take {
            claim: Scope::repositories().claim("github.com/acme/shop"),
            or: ProjectError::RepositoryLinked(RepositoryUrl::new(REPOSITORY)),
        };
        assert_eq!(Project::Absent.demands(&created()), [slug_claim, repository_claim]);
    }

    #[test]
    fn a_project_belongs_to_its_workspace_for_ever() {
        assert_eq!(Project::Absent.workspace(), None);
        for history in [vec![created()], vec![created(), deleted()]] {
            assert_eq!(after::<Project>(history).workspace(), Some(id(10)));
        }
    }
}
