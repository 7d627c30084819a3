//! What happens to a workspace.

use domain::workspace::WorkspaceEvent;
use serde_json::json;

use super::{Changed, Said, joined};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &WorkspaceEvent, subject: &Subject) -> Said {
    let about = json!({ "workspaceId": subject.id, "workspaceName": subject.name });
    let (at, content) = match event {
        WorkspaceEvent::WorkspaceCreated { owner_id, slug, description, created_at, .. } => {
            let more = json!({ "ownerId": owner_id, "slug": slug, "description": description });
            (*created_at, joined(about, more))
        }
        WorkspaceEvent::WorkspaceDetailsChanged { name, slug, description, settings, changed_at } => {
            let changes = Changed::default()
                .with("name", name)
                .with("slug", slug)
                .with("description", description)
                .with("settings", settings);
            (*changed_at, joined(about, changes.finish()))
        }
        WorkspaceEvent::WorkspaceDeleted { deleted_at } => (*deleted_at, about),
        WorkspaceEvent::WorkspaceTextSealed { sealed_at } => {
            (*sealed_at, joined(about, Changed::default().with("textSealedAt", &Some(sealed_at)).finish()))
        }
        WorkspaceEvent::WorkspaceTextErased { erased_at } => {
            (*erased_at, joined(about, Changed::default().with("textErasedAt", &Some(erased_at)).finish()))
        }
    };
    Said::new(at, content)
}
