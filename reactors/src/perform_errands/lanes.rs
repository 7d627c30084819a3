//! Which errands can begin: in order where they are about the same, side by side where not, up to a bound.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use domain::ErrandId;
use uuid::Uuid;

/// An open errand, in the order of ordering.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) errand: ErrandId,
    pub(super) lane: Uuid,
    /// When it may be tried again, if that is not yet.
    pub(super) until: Option<DateTime<Utc>>,
    /// Whether those of other lanes come first where there is no room for all.
    pub(super) gives_way: bool,
}

/// What to do now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) begin: Vec<ErrandId>,
    /// When there is more to do though nothing happens.
    pub(super) next: Option<DateTime<Utc>>,
}

/// Chooses the first of each lane that nobody is busy with.
pub(super) fn choose(open: &[Waiting], busy: &HashSet<Uuid>, room: usize) -> Choice {
    let mut seen = busy.clone();
    let (mut begin, mut next) = (Vec::new(), None::<DateTime<Utc>>);
    for it in open {
        if !seen.insert(it.lane) {
            continue;
        }
        match it.until {
            Some(until) => next = Some(next.map_or(until, |earlier| earlier.min(until))),
            None => begin.push(it),
        }
    }
    begin.sort_by_key(|it| it.gives_way);
    Choice { begin: begin.into_iter().take(room).map(|it| it.errand).collect(), next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(errand: u128, lane: u128) -> Waiting {
        Waiting {
            errand: ErrandId(Uuid::from_u128(errand)),
            lane: Uuid::from_u128(lane),
            until: None,
            gives_way: false,
        }
    }

    fn begun(open: &[Waiting], busy: &[u128], room: usize) -> Vec<u128> {
        let busy = busy.iter().copied().map(Uuid::from_u128).collect();
        choose(open, &busy, room).begin.into_iter().map(|it| it.0.as_u128()).collect()
    }

    #[test]
    fn a_lane_is_done_in_order_and_lanes_side_by_side() {
        let open = [waiting(1, 10), waiting(2, 10), waiting(3, 20)];
        assert_eq!(begun(&open, &[], 8), [1, 3]);
        assert_eq!(begun(&open, &[10], 8), [3]);
        assert_eq!(begun(&open, &[], 1), [1]);
    }

    #[test]
    fn who_gives_way_lets_other_lanes_go_first_and_never_its_own() {
        let gives_way = |it: Waiting| Waiting { gives_way: true, ..it };
        let open = [gives_way(waiting(1, 10)), gives_way(waiting(2, 20)), waiting(3, 20), waiting(4, 30)];
        assert_eq!(begun(&open, &[], 1), [4]);
        assert_eq!(begun(&open, &[], 2), [4, 1]);
        assert_eq!(begun(&open, &[], 8), [4, 1, 2]);
    }

    #[test]
    fn what_waits_for_its_next_try_holds_up_its_own_lane_alone() {
        let later = DateTime::<Utc>::UNIX_EPOCH;
        let open = [Waiting { until: Some(later), ..waiting(1, 10) }, waiting(2, 10), waiting(3, 20)];
        assert_eq!(begun(&open, &[], 8), [3]);
        assert_eq!(choose(&open, &HashSet::new(), 8).next, Some(later));
    }
}
