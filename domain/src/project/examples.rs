//! A project to test with: `shop`, in workspace 10.

use super::{ChangeProject, CreateProject, ProjectEvent};
use crate::RepositoryUrl;
use crate::examples::{at, id, slug};

pub(super) const REPOSITORY: &str = "https://github.com/acme/shop";

pub(super) fn create() -> CreateProject {
    CreateProject {
        project_id: id(20),
        workspace_id: id(10),
        name: "Shop".to_owned(),
        slug: slug("shop"),
        description: None,
        repository_url: Some(RepositoryUrl::new(REPOSITORY)),
        github_installation_id: Some(7),
        mvp_document_url: None,
        now: at(0),
    }
}

pub(super) fn created() -> ProjectEvent {
    let it = create();
    ProjectEvent::ProjectCreated {
        project_id: it.project_id,
        workspace_id: it.workspace_id,
        name: it.name,
        slug: it.slug,
        description: it.description,
        repository_url: it.repository_url,
        github_installation_id: it.github_installation_id,
        mvp_document_url: it.mvp_document_url,
        is_active: true,
        created_at: it.now,
    }
}

/// A request that asks for no change; tests fill in what they change.
pub(super) fn change() -> ChangeProject {
    ChangeProject {
        name: None,
        slug: None,
        description: None,
        repository_url: None,
        github_installation_id: None,
        mvp_document_url: None,
        is_active: None,
        now: at(1),
    }
}

pub(super) fn deleted() -> ProjectEvent {
    ProjectEvent::ProjectDeleted { deleted_at: at(2) }
}
