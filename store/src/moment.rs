//! Moments of the log: a position, or a time that stands for the last position recorded by then.

use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::sql::Query;
use crate::{EventLog, StoreError, from_micros};

/// A moment that somebody asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Right after the event at this position.
    Position(i64),
    /// When everything recorded up to this time was there, in microseconds since 1970.
    Time(i64),
}

/// Why a moment is none of this log's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MomentError {
    /// It is written in no form that is known.
    #[error("\"{0}\" is neither a position nor a time like 2026-03-01T09:30:00Z")]
    NotAMoment(String),
    /// Positions begin at 1.
    #[error("there is no position {0}: the first is 1")]
    NoSuchPosition(i64),
    /// The log does not reach that far.
    #[error("position {position} is beyond the end of the log, which is at {head}")]
    BeyondTheHead {
        /// What was asked for.
        position: i64,
        /// The newest position.
        head: i64,
    },
    /// Nothing was recorded by then.
    #[error("{} is before the first event of the log{}", written(*.time), since(*.first))]
    BeforeTheLog {
        /// What was asked for.
        time: i64,
        /// When the first event was recorded, if there is any.
        first: Option<i64>,
    },
    /// It has not come yet.
    #[error("{} has not come yet", written(*.0))]
    InTheFuture(i64),
    /// The log cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        if let Ok(position) = text.parse() {
            return if position < 1 {
                Err(MomentError::NoSuchPosition(position))
            } else {
                Ok(Self::Position(position))
            };
        }
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| MomentError::NotAMoment(text.to_owned()))?;
        Ok(Self::Time(time.timestamp_micros()))
    }
}

impl From<DateTime<Utc>> for Moment {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Time(time.timestamp_micros())
    }
}

impl EventLog {
    /// The last position that belongs to a moment.
    pub async fn position_at(&self, moment: &Moment) -> Result<i64, MomentError> {
        let head = self.head().await?;
        match *moment {
            Moment::Position(position) if position < 1 => Err(MomentError::NoSuchPosition(position)),
            Moment::Position(position) if position > head.position => {
                Err(MomentError::BeyondTheHead { position, head: head.position })
            }
            Moment::Position(position) => Ok(position),
            Moment::Time(time) if time > self.clock().now_micros().max(head.recorded_at) => {
                Err(MomentError::InTheFuture(time))
            }
            Moment::Time(time) => match self.last_recorded_by(time, head.position).await? {
                0 => {
                    Err(MomentError::BeforeTheLog { time, first: self.batch_around(1).await?.map(|it| it.recorded_at) })
                }
                position => Ok(position),
            },
        }
    }

    /// Halves the log until it has the batch: times never decrease along it, so no index is needed.
    async fn last_recorded_by(&self, time: i64, head: i64) -> Result<i64, StoreError> {
        let (mut by_then, mut later) = (0, head + 1);
        while by_then + 1 < later {
            let middle = by_then + (later - by_then) / 2;
            let around = self.batch_around(middle).await?;
            let batch = around.ok_or_else(|| StoreError::Damaged(format!("no batch holds position {middle}")))?;
            if batch.recorded_at <= time {
                by_then = batch.last.max(middle);
            } else {
                later = batch.first.min(middle);
            }
        }
        Ok(by_then)
    }

    async fn batch_around(&self, position: i64) -> Result<Option<Recorded>, StoreError> {
        let query = Query::new(
            "select first_position, events, recorded_at from batches
             where first_position <= $1
             order by first_position desc limit 1",
        );
        let row = self.database.first(query.bind(position)).await?;
        let recorded = |row: crate::sql::Row| {
            let first = row.int(0)?;
            Ok(Recorded { first, last: first + row.int(1)? - 1, recorded_at: row.int(2)? })
        };
        row.map(recorded).transpose()
    }
}

/// The positions that were recorded at one time.
struct Recorded {
    first: i64,
    last: i64,
    recorded_at: i64,
}

fn written(micros: i64) -> String {
    from_micros(micros).to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}

fn since(first: Option<i64>) -> String {
    first.map_or_else(|| ", which is empty".to_owned(), |it| format!(", recorded at {}", written(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_position_or_a_time() {
        assert_eq!("17".parse(), Ok(Moment::Position(17)));
        assert_eq!("1970-01-01T00:00:01+00:00".parse(), Ok(Moment::Time(1_000_000)));
        assert_eq!("1970-01-01T01:00:01+01:00".parse(), Ok(Moment::Time(1_000_000)));
        assert_eq!("0".parse::<Moment>(), Err(MomentError::NoSuchPosition(0)));
        for text in ["", "yesterday", "2026-03-01", "-", "1.5"] {
            assert_eq!(text.parse::<Moment>(), Err(MomentError::NotAMoment(text.into())));
        }
    }
}
