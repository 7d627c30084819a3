//! A workspace to test with: Ada owns `acme`.

use super::{ChangeWorkspace, CreateWorkspace, WorkspaceEvent};
use crate::UserId;
use crate::examples::{at, id, slug};

pub(super) fn ada() -> UserId {
    id(1)
}

pub(super) fn bob() -> UserId {
    id(2)
}

pub(super) fn create() -> CreateWorkspace {
    CreateWorkspace {
        workspace_id: id(10),
        owner: ada(),
        name: "Acme".to_owned(),
        slug: slug("acme"),
        description: None,
        settings: Default::default(),
        now: at(0),
    }
}

pub(super) fn created() -> WorkspaceEvent {
    let CreateWorkspace { workspace_id, owner, name, slug, description, settings, now } = create();
    WorkspaceEvent::WorkspaceCreated {
        workspace_id,
        owner_id: owner,
        name,
        slug,
        description,
        settings,
        created_at: now,
    }
}

/// A request by the owner that asks for no change; tests fill in what they change.
pub(super) fn change() -> ChangeWorkspace {
    ChangeWorkspace { by: ada(), name: None, slug: None, description: None, settings: None, now: at(1) }
}

pub(super) fn deleted() -> WorkspaceEvent {
    WorkspaceEvent::WorkspaceDeleted { deleted_at: at(2) }
}

pub(super) fn sealed() -> WorkspaceEvent {
    WorkspaceEvent::WorkspaceTextSealed { sealed_at: at(1) }
}
