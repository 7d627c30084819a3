//! Discharge an agent whose work is over.

use chrono::{DateTime, Utc};

use super::{Post, PostError, PostEvent, PostState, WorkEnd};

/// Ends an agent's work in the factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DischargeAgent {
    /// How it ended.
    pub result: WorkEnd,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(post: &Post, command: DischargeAgent) -> Result<Vec<PostEvent>, PostError> {
    match post.live()?.state {
        PostState::InProgress => {
            Ok(vec![PostEvent::AgentDischarged { result: command.result, discharged_at: command.now }])
        }
        PostState::Done | PostState::Failed => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{discharged, posted};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::post::{AgentKind, PostCommand, seat_claim};
    use crate::{Demand, Entity};

    #[test]
    fn whose_work_is_over_leaves_its_seat_once() {
        let discharge = || PostCommand::Discharge(DischargeAgent { result: WorkEnd::Success, now: at(6) });
        given::<Post>([posted()]).when(discharge()).then_expect_events(vec![discharged()]);
        given::<Post>([posted(), discharged()]).when(discharge()).then_expect_events(vec![]);
        let release = Demand::Release(seat_claim(AgentKind::Worker, id(60)));
        assert_eq!(after::<Post>([posted()]).demands(&discharged()), [release]);
        assert_eq!(after::<Post>([posted(), discharged()]).held().err(), Some(PostError::Discharged));
    }
}
