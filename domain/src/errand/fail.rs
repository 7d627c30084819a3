//! Give an errand up.

use chrono::{DateTime, Utc};

use super::{Errand, ErrandEnd, ErrandError, ErrandEvent};

/// Ends an errand that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailErrand {
    /// What went wrong.
    pub error: String,
    /// What else is known.
    pub details: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(errand: &Errand, command: FailErrand) -> Result<Vec<ErrandEvent>, ErrandError> {
    if let Some(ErrandEnd::Failed { .. }) = errand.live()?.end {
        return Ok(vec![]);
    }
    errand.under_way()?;
    let FailErrand { error, details, now } = command;
    Ok(vec![ErrandEvent::ErrandFailed { error, details, failed_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{cancelled, failed, ordered};
    use super::*;
    use crate::errand::ErrandCommand;
    use crate::examples::{at, given};

    #[test]
    fn an_errand_fails_once_and_only_while_it_is_wanted() {
        let fail = || ErrandCommand::Fail(FailErrand { error: "No repository".to_owned(), details: None, now: at(4) });
        given::<Errand>([ordered()]).when(fail()).then_expect_events(vec![failed()]);
        given::<Errand>([ordered(), failed()]).when(fail()).then_expect_events(vec![]);
        given::<Errand>([ordered(), cancelled()]).when(fail()).then_expect_error(ErrandError::Cancelled);
    }
}
