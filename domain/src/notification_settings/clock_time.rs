//! A time of day, to the minute: `22:00`.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClockTime {
    minutes: u16,
}

/// A text that is no time of day.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no time of day like 22:00")]
pub struct NotAClockTime(pub String);

impl ClockTime {
    /// Reads `HH:MM`.
    pub fn parse(text: &str) -> Result<Self, NotAClockTime> {
        let refused = || NotAClockTime(text.to_owned());
        let two = |part: &str| part.parse::<u16>().ok().filter(|_| part.len() == 2 && !part.starts_with('+'));
        let (hours, minutes) = text.split_once(':').ok_or_else(refused)?;
        match (two(hours), two(minutes)) {
            (Some(hours @ 0..24), Some(minutes @ 0..60)) => Ok(Self { minutes: hours * 60 + minutes }),
            _ => Err(refused()),
        }
    }

    /// Minutes since midnight.
    pub fn minutes(self) -> u16 {
        self.minutes
    }
}

impl TryFrom<String> for ClockTime {
    type Error = NotAClockTime;

    fn try_from(text: String) -> Result<Self, NotAClockTime> {
        Self::parse(&text)
    }
}

impl From<ClockTime> for String {
    fn from(time: ClockTime) -> Self {
        time.to_string()
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_reads_as_it_is_written() {
        for text in ["00:00", "08:05", "23:59"] {
            assert_eq!(ClockTime::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_time_of_day_is_refused() {
        for text in ["24:00", "12:60", "8:00", "0800", "", "+8:00", "08:00:00", "aa:bb"] {
            assert_eq!(ClockTime::parse(text), Err(NotAClockTime(text.to_owned())));
        }
    }
}
