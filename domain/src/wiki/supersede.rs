//! Supersede an entry, in the commit that approves its next version.

use chrono::{DateTime, Utc};

use super::{WikiEntry, WikiError, WikiEvent};
use crate::WikiEntryId;

/// Makes a version give way to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupersedeEntry {
    /// The version that is being approved.
    pub by_entry_id: WikiEntryId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: SupersedeEntry) -> Result<Vec<WikiEvent>, WikiError> {
    match entry {
        WikiEntry::Absent => Err(WikiError::NotFound),
        WikiEntry::Approved(_) => {
            Ok(vec![WikiEvent::WikiEntrySuperseded { by_entry_id: command.by_entry_id, superseded_at: command.now }])
        }
        // Another next version was approved first, so this one is not the next any more.
        WikiEntry::Superseded(_) | WikiEntry::Pending(_) | WikiEntry::Rejected(_) => Err(WikiError::NotCurrent),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, proposed, rejected, slug_claim, superseded};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::wiki::WikiCommand;
    use crate::{Demand, Entity};

    fn supersede() -> WikiCommand {
        WikiCommand::Supersede(SupersedeEntry { by_entry_id: id(71), now: at(3) })
    }

    #[test]
    fn the_current_version_gives_way() {
        given::<WikiEntry>([proposed(), approved()]).when(supersede()).then_expect_events(vec![superseded()]);
    }

    #[test]
    fn only_the_current_version_gives_way_and_only_once() {
        for history in [vec![proposed()], vec![proposed(), rejected()], vec![proposed(), approved(), superseded()]] {
            given::<WikiEntry>(history).when(supersede()).then_expect_error(WikiError::NotCurrent);
        }
        given::<WikiEntry>([]).when(supersede()).then_expect_error(WikiError::NotFound);
    }

    #[test]
    fn with_its_place_it_gives_up_the_slug() {
        let current: WikiEntry = after([proposed(), approved()]);
        assert_eq!(current.demands(&superseded()), [Demand::Release(slug_claim())]);
    }
}
