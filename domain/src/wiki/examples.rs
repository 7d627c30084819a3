//! Entries to test with: entry 70 of project 20's wiki is `locks`, and entry 71 is its next version.

use super::{Author, ProposeEntry, ProposeNextVersion, WikiEntry, WikiEvent};
use crate::agent::AgentLevel;
use crate::examples::{at, id, slug};
use crate::{Claim, Scope};

pub(super) fn propose() -> ProposeEntry {
    ProposeEntry {
        entry_id: id(70),
        workspace_id: id(10),
        project_id: Some(id(20)),
        by: Author::Agent(id(30)),
        level: Some(AgentLevel::Organization),
        title: "Locks".to_owned(),
        slug: slug("locks"),
        content: "Avoid them".to_owned(),
        tags: vec!["rust".to_owned()],
        now: at(0),
    }
}

pub(super) fn proposed() -> WikiEvent {
    let it = propose();
    WikiEvent::WikiEntryProposed {
        entry_id: it.entry_id,
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        proposed_by: it.by,
        title: it.title,
        slug: it.slug,
        content: it.content,
        tags: it.tags,
        version: 1,
        parent_entry_id: None,
        proposed_at: it.now,
    }
}

pub(super) fn propose_next() -> ProposeNextVersion {
    ProposeNextVersion {
        entry_id: id(71),
        parent: WikiEntry::Absent,
        by: Author::User(id(1)),
        title: None,
        content: Some("Avoid them well".to_owned()),
        tags: None,
        now: at(2),
    }
}

pub(super) fn next_proposed() -> WikiEvent {
    WikiEvent::WikiEntryProposed {
        entry_id: id(71),
        workspace_id: id(10),
        project_id: Some(id(20)),
        proposed_by: Author::User(id(1)),
        title: "Locks".to_owned(),
        slug: slug("locks"),
        content: "Avoid them well".to_owned(),
        tags: vec!["rust".to_owned()],
        version: 2,
        parent_entry_id: Some(id(70)),
        proposed_at: at(2),
    }
}

pub(super) fn approved() -> WikiEvent {
    WikiEvent::WikiEntryApproved { approved_by: id(1), approved_at: at(1) }
}

pub(super) fn rejected() -> WikiEvent {
    WikiEvent::WikiEntryRejected { rejected_by: id(1), reason: "Not so".to_owned(), rejected_at: at(2) }
}

pub(super) fn superseded() -> WikiEvent {
    WikiEvent::WikiEntrySuperseded { by_entry_id: id(71), superseded_at: at(3) }
}

pub(super) fn slug_claim() -> Claim {
    Scope::wiki_slugs(id(10), Some(id(20))).claim("locks")
}
