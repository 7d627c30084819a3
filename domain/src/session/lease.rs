//! The lease: while an agent holds its active session, commands under that session count; after it, none does.

use cqrs_es::Aggregate;

use super::Session;
use crate::{AgentId, Claim, Demand, Scope, SessionId};

/// The one claim that an agent's active session holds.
pub fn active_session(agent: AgentId) -> Claim {
    Scope::active_session(agent).claim("active")
}

/// Demands that the session is still the agent's active one when the event is appended.
///
/// Other aggregates make this demand for events that carry a session id, so that an agent whose session
/// ended meanwhile changes nothing.
pub fn lease<E>(agent: AgentId, session: SessionId, or: E) -> Demand<E> {
    Demand::Held { claim: active_session(agent), holder: (Session::TYPE, session.0), or }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{started, stopped};
    use super::*;
    use crate::Entity;
    use crate::examples::{after, id};
    use crate::session::SessionError;

    #[test]
    fn the_lease_is_the_claim_that_a_start_takes_and_a_stop_gives_back() {
        let Demand::Held { claim, holder, or: () } = lease(id(30), id(50), ()) else { panic!("not a lease") };
        assert_eq!(holder, ("session", uuid::Uuid::from_u128(50)));
        let take = Demand::Take { claim: claim.clone(), or: SessionError::AgentHasActiveSession };
        assert_eq!(Session::Absent.demands(&started()), [take]);
        assert_eq!(after::<Session>([started()]).demands(&stopped()), [Demand::Release(claim)]);
    }
}
