//! Approve an entry.

use chrono::{DateTime, Utc};

use super::{WikiEntry, WikiError, WikiEvent};
use crate::UserId;

/// Makes a version the current one.
///
/// The one before, if there is one, is superseded in the same commit: it has the slug until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproveEntry {
    /// Who decides.
    pub by: UserId,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: ApproveEntry) -> Result<Vec<WikiEvent>, WikiError> {
    entry.pending()?;
    Ok(vec![WikiEvent::WikiEntryApproved { approved_by: command.by, approved_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, next_proposed, proposed, rejected, slug_claim, superseded};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::wiki::{WikiCommand, WikiEntryStatus};
    use crate::{Demand, Entity};

    fn approve() -> WikiCommand {
        WikiCommand::Approve(ApproveEntry { by: id(1), now: at(1) })
    }

    #[test]
    fn an_approved_entry_is_approved_even_when_a_next_one_came() {
        given::<WikiEntry>([proposed()]).when(approve()).then_expect_events(vec![approved()]);
        for history in [vec![proposed(), approved()], vec![proposed(), approved(), superseded()]] {
            assert_eq!(after::<WikiEntry>(history).status(), Ok(WikiEntryStatus::Approved));
        }
    }

    #[test]
    fn what_is_decided_stays_decided() {
        for (history, refusal) in [
            (vec![], WikiError::NotFound),
            (vec![proposed(), approved()], WikiError::AlreadyApproved),
            (vec![proposed(), approved(), superseded()], WikiError::AlreadyApproved),
            (vec![proposed(), rejected()], WikiError::AlreadyRejected),
        ] {
            given::<WikiEntry>(history).when(approve()).then_expect_error(refusal);
        }
    }

    #[test]
    fn a_first_version_has_its_slug_and_a_next_one_takes_it() {
        assert_eq!(after::<WikiEntry>([proposed()]).demands(&approved()), []);
        let take = Demand::Take { claim: slug_claim(), or: WikiError::NotCurrent };
        assert_eq!(after::<WikiEntry>([next_proposed()]).demands(&approved()), [take]);
    }
}
