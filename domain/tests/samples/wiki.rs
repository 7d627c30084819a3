//! Wiki entries.

use domain::wiki::{Author, WikiEvent};

use super::{id, noon, slug, text};

pub(crate) fn events() -> Vec<WikiEvent> {
    vec![
        WikiEvent::WikiEntryProposed {
            entry_id: id(14),
            workspace_id: id(2),
            project_id: Some(id(3)),
            proposed_by: Author::Agent(id(4)),
            title: text("Locks"),
            slug: slug("locks"),
            content: text("Avoid them"),
            tags: vec![text("rust")],
            version: 2,
            parent_entry_id: Some(id(13)),
            proposed_at: noon(),
        },
        WikiEvent::WikiEntryApproved { approved_by: id(1), approved_at: noon() },
        WikiEvent::WikiEntryRejected { rejected_by: id(1), reason: text("Not so"), rejected_at: noon() },
        WikiEvent::WikiEntrySuperseded { by_entry_id: id(15), superseded_at: noon() },
        WikiEvent::WikiViewsCounted { views: 7, last_viewed_at: noon() },
    ]
}
