//! Relieve an agent of its post.

use chrono::{DateTime, Utc};

use super::{Post, PostError, PostEvent, PostState};
use crate::AgentId;

/// Takes an agent's post from it, for a successor or for nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelieveAgent {
    /// Why.
    pub reason: String,
    /// Who is to sit there.
    pub successor: Option<AgentId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(post: &Post, command: RelieveAgent) -> Result<Vec<PostEvent>, PostError> {
    let RelieveAgent { reason, successor, now } = command;
    match post.live()?.state {
        PostState::InProgress => Ok(vec![PostEvent::AgentRelieved { reason, successor, relieved_at: now }]),
        PostState::Done | PostState::Failed => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{posted, relieved};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::post::{AgentKind, PostCommand, seat_claim};
    use crate::{Demand, Entity};

    #[test]
    fn who_is_relieved_loses_its_seat_and_does_nothing_more() {
        let relieve = || PostCommand::Relieve(RelieveAgent { reason: "Dead".to_owned(), successor: None, now: at(6) });
        given::<Post>([posted()]).when(relieve()).then_expect_events(vec![relieved()]);
        given::<Post>([posted(), relieved()]).when(relieve()).then_expect_events(vec![]);
        let release = Demand::Release(seat_claim(AgentKind::Worker, id(60)));
        assert_eq!(after::<Post>([posted()]).demands(&relieved()), [release]);
        let gone: Post = after([posted(), relieved()]);
        assert_eq!(gone.held().err(), Some(PostError::Relieved { successor: None }));
    }
}
