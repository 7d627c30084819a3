//! Who waits for a turn: one reaction at a time of each lane, in order, and the lanes by turns.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};

use uuid::Uuid;

/// Positions of the log that wait for their reaction, or have it under way. They are no more than numbers, so that a
/// lane may fall behind by any number of them.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// What waits in each lane; a lane is gone once nothing of it waits or is under way.
    waiting: HashMap<Uuid, VecDeque<i64>>,
    /// The lanes in which something waits and nothing is under way.
    turns: VecDeque<Uuid>,
    /// All of it, also what is under way.
    open: BTreeSet<i64>,
}

impl Lanes {
    /// Queues up in a lane, behind whatever is there.
    pub(super) fn queue(&mut self, lane: Uuid, position: i64) {
        self.open.insert(position);
        match self.waiting.entry(lane) {
            Entry::Occupied(mut queue) => queue.get_mut().push_back(position),
            Entry::Vacant(free) => {
                free.insert(VecDeque::from([position]));
                self.turns.push_back(lane);
            }
        }
    }

    /// Whose turn it is; none while every lane that waits has something under way.
    pub(super) fn begin(&mut self) -> Option<(Uuid, i64)> {
        let lane = self.turns.pop_front()?;
        let position = self.waiting.get_mut(&lane)?.pop_front()?;
        Some((lane, position))
    }

    /// What was under way is done; the lane waits for its next turn behind the others.
    pub(super) fn end(&mut self, lane: Uuid, position: i64) {
        self.open.remove(&position);
        match self.waiting.get(&lane) {
            Some(queue) if queue.is_empty() => drop(self.waiting.remove(&lane)),
            Some(_) => self.turns.push_back(lane),
            None => {}
        }
    }

    /// The first position that is not done.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.open.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: Uuid = Uuid::from_u128(1);
    const BOB: Uuid = Uuid::from_u128(2);

    fn queued(these: &[(Uuid, i64)]) -> Lanes {
        let mut lanes = Lanes::default();
        these.iter().for_each(|(lane, position)| lanes.queue(*lane, *position));
        lanes
    }

    #[test]
    fn a_lane_has_one_under_way_at_a_time_and_in_order() {
        let mut lanes = queued(&[(ADA, 1), (ADA, 2)]);
        assert_eq!((lanes.begin(), lanes.begin()), (Some((ADA, 1)), None));
        lanes.queue(ADA, 3);
        assert_eq!(lanes.begin(), None);
        lanes.end(ADA, 1);
        assert_eq!((lanes.begin(), lanes.begin()), (Some((ADA, 2)), None));
    }

    #[test]
    fn who_has_much_to_do_takes_turns_with_the_others() {
        let mut lanes = queued(&[(ADA, 1), (ADA, 2), (ADA, 3), (BOB, 4), (BOB, 5)]);
        assert_eq!((lanes.begin(), lanes.begin(), lanes.begin()), (Some((ADA, 1)), Some((BOB, 4)), None));
        lanes.end(BOB, 4);
        lanes.end(ADA, 1);
        assert_eq!((lanes.begin(), lanes.begin()), (Some((BOB, 5)), Some((ADA, 2))));
    }

    #[test]
    fn nothing_is_done_before_the_oldest_is() {
        let mut lanes = queued(&[(ADA, 1), (BOB, 2), (BOB, 3)]);
        while let Some((lane, position)) = lanes.begin() {
            if lane == BOB {
                lanes.end(lane, position);
            }
        }
        assert_eq!(lanes.oldest(), Some(1));
        lanes.end(ADA, 1);
        assert_eq!((lanes.oldest(), lanes.begin()), (None, None));
        assert!(lanes.waiting.is_empty());
    }
}
