//! What happens to a project.

use domain::project::ProjectEvent;
use serde_json::json;

use super::{Changed, Said, joined};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &ProjectEvent, subject: &Subject) -> Said {
    let about = json!({ "projectId": subject.id, "projectName": subject.name });
    let (at, content) = match event {
        ProjectEvent::ProjectCreated { slug, description, repository_url, is_active, created_at, .. } => {
            let more = json!({
                "slug": slug,
                "description": description,
                "repositoryUrl": repository_url,
                "isActive": is_active,
            });
            (*created_at, joined(about, more))
        }
        ProjectEvent::ProjectDetailsChanged {
            name,
            slug,
            description,
            repository_url,
            github_installation_id,
            mvp_document_url,
            is_active,
            changed_at,
        } => {
            let changes = Changed::default()
                .with("name", name)
                .with("slug", slug)
                .with("description", description)
                .with("repositoryUrl", repository_url)
                .with("githubInstallationId", github_installation_id)
                .with("mvpDocumentUrl", mvp_document_url)
                .with("isActive", is_active);
            (*changed_at, joined(about, changes.finish()))
        }
        ProjectEvent::ProjectDeleted { deleted_at } => (*deleted_at, about),
    };
    Said::new(at, content)
}
