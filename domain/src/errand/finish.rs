//! Record that an errand was done.

use chrono::{DateTime, Utc};

use super::{Errand, ErrandEnd, ErrandError, ErrandEvent, WorkResult};

/// Ends an errand with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishErrand {
    /// What came of it.
    pub result: WorkResult,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(errand: &Errand, command: FinishErrand) -> Result<Vec<ErrandEvent>, ErrandError> {
    let FinishErrand { result, now } = command;
    let live = errand.live()?;
    if live.end.as_ref() == Some(&ErrandEnd::Done(result.clone())) {
        return Ok(vec![]);
    }
    let live = errand.under_way()?;
    if !live.work.can_end_in(&result) {
        return Err(ErrandError::WrongResult(live.work.name()));
    }
    Ok(vec![ErrandEvent::ErrandDone { result, done_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{cancelled, done, merged, ordered};
    use super::*;
    use crate::errand::{ErrandCommand, Work};
    use crate::examples::{after, at, given, id};
    use crate::{Demand, Entity};

    fn finish(result: WorkResult) -> ErrandCommand {
        ErrandCommand::Finish(FinishErrand { result, now: at(3) })
    }

    #[test]
    fn an_errand_is_done_once_and_makes_room_for_the_next() {
        given::<Errand>([ordered()]).when(finish(merged())).then_expect_events(vec![done()]);
        given::<Errand>([ordered(), done()]).when(finish(merged())).then_expect_events(vec![]);
        let other = WorkResult::Merged { merge_commit: "000".to_owned() };
        given::<Errand>([ordered(), done()]).when(finish(other)).then_expect_error(ErrandError::Over);
        assert_eq!(after::<Errand>([ordered()]).demands(&done()), [Demand::Release(Work::on_task(id(60)))]);
    }

    #[test]
    fn what_nobody_wants_any_more_has_no_result() {
        given::<Errand>([ordered(), cancelled()]).when(finish(merged())).then_expect_error(ErrandError::Cancelled);
    }

    #[test]
    fn a_result_fits_its_work() {
        given::<Errand>([ordered()])
            .when(finish(WorkResult::Stopped))
            .then_expect_error(ErrandError::WrongResult("merge"));
    }
}
