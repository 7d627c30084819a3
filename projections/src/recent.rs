//! The newest stretch of the log, read and decoded once for everybody on this node who follows it.
//!
//! Read models and reactors all go through the same events at nearly the same time. Whoever is furthest reads on from
//! the log, and the others find it here; who has fallen behind reads for itself.

use std::collections::VecDeque;
use std::sync::Arc;

use store::{EventLog, Page, StoreError, StoredEvent};
use tokio::sync::Mutex;

use crate::fold::{Decoded, place};
use crate::{Fact, Poison, Reads};

/// Events, and bytes of them, that are kept.
const MOST: usize = 5_000;
const MOST_BYTES: usize = 8 << 20;

/// An event as it was read, or why it could not be.
pub type Told = Arc<Result<Fact, Poison>>;

/// The newest events that anybody has read.
#[derive(Debug)]
pub struct Recent {
    log: Arc<EventLog>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// One after the other without a hole, each with its bytes.
    events: VecDeque<(Told, usize)>,
    bytes: usize,
    /// The position of the last one.
    last: i64,
}

impl Recent {
    pub(crate) fn new(log: Arc<EventLog>) -> Self {
        Self { log, kept: Mutex::default() }
    }

    /// Events after a position, oldest first; none when there are no more.
    pub async fn after(&self, position: i64, limit: usize) -> Result<Vec<Told>, StoreError> {
        let page = self.page(position, limit, Reads::Everything).await?;
        Ok(page.map(Decoded::into_told).unwrap_or_default())
    }

    /// The next stretch of the log, with at least what is to be read of it; `None` when there is no more.
    pub(crate) async fn page(&self, after: i64, limit: usize, reads: Reads) -> Result<Option<Decoded>, StoreError> {
        let mut kept = self.kept.lock().await;
        if after >= kept.last {
            // The lock is held meanwhile: those who come to the same place wait, and need not read it again.
            let page = self.log.read_page(after, limit, None).await?;
            return Ok(kept.add(after, page));
        }
        if let Some(found) = kept.after(after, limit, reads) {
            return Ok(Some(found));
        }
        drop(kept);
        Ok(Decoded::of(self.log.read_page(after, limit, reads.kinds()).await?))
    }
}

impl Kept {
    /// Keeps what was read after a position, and forgets what is old.
    fn add(&mut self, after: i64, page: Page) -> Option<Decoded> {
        let last = page.last?;
        // Text whose key may be destroyed is asked for again by everyone who wants it.
        let is_sealed = page.events.iter().any(StoredEvent::is_sealed);
        if after > self.last || is_sealed {
            *self = Self::default();
        }
        let sizes: Vec<usize> = page.events.iter().map(|it| it.payload.len() + it.metadata.len()).collect();
        let decoded = Decoded::of(page)?;
        if !is_sealed {
            self.bytes += sizes.iter().sum::<usize>();
            self.events.extend(decoded.told().iter().cloned().zip(sizes));
            self.last = last;
            while self.events.len() > MOST || self.bytes > MOST_BYTES {
                let Some((_, bytes)) = self.events.pop_front() else { break };
                self.bytes -= bytes;
            }
        }
        Some(decoded)
    }

    /// What comes after a position, if nothing of it is missing here.
    fn after(&self, position: i64, limit: usize, reads: Reads) -> Option<Decoded> {
        let before_all = self.last - self.events.len() as i64;
        let skipped = usize::try_from(position - before_all).ok().filter(|it| *it < self.events.len())?;
        let upto = self.events.len().min(skipped.saturating_add(limit));
        let stretch = self.events.range(skipped..upto).map(|(told, _)| told);
        let last = before_all + upto as i64;
        let wanted = stretch.filter(|it| reads.includes(&place(it).1.aggregate_type));
        Some(Decoded::from_told(wanted.cloned().collect(), last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::stored;

    fn page(positions: std::ops::RangeInclusive<i64>) -> Page {
        let last = Some(*positions.end());
        Page { events: positions.map(|it| stored(it, 1, "a")).collect(), last }
    }

    fn positions(decoded: Option<Decoded>) -> Option<(Vec<i64>, i64)> {
        decoded.map(|it| (it.told().iter().map(|told| place(told).0).collect(), it.last()))
    }

    #[test]
    fn who_is_a_little_behind_finds_what_others_have_read() {
        let mut kept = Kept::default();
        kept.add(10, page(11..=13));
        kept.add(13, page(14..=14));
        let all = Reads::Everything;
        assert_eq!(positions(kept.after(10, 9, all)), Some((vec![11, 12, 13, 14], 14)));
        assert_eq!(positions(kept.after(12, 1, all)), Some((vec![13], 13)));
        assert_eq!(positions(kept.after(9, 9, all)), None, "what came before is not here");
    }

    #[test]
    fn what_is_not_wanted_is_passed_by() {
        let mut kept = Kept::default();
        kept.add(0, page(1..=3));
        assert_eq!(positions(kept.after(1, 9, Reads::Only(&["agent"]))), Some((vec![], 3)));
        assert_eq!(positions(kept.after(1, 9, Reads::Only(&["workspace"]))), Some((vec![2, 3], 3)));
    }

    #[test]
    fn a_hole_is_never_hidden() {
        let mut kept = Kept::default();
        kept.add(0, page(1..=3));
        kept.add(7, page(8..=9));
        assert_eq!(positions(kept.after(2, 9, Reads::Everything)), None);
        assert_eq!(positions(kept.after(7, 9, Reads::Everything)), Some((vec![8, 9], 9)));
    }

    #[test]
    fn only_so_much_is_kept() {
        let mut kept = Kept::default();
        kept.add(0, page(1..=MOST as i64 + 5));
        assert_eq!((kept.events.len(), kept.last), (MOST, MOST as i64 + 5));
        assert!(kept.after(4, 1, Reads::Everything).is_none() && kept.after(5, 1, Reads::Everything).is_some());
        assert_eq!(kept.bytes, kept.events.iter().map(|(_, bytes)| bytes).sum::<usize>());
    }

    #[test]
    fn text_under_a_key_is_not_kept() {
        let mut kept = Kept::default();
        kept.add(0, page(1..=2));
        let mut sealed = page(3..=4);
        sealed.events[1].metadata = format!(r#"{{"sealed":"{}","actor_type":"user"}}"#, crate::examples::id(9));
        assert!(kept.add(2, sealed).is_some());
        assert!(kept.events.is_empty() && kept.after(1, 9, Reads::Everything).is_none());
    }
}
