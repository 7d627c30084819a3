//! Order an errand.

use chrono::{DateTime, Utc};

use super::{Errand, ErrandError, ErrandEvent, Work};
use crate::{ErrandId, Slug, WorkspaceId};

/// Asks a bench to do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderErrand {
    /// The id it gets.
    pub errand_id: ErrandId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The bench that is to do it.
    pub bench: Slug,
    /// What is to be done.
    pub work: Work,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(errand: &Errand, command: OrderErrand) -> Result<Vec<ErrandEvent>, ErrandError> {
    match errand {
        Errand::Absent => {
            let OrderErrand { errand_id, workspace_id, bench, work, now } = command;
            Ok(vec![ErrandEvent::ErrandOrdered { errand_id, workspace_id, bench, work, ordered_at: now }])
        }
        Errand::Live(_) => Err(ErrandError::AlreadyExists),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{order, ordered};
    use super::*;
    use crate::errand::ErrandCommand;
    use crate::examples::{after, given, id};
    use crate::{Demand, Entity};

    #[test]
    fn one_errand_at_a_time_is_under_way_for_a_task() {
        given::<Errand>([]).when(ErrandCommand::Order(order())).then_expect_events(vec![ordered()]);
        given::<Errand>([ordered()]).when(ErrandCommand::Order(order())).then_expect_error(ErrandError::AlreadyExists);
        let take = Demand::Take { claim: Work::on_task(id(60)), or: ErrandError::Underway("merge") };
        assert_eq!(Errand::Absent.demands(&ordered()), [take]);
        assert_eq!(after::<Errand>([ordered()]).workspace(), Some(id(10)));
    }
}
