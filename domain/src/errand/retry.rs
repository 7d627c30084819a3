//! Try an errand again later.

use chrono::{DateTime, Utc};

use super::{Errand, ErrandError, ErrandEvent};

/// Notes that an errand was tried in vain and when it is to be tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryErrand {
    /// What went wrong.
    pub error: String,
    /// When it is to be tried again.
    pub retry_at: DateTime<Utc>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(errand: &Errand, command: RetryErrand) -> Result<Vec<ErrandEvent>, ErrandError> {
    let attempt = errand.under_way()?.tries + 1;
    let RetryErrand { error, retry_at, now } = command;
    Ok(vec![ErrandEvent::ErrandTried { attempt, error, retry_at, tried_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{done, ordered, tried};
    use super::*;
    use crate::errand::ErrandCommand;
    use crate::examples::{at, given};

    #[test]
    fn tries_are_counted_while_the_errand_is_under_way() {
        let retry = || RetryErrand { error: "No network".to_owned(), retry_at: at(2), now: at(1) };
        given::<Errand>([ordered()]).when(ErrandCommand::Retry(retry())).then_expect_events(vec![tried(1)]);
        given::<Errand>([ordered(), tried(1)]).when(ErrandCommand::Retry(retry())).then_expect_events(vec![tried(2)]);
        given::<Errand>([ordered(), done()]).when(ErrandCommand::Retry(retry())).then_expect_error(ErrandError::Over);
    }
}
