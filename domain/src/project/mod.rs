//! A project: one body of work in a workspace. Who may command it is decided by its workspace.

mod change;
mod create;
mod delete;
#[cfg(test)]
mod examples;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use change::ChangeProject;
pub use create::CreateProject;
pub use delete::DeleteProject;

use crate::catalogue::event_kinds;
use crate::difference::assign;
use crate::{Claim, Demand, Entity, ProjectId, RepositoryUrl, Scope, Slug, WorkspaceId};

/// The life of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Project {
    /// Not created yet.
    #[default]
    Absent,
    /// In use.
    Live(Box<LiveProject>),
    /// Soft-deleted, and its slug and repository are free again.
    Deleted {
        /// The tenant that its events still belong to.
        workspace_id: WorkspaceId,
    },
}

/// A project in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveProject {
    /// Which project it is.
    pub project_id: ProjectId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// What URLs call it.
    pub slug: Slug,
    /// What it is for.
    pub description: Option<String>,
    /// Where its code is.
    pub repository_url: Option<RepositoryUrl>,
    /// The GitHub App installation that reports on it.
    pub github_installation_id: Option<i64>,
    /// Where its MVP document is.
    pub mvp_document_url: Option<String>,
    /// Whether it is being worked on.
    pub is_active: bool,
}

/// What a user asks of a project.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectCommand {
    /// See [`CreateProject`].
    Create(CreateProject),
    /// See [`ChangeProject`].
    Change(ChangeProject),
    /// See [`DeleteProject`].
    Delete(DeleteProject),
}

/// What happened to a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProjectEvent {
    /// The project now exists.
    ProjectCreated {
        /// Which project it is.
        project_id: ProjectId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// What people call it.
        name: String,
        /// What URLs call it.
        slug: Slug,
        /// What it is for.
        description: Option<String>,
        /// Where its code is.
        repository_url: Option<RepositoryUrl>,
        /// The GitHub App installation that reports on it.
        github_installation_id: Option<i64>,
        /// Where its MVP document is.
        mvp_document_url: Option<String>,
        /// Whether it is being worked on.
        is_active: bool,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    ProjectDetailsChanged {
        /// The new name.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The new slug.
        #[serde(skip_serializing_if = "Option::is_none")]
        slug: Option<Slug>,
        /// The new description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The new place of its code.
        #[serde(skip_serializing_if = "Option::is_none")]
        repository_url: Option<RepositoryUrl>,
        /// The new GitHub App installation.
        #[serde(skip_serializing_if = "Option::is_none")]
        github_installation_id: Option<i64>,
        /// The new place of its MVP document.
        #[serde(skip_serializing_if = "Option::is_none")]
        mvp_document_url: Option<String>,
        /// Whether it is being worked on from now on.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_active: Option<bool>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// The project is out of use.
    ProjectDeleted {
        /// When it happened.
        deleted_at: DateTime<Utc>,
    },
}

event_kinds! { ProjectEvent of Project {
    ProjectCreated "1" "The owner of a workspace started a project in it." {
        text["name", "description", "mvp_document_url"]
        plain["slug", "repository_url"]
    }
    ProjectDetailsChanged "1" "The owner changed a project's details, its repository, or whether it is active." {
        text["name", "description", "mvp_document_url"]
        plain["slug", "repository_url"]
    }
    ProjectDeleted "1" "The owner closed a project in which no agent may work any more."
}}

/// Why a command on a project is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProjectError {
    /// It was never created, or it was deleted.
    #[error("the project does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the project exists already")]
    AlreadyExists,
    /// It is in another user's workspace.
    #[error("the project belongs to another user")]
    AccessDenied,
    /// Another project of the workspace has this slug.
    #[error("the project slug {0} is taken in this workspace")]
    SlugTaken(Slug),
    /// Another project has this repository.
    #[error("the repository {0} is linked to another project")]
    RepositoryLinked(RepositoryUrl),
    /// GitHub numbers installations from 1.
    #[error("{0} is not a GitHub installation")]
    InvalidGithubInstallation(i64),
    /// Agents may still work in it.
    #[error("the project still has active agents")]
    HasActiveAgents,
    /// It has tasks that are not over.
    #[error("the project still has active tasks")]
    HasActiveTasks,
}

