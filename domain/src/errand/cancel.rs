//! Call an errand off.

use chrono::{DateTime, Utc};

use super::{Errand, ErrandError, ErrandEvent};

/// Ends an errand that nobody wants any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelErrand {
    /// Why.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(errand: &Errand, command: CancelErrand) -> Result<Vec<ErrandEvent>, ErrandError> {
    if errand.live()?.end.is_some() {
        return Ok(vec![]);
    }
    Ok(vec![ErrandEvent::ErrandCancelled { reason: command.reason, cancelled_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{cancelled, done, ordered};
    use super::*;
    use crate::errand::ErrandCommand;
    use crate::examples::{at, given};

    #[test]
    fn only_what_is_under_way_is_called_off() {
        let cancel = || ErrandCommand::Cancel(CancelErrand { reason: "Its worker died".to_owned(), now: at(5) });
        given::<Errand>([ordered()]).when(cancel()).then_expect_events(vec![cancelled()]);
        given::<Errand>([ordered(), done()]).when(cancel()).then_expect_events(vec![]);
    }
}
