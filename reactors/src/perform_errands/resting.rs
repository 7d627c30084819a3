//! Errands of which nothing could be recorded: our own store or code is at fault, and each rests before its next try.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::ErrandId;
use tokio::time::Instant;

const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Who rests, and until when. Kept in memory, because it is what could not be written down.
#[derive(Debug, Default)]
pub(super) struct Resting(HashMap<ErrandId, Rest>);

#[derive(Debug)]
struct Rest {
    next: Duration,
    until: Instant,
}

impl Resting {
    /// Lets an errand rest, twice as long as the last time.
    pub(super) fn begin(&mut self, errand: ErrandId, now: Instant) {
        let rest = self.0.entry(errand).or_insert(Rest { next: FIRST_REST, until: now });
        rest.until = now + rest.next;
        rest.next = (rest.next * 2).min(LONGEST_REST);
    }

    /// How long an errand has still to rest.
    pub(super) fn left(&self, errand: ErrandId, now: Instant) -> Option<Duration> {
        self.0.get(&errand).map(|it| it.until.saturating_duration_since(now)).filter(|it| !it.is_zero())
    }

    /// Forgets an errand that got further.
    pub(super) fn end(&mut self, errand: ErrandId) {
        self.0.remove(&errand);
    }

    /// Forgets all that are over.
    pub(super) fn keep(&mut self, open: &HashSet<ErrandId>) {
        self.0.retain(|errand, _| open.contains(errand));
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_rest_is_twice_as_long_up_to_a_minute_until_the_errand_gets_further() {
        let (errand, now, mut resting) = (ErrandId(Uuid::from_u128(1)), Instant::now(), Resting::default());
        assert_eq!(resting.left(errand, now), None);
        let rests: Vec<u64> = (0..8)
            .map(|_| {
                resting.begin(errand, now);
                resting.left(errand, now).map_or(0, |it| it.as_secs())
            })
            .collect();
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(resting.left(errand, now + Duration::from_secs(60)), None);
        resting.end(errand);
        resting.begin(errand, now);
        assert_eq!(resting.left(errand, now), Some(FIRST_REST));
        resting.keep(&HashSet::new());
        assert_eq!(resting.left(errand, now), None);
    }
}
