//! Who was let in a moment ago: spares the look-up of the same key or cookie for every request.
//!
//! **A key or a sign-in that ends is refused from the moment the command that ended it is acknowledged, and on other
//! nodes within [`KEPT`].** The log counts the batches of this node that changed rows beside it, before it acknowledges
//! them; what was looked up before the count moved is looked up anew.
//!
//! Only what let somebody in is kept, and under the hash of the key or cookie itself. So a wrong key is looked up every
//! time, and its refusal tells nobody whether the agent is known.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use store::EventLog;
use uuid::Uuid;

use super::identity::{AgentCaller, Owner};

/// How long another node may go on with what it looked up: half of the second that is promised.
const KEPT: Duration = Duration::from_millis(500);
/// How many are remembered, of agents and of people.
const MOST: usize = 10_000;

/// A keyed hash.
pub(crate) type Hash = [u8; 32];

/// Who was let in a moment ago, and how.
pub(crate) struct LetIn {
    agents: Cache<(Uuid, Hash), Kept<AgentCaller>>,
    owners: Cache<Hash, Kept<Owner>>,
}

/// What the rows beside the log were when something was looked up.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    changes: u64,
    at: Instant,
}

#[derive(Clone)]
struct Kept<T> {
    of: Moment,
    it: T,
}

impl Default for LetIn {
    fn default() -> Self {
        Self { agents: Cache::new(MOST), owners: Cache::new(MOST) }
    }
}

impl Moment {
    /// Now. To be taken before the look-up: a change that lands meanwhile makes it worthless.
    pub(crate) fn now(log: &EventLog) -> Self {
        Self { changes: log.row_changes(), at: Instant::now() }
    }

    fn is_still_good(self, now: Self) -> bool {
        self.changes == now.changes && now.at.duration_since(self.at) < KEPT
    }
}

impl LetIn {
    pub(super) fn agent(&self, id: Uuid, key: &Hash, now: Moment) -> Option<AgentCaller> {
        let kept = self.agents.get(&(id, *key))?;
        kept.of.is_still_good(now).then_some(kept.it)
    }

    pub(super) fn keep_agent(&self, key: &Hash, of: Moment, agent: &AgentCaller) {
        self.agents.insert((agent.agent_id.0, *key), Kept { of, it: agent.clone() });
    }

    pub(super) fn owner(&self, token: &Hash, now: Moment) -> Option<Owner> {
        let kept = self.owners.get(token)?;
        kept.of.is_still_good(now).then_some(kept.it)
    }

    pub(super) fn keep_owner(&self, token: &Hash, of: Moment, owner: &Owner) {
        self.owners.insert(*token, Kept { of, it: owner.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_up_is_good_until_rows_change_and_for_half_a_second() {
        let then = Moment { changes: 7, at: Instant::now() };
        assert!(then.is_still_good(then));
        assert!(!then.is_still_good(Moment { changes: 8, ..then }));
        assert!(!then.is_still_good(Moment { at: then.at + KEPT, ..then }));
    }
}
