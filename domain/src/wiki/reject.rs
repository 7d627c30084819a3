//! Reject an entry.

use chrono::{DateTime, Utc};

use super::{WikiEntry, WikiError, WikiEvent};
use crate::UserId;

/// Turns a version down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectEntry {
    /// Who decides.
    pub by: UserId,
    /// Why.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: RejectEntry) -> Result<Vec<WikiEvent>, WikiError> {
    entry.pending()?;
    let RejectEntry { by: rejected_by, reason, now: rejected_at } = command;
    Ok(vec![WikiEvent::WikiEntryRejected { rejected_by, reason, rejected_at }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, next_proposed, proposed, rejected, slug_claim};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::wiki::{WikiCommand, WikiEntryStatus};
    use crate::{Demand, Entity};

    fn reject() -> WikiCommand {
        WikiCommand::Reject(RejectEntry { by: id(1), reason: "Not so".to_owned(), now: at(2) })
    }

    #[test]
    fn an_entry_can_be_rejected() {
        given::<WikiEntry>([proposed()]).when(reject()).then_expect_events(vec![rejected()]);
        assert_eq!(after::<WikiEntry>([proposed(), rejected()]).status(), Ok(WikiEntryStatus::Rejected));
    }

    #[test]
    fn what_is_decided_stays_decided() {
        for (history, refusal) in [
            (vec![], WikiError::NotFound),
            (vec![proposed(), approved()], WikiError::AlreadyApproved),
            (vec![proposed(), rejected()], WikiError::AlreadyRejected),
        ] {
            given::<WikiEntry>(history).when(reject()).then_expect_error(refusal);
        }
    }

    #[test]
    fn a_rejected_first_version_frees_the_slug_and_a_next_one_never_had_it() {
        assert_eq!(after::<WikiEntry>([proposed()]).demands(&rejected()), [Demand::Release(slug_claim())]);
        assert_eq!(after::<WikiEntry>([next_proposed()]).demands(&rejected()), []);
    }
}
