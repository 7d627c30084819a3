//! Minutes: how long things take, in whole minutes.

use chrono::{DateTime, Utc};

/// The whole minutes between two moments, rounded; none when the clock ran backwards.
pub(crate) fn minutes_between(from: DateTime<Utc>, to: DateTime<Utc>) -> i64 {
    let milliseconds = (to - from).num_milliseconds().max(0);
    (milliseconds + 30_000) / 60_000
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn half_a_minute_counts_as_one_and_less_as_none() {
        let start = DateTime::UNIX_EPOCH;
        for (seconds, minutes) in [(0, 0), (29, 0), (30, 1), (89, 1), (90, 2), (3600, 60), (-300, 0)] {
            assert_eq!(minutes_between(start, start + TimeDelta::seconds(seconds)), minutes, "{seconds} s");
        }
    }
}
