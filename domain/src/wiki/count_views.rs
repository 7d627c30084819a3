//! Count how often an entry was read, many views at a time.

use chrono::{DateTime, Utc};

use super::{WikiEntry, WikiError, WikiEvent};

/// Adds views that were counted elsewhere; two batches of the same size are two facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountViews {
    /// How many more views.
    pub views: u64,
    /// When the last of them was.
    pub last_viewed_at: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: CountViews) -> Result<Vec<WikiEvent>, WikiError> {
    entry.version()?;
    let CountViews { views, last_viewed_at } = command;
    if views == 0 {
        return Ok(vec![]);
    }
    Ok(vec![WikiEvent::WikiViewsCounted { views, last_viewed_at }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, proposed};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::wiki::WikiCommand;

    fn count(views: u64) -> WikiCommand {
        WikiCommand::CountViews(CountViews { views, last_viewed_at: at(5) })
    }

    fn counted() -> WikiEvent {
        WikiEvent::WikiViewsCounted { views: 7, last_viewed_at: at(5) }
    }

    #[test]
    fn views_of_any_version_count() {
        for history in [vec![proposed()], vec![proposed(), approved()], vec![proposed(), approved(), counted()]] {
            given::<WikiEntry>(history).when(count(7)).then_expect_events(vec![counted()]);
        }
    }

    #[test]
    fn no_views_are_no_fact() {
        given::<WikiEntry>([proposed()]).when(count(0)).then_expect_events(vec![]);
    }

    #[test]
    fn nothing_is_read_that_does_not_exist() {
        given::<WikiEntry>([]).when(count(7)).then_expect_error(WikiError::NotFound);
    }

    #[test]
    fn no_decision_depends_on_views() {
        let unread: WikiEntry = after([proposed(), approved()]);
        assert_eq!(after::<WikiEntry>([proposed(), approved(), counted()]), unread);
    }
}