impl Project {
    /// The project, if it is in use.
    pub fn live(&self) -> Result<&LiveProject, ProjectError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent | Self::Deleted { .. } => Err(ProjectError::NotFound),
        }
    }

    fn decide(&self, command: ProjectCommand) -> Result<Vec<ProjectEvent>, ProjectError> {
        match command {
            ProjectCommand::Create(it) => create::decide(self, it),
            ProjectCommand::Change(it) => change::decide(self, it),
            ProjectCommand::Delete(it) => delete::decide(self, it),
        }
    }
}

impl Aggregate for Project {
    const TYPE: &'static str = "project";
    type Command = ProjectCommand;
    type Event = ProjectEvent;
    type Error = ProjectError;
    type Services = ();

    async fn handle(&mut self, command: ProjectCommand, (): &(), sink: &EventSink<Self>) -> Result<(), ProjectError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: ProjectEvent) {
        match event {
            ProjectEvent::ProjectCreated {
                project_id,
                workspace_id,
                name,
                slug,
                description,
                repository_url,
                github_installation_id,
                mvp_document_url,
                is_active,
                created_at: _,
            } => {
                *self = Self::Live(Box::new(LiveProject {
                    project_id,
                    workspace_id,
                    name,
                    slug,
                    description,
                    repository_url,
                    github_installation_id,
                    mvp_document_url,
                    is_active,
                }));
            }
            ProjectEvent::ProjectDetailsChanged {
                name,
                slug,
                description,
                repository_url,
                github_installation_id,
                mvp_document_url,
                is_active,
                changed_at: _,
            } => {
                if let Self::Live(live) = self {
                    assign(&mut live.name, name);
                    assign(&mut live.slug, slug);
                    assign(&mut live.description, description.map(Some));
                    assign(&mut live.repository_url, repository_url.map(Some));
                    assign(&mut live.github_installation_id, github_installation_id.map(Some));
                    assign(&mut live.mvp_document_url, mvp_document_url.map(Some));
                    assign(&mut live.is_active, is_active);
                }
            }
            ProjectEvent::ProjectDeleted { deleted_at: _ } => {
                if let Some(workspace_id) = self.workspace() {
                    *self = Self::Deleted { workspace_id };
                }
            }
        }
    }
}

impl Entity for Project {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Live(live) => Some(live.workspace_id),
            Self::Deleted { workspace_id } => Some(*workspace_id),
        }
    }

    fn demands(&self, event: &ProjectEvent) -> Vec<Demand<ProjectError>> {
        let live = self.live().ok();
        let held_slug = live.map(LiveProject::slug_claim);
        let held_repository = live.and_then(LiveProject::repository_claim);
        let mut demands = vec![];
        match event {
            ProjectEvent::ProjectCreated { workspace_id, slug, repository_url, .. } => {
                demands.extend(take_slug(held_slug, *workspace_id, slug));
                if let Some(url) = repository_url {
                    demands.extend(link_repository(held_repository, url));
                }
            }
            ProjectEvent::ProjectDetailsChanged { slug, repository_url, .. } => {
                if let (Some(live), Some(slug)) = (live, slug) {
                    demands.extend(take_slug(held_slug, live.workspace_id, slug));
                }
                if let Some(url) = repository_url {
                    demands.extend(link_repository(held_repository, url));
                }
            }
            ProjectEvent::ProjectDeleted { .. } => {
                demands.extend(live.map(|live| Demand::Empty {
                    scope: Scope::project_agents(live.project_id),
                    or: ProjectError::HasActiveAgents,
                }));
                demands.extend(live.map(|live| Demand::Empty {
                    scope: Scope::project_tasks(live.project_id),
                    or: ProjectError::HasActiveTasks,
                }));
                demands.extend(held_slug.map(Demand::Release));
                demands.extend(held_repository.map(Demand::Release));
            }
        }
        demands
    }
}

impl LiveProject {
    fn slug_claim(&self) -> Claim {
        Scope::project_slugs(self.workspace_id).claim(&self.slug)
    }

    fn repository_claim(&self) -> Option<Claim> {
        let url = self.repository_url.as_ref()?;
        Some(Scope::repositories().claim(url.key()))
    }
}

fn take_slug(held: Option<Claim>, workspace: WorkspaceId, slug: &Slug) -> Vec<Demand<ProjectError>> {
    let wanted = Scope::project_slugs(workspace).claim(slug);
    Demand::replace(held, wanted, ProjectError::SlugTaken(slug.clone()))
}

fn link_repository(held: Option<Claim>, url: &RepositoryUrl) -> Vec<Demand<ProjectError>> {
    let wanted = Scope::repositories().claim(url.key());
    Demand::replace(held, wanted, ProjectError::RepositoryLinked(url.clone()))
}
