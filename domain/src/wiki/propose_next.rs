//! Propose the next version of an entry.

use chrono::{DateTime, Utc};

use super::{Author, WikiEntry, WikiError, WikiEvent, propose};
use crate::WikiEntryId;
use crate::distinct::each_once;

/// Proposes the next version of an entry, as a stream of its own; what is not given stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposeNextVersion {
    /// The id it gets.
    pub entry_id: WikiEntryId,
    /// The version it is the next of.
    pub parent: WikiEntry,
    /// Who asks.
    pub by: Author,
    /// The title wanted.
    pub title: Option<String>,
    /// The content wanted.
    pub content: Option<String>,
    /// The tags wanted, all of them.
    pub tags: Option<Vec<String>>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: ProposeNextVersion) -> Result<Vec<WikiEvent>, WikiError> {
    propose::absent(entry)?;
    let parent = match command.parent {
        WikiEntry::Absent => return Err(WikiError::NotFound),
        WikiEntry::Approved(parent) => parent,
        WikiEntry::Pending(_) | WikiEntry::Superseded(_) | WikiEntry::Rejected(_) => {
            return Err(WikiError::NotCurrent);
        }
    };
    Ok(vec![WikiEvent::WikiEntryProposed {
        entry_id: command.entry_id,
        workspace_id: parent.workspace_id,
        project_id: parent.project_id,
        proposed_by: command.by,
        title: command.title.unwrap_or(parent.title),
        slug: parent.slug,
        content: command.content.unwrap_or(parent.content),
        tags: command.tags.map_or(parent.tags, each_once),
        version: parent.version + 1,
        parent_entry_id: Some(parent.entry_id),
        proposed_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, next_proposed, propose_next, proposed, rejected, slug_claim, superseded};
    use super::*;
    use crate::examples::{after, given};
    use crate::wiki::WikiCommand;
    use crate::{Demand, Entity};

    fn propose(history: Vec<WikiEvent>) -> WikiCommand {
        WikiCommand::ProposeNext(Box::new(ProposeNextVersion { parent: after(history), ..propose_next() }))
    }

    #[test]
    fn the_next_version_has_the_same_slug_and_keeps_what_is_not_given() {
        given::<WikiEntry>([]).when(propose(vec![proposed(), approved()])).then_expect_events(vec![next_proposed()]);
    }

    #[test]
    fn only_the_current_version_has_a_next() {
        for parent in [vec![proposed()], vec![proposed(), rejected()], vec![proposed(), approved(), superseded()]] {
            given::<WikiEntry>([]).when(propose(parent)).then_expect_error(WikiError::NotCurrent);
        }
        given::<WikiEntry>([]).when(propose(vec![])).then_expect_error(WikiError::NotFound);
    }

    #[test]
    fn a_next_version_is_proposed_once() {
        given::<WikiEntry>([next_proposed()])
            .when(propose(vec![proposed(), approved()]))
            .then_expect_error(WikiError::AlreadyExists);
    }

    #[test]
    fn the_version_before_must_still_be_the_current_one_at_the_append() {
        let holder = ("wiki", uuid::Uuid::from_u128(70));
        let held = Demand::Held { claim: slug_claim(), holder, or: WikiError::NotCurrent };
        assert_eq!(WikiEntry::Absent.demands(&next_proposed()), [held]);
    }
}
