//! The clock that stamps batches and commands: the real one, or one that tests and the demo set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Utc};

const REAL: i64 = i64::MIN;

/// Microseconds since 1970, from the machine or from whoever set it. Clones share one setting.
#[derive(Debug, Clone)]
pub struct Clock(Arc<AtomicI64>);

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(REAL)))
    }
}

impl Clock {
    /// A clock that shows `now` until it is set again.
    pub fn fixed(now: DateTime<Utc>) -> Self {
        Self(Arc::new(AtomicI64::new(now.timestamp_micros())))
    }

    /// Stops the clock at `now`.
    pub fn set(&self, now: DateTime<Utc>) {
        self.0.store(now.timestamp_micros(), Ordering::SeqCst);
    }

    /// Follows the machine's clock again.
    pub fn release(&self) {
        self.0.store(REAL, Ordering::SeqCst);
    }

    /// The time that was set, if any: a store whose database has a clock of its own uses that otherwise.
    pub fn fixed_micros(&self) -> Option<i64> {
        Some(self.0.load(Ordering::SeqCst)).filter(|micros| *micros != REAL)
    }

    /// Microseconds since 1970.
    pub fn now_micros(&self) -> i64 {
        self.fixed_micros().unwrap_or_else(|| Utc::now().timestamp_micros())
    }

    /// Now, in UTC with microseconds.
    pub fn now(&self) -> DateTime<Utc> {
        from_micros(self.now_micros())
    }
}

/// The time that a stored number of microseconds stands for.
pub fn from_micros(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(micros).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
